/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFiles;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options of TLS on the listeners of a program and on its calls, the same for every program. Static and without state. */
public final class TlsOptions {
    /** PEM file of the certificate that is shown. */
    public static final String CERTIFICATES = "tls.certificates";

    /** PEM file of its key. */
    public static final String KEY = "tls.key";

    /** PEM file of the authorities of callers. */
    public static final String CLIENT_CA = "tls.client.ca";

    /** PEM file of the authorities of servers. */
    public static final String CA = "tls.ca";

    /** Lowest version of the protocol. */
    public static final String MINIMUM = "tls.minimum";

    /** Listeners that stay plain. */
    public static final String EXCEPT = "tls.except";

    /** Name in the certificates of peers. */
    public static final String PEER_NAME = "tls.peer.name";

    private TlsOptions() {}

    /** Declares them beside others. */
    public static Options declare(Options options) {
        return options.group("TLS", Importance.MEDIUM)
                .text(CERTIFICATES, Bounds.FILE, "FILE", "PEM file with the certificate of this process, then those of its issuers; read again when"
                        + " it changes. Its listeners then speak TLS, and its calls show it (default: none, plain text).")
                .text(KEY, Bounds.FILE, "FILE", "PEM file with its private key, PKCS#8 without a password (default: that of --tls-certificates).")
                .text(CLIENT_CA, Bounds.FILE, "FILE", "PEM file of authorities: callers must show a certificate that one of them has signed"
                        + " (default: none, no certificate is asked for).")
                .text(CA, Bounds.FILE, "FILE", "PEM file of the authorities of the servers that this process calls (default: those of Java)."
                        + " With it, or with a certificate, calls to directories and other nodes speak TLS.")
                .text(PEER_NAME, Bounds.TEXT, "NAME", "Name that the certificates of other nodes, and of a directory's other instances, must have,"
                        + " where their addresses change (default: the host that is called).")
                .option(MINIMUM, ConfigDef.Type.STRING, TlsFiles.Version.TLS13.name(), Bounds.oneOf(TlsFiles.Version.class), "VERSION",
                        "Lowest version: TLS13, or TLS12 for old clients.")
                .list(EXCEPT, Bounds.oneOf(TlsFiles.Plain.class), "LISTENER",
                        "Listeners that stay plain: STATUS for /metrics and /health, ENGINE for the engine API on loopback (default: none).");
    }

    /**
     * The TLS of the process.
     *
     * @throws IllegalArgumentException when a file cannot be used
     */
    public static Tls tls(OptionValues values) {
        return Tls.of(new TlsFiles(values.findPath(CERTIFICATES), values.findPath(KEY), values.findPath(CLIENT_CA), values.findPath(CA),
                values.constant(MINIMUM, TlsFiles.Version.class), values.list(EXCEPT).stream()
                        .map(name -> TlsFiles.Plain.valueOf(name.toUpperCase(Locale.ROOT))).collect(Collectors.toUnmodifiableSet()),
                values.optional(PEER_NAME)));
    }
}
