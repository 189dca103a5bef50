/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.tls;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS of a process: one context for all its listeners and calls. Safe for use by several threads.
 *
 * <p>Files are looked at during handshakes, at most every {@value #LOOK_S} s, and read again when one has changed: no thread waits for them. Files
 * that cannot be used leave the last good ones in place, with a warning, {@link #isStale} and another look each time. A handshake ends with the
 * certificate with which it began. Trade-off: a handshake in {@value #LOOK_S} s reads up to four small files.
 */
public final class Tls {
    /** A process without TLS. */
    public static final Tls NONE = new Tls();

    private static final Logger LOG = LoggerFactory.getLogger(Tls.class);
    private static final int LOOK_S = 10;
    /** A resumed session shows no certificate again, so an authority that was taken out is trusted for this long. */
    private static final int SESSION_S = 600;

    private final TlsFiles files;
    private final long lookNs;
    private final @Nullable SSLContext context;
    private volatile @Nullable Readings readings;
    private List<Stamp> stamps = List.of();
    private long lookedNs;
    private int reads;
    private volatile boolean stale;

    /** The last two readings. */
    private record Readings(Material now, Material before) {}

    /** What tells one content of a file from another. */
    private record Stamp(Path file, Optional<FileTime> changed, long bytes, String key) {
        static Stamp of(Path file) {
            try {
                BasicFileAttributes seen = Files.readAttributes(file, BasicFileAttributes.class);
                return new Stamp(file, Optional.of(seen.lastModifiedTime()), seen.size(), String.valueOf(seen.fileKey()));
            } catch (IOException e) {
                return new Stamp(file, Optional.empty(), 0, "");
            }
        }
    }

    private Tls() {
        files = TlsFiles.NONE;
        lookNs = 0;
        context = null;
    }

    private Tls(TlsFiles files, Duration look) {
        this.files = files;
        lookNs = look.toNanos();
        stamps = stamps(files);
        Material first = Material.read("0", files);
        readings = new Readings(first, first);
        lookedNs = System.nanoTime();
        try {
            context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new Keys()}, new TrustManager[] {new Trust()}, null);
            context.getServerSessionContext().setSessionTimeout(SESSION_S);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("This Java has no TLS, which every Java must have", e);
        }
    }

    /**
     * Reads the files.
     *
     * @throws TlsException when one cannot be used
     */
    public static Tls of(TlsFiles files) {
        return of(files, Duration.ofSeconds(LOOK_S));
    }

    /** As {@link #of(TlsFiles)}, with another time between two looks at the files. */
    public static Tls of(TlsFiles files, Duration look) {
        return files.all().isEmpty() ? NONE : new Tls(files, look);
    }

    /** Whether listeners speak TLS. */
    public boolean serves() {
        return files.certificates().isPresent();
    }

    /** Whether calls to addresses without a scheme speak TLS: a process with a certificate or authorities is one of a cluster with TLS. */
    public boolean calls() {
        return context != null;
    }

    /** Name that the certificates of other nodes, and of a directory's other instances, must have; empty for the host that is called. */
    public Optional<String> peerName() {
        return files.peerName();
    }

    /** Whether callers must show a certificate. */
    public boolean asksClients() {
        return files.clientAuthorities().isPresent();
    }

    /** The same for a kind of listener that may stay plain. */
    public Tls of(TlsFiles.Plain listener) {
        return files.except().contains(listener) ? NONE : this;
    }

    /** The context of all sockets; only where it {@link #serves} or {@link #calls}. */
    public SSLContext context() {
        if (context == null) {
            throw new IllegalStateException("a process without TLS has no context");
        }
        return context;
    }

    /** Versions of the protocol, as the JDK names them. */
    public String[] protocols() {
        return files.minimum().protocols();
    }

    /** Has an HTTP client trust the authorities, and show the certificate. */
    public HttpClient.Builder client(HttpClient.Builder builder) {
        return context == null ? builder : builder.sslContext(context).sslParameters(new SSLParameters(null, protocols()));
    }

    /** Whether the files have changed, and cannot be used. */
    public boolean isStale() {
        look();
        return stale;
    }

    /** When the certificate that is shown expires; empty without one. */
    public Optional<Instant> expires() {
        return context == null ? Optional.empty() : material().identity().map(identity -> identity.own().getNotAfter().toInstant());
    }

    private static List<Stamp> stamps(TlsFiles files) {
        return files.all().stream().map(Stamp::of).toList();
    }

    private Readings readings() {
        Readings all = readings;
        if (all == null) {
            throw new IllegalStateException("a process without TLS has no files");
        }
        return all;
    }

    private Material material() {
        look();
        return readings().now;
    }

    private synchronized void look() {
        if (context == null || System.nanoTime() - lookedNs < lookNs) {
            return;
        }
        List<Stamp> seen = stamps(files);
        if (!seen.equals(stamps) || stale) {
            try {
                Material read = Material.read(String.valueOf(++reads), files);
                readings = new Readings(read, readings().now);
                stale = false;
                LOG.info("the TLS files have been read again{}", read.identity().map(own -> ": the certificate of "
                        + own.own().getSubjectX500Principal() + " is valid until " + own.own().getNotAfter().toInstant()).orElse(""));
            } catch (TlsException e) {
                if (!stale || !seen.equals(stamps)) {
                    LOG.warn("the last good TLS files stay in use, because the new ones cannot be: {}", e.getMessage());
                }
                stale = true;
            }
            stamps = seen;
        }
        lookedNs = System.nanoTime();
    }

    /** Shows the certificate of the last good reading. */
    private final class Keys extends X509ExtendedKeyManager {
        private @Nullable String chosen(@Nullable String alias, Material from) {
            return alias == null ? null : from.name();
        }

        @Override
        public @Nullable String chooseEngineServerAlias(String type, Principal @Nullable [] issuers, SSLEngine engine) {
            Material now = material();
            return now.identity().map(own -> own.chooser().chooseEngineServerAlias(type, issuers, engine)).map(alias -> chosen(alias, now))
                    .orElse(null);
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
            Material now = material();
            return now.identity().map(own -> own.chooser().chooseServerAlias(type, issuers, socket)).map(alias -> chosen(alias, now)).orElse(null);
        }

        /** The certificate, even when the server names other issuers: it then refuses the certificate, and not a caller without one. */
        @Override
        public @Nullable String chooseEngineClientAlias(String[] types, Principal @Nullable [] issuers, SSLEngine engine) {
            return clientAlias(types);
        }

        @Override
        public @Nullable String chooseClientAlias(String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return clientAlias(types);
        }

        private @Nullable String clientAlias(String[] types) {
            Material now = material();
            return now.identity().map(own -> own.chooser().chooseClientAlias(types, null, null)).map(alias -> chosen(alias, now)).orElse(null);
        }

        private Optional<Material.Identity> of(String alias) {
            Readings all = readings();
            return (all.before.name().equals(alias) ? all.before : all.now).identity();
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return of(alias).map(own -> own.chain().toArray(X509Certificate[]::new)).orElse(null);
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            return of(alias).map(Material.Identity::key).orElse(null);
        }

        @Override
        public String[] getClientAliases(String type, Principal @Nullable [] issuers) {
            return new String[] {readings().now.name()};
        }

        @Override
        public String[] getServerAliases(String type, Principal @Nullable [] issuers) {
            return getClientAliases(type, issuers);
        }
    }

    /** Trusts the authorities of the last good reading. */
    private final class Trust extends X509ExtendedTrustManager {
        private X509ExtendedTrustManager clients() throws CertificateException {
            return material().clients().orElseThrow(() -> new CertificateException("no authority of callers is configured: give --tls-client-ca"));
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
            clients().checkClientTrusted(chain, type, engine);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
            clients().checkClientTrusted(chain, type, socket);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            clients().checkClientTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
            material().servers().checkServerTrusted(chain, type, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
            material().servers().checkServerTrusted(chain, type, socket);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            material().servers().checkServerTrusted(chain, type);
        }

        /** Those of callers: a server names them when it asks for a certificate. */
        @Override
        public X509Certificate[] getAcceptedIssuers() {
            List<X509Certificate> issuers = new ArrayList<>();
            material().clients().ifPresent(trusted -> issuers.addAll(List.of(trusted.getAcceptedIssuers())));
            return issuers.toArray(X509Certificate[]::new);
        }
    }
}
