/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * What one reading of the files gave: whole, consistent and valid now. Immutable.
 *
 * @param name of this reading; handshakes that began with it end with it
 * @param clients decides about callers; empty accepts every caller
 * @param servers decides about servers that are called
 */
record Material(String name, Optional<Identity> identity, Optional<X509ExtendedTrustManager> clients, X509ExtendedTrustManager servers) {
    private static final Pattern CERTIFICATE = Pattern.compile("-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\\s]+)-----END CERTIFICATE-----");
    private static final Pattern PRIVATE_KEY = Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final Pattern OTHER_KEY = Pattern.compile("-----BEGIN (\\w+ PRIVATE KEY)-----");
    private static final long MOST_BYTES = 1 << 20;
    private static final char[] NO_PASSWORD = new char[0];

    /** The certificate that this process shows, and its key. */
    record Identity(PrivateKey key, List<X509Certificate> chain, X509ExtendedKeyManager chooser) {
        X509Certificate own() {
            return chain.getFirst();
        }
    }

    /** @throws TlsException when a file cannot be read or used, or the two do not fit together */
    static Material read(String name, TlsFiles files) {
        return new Material(name, files.certificates().map(file -> identity(file, files.key().orElse(file))),
                files.clientAuthorities().map(file -> trust("--tls-client-ca", Optional.of(file))), trust("--tls-ca", files.authorities()));
    }

    private static Identity identity(Path certificates, Path keyFile) {
        List<X509Certificate> chain = certificates("--tls-certificates", certificates);
        try {
            chain.getFirst().checkValidity();
        } catch (CertificateExpiredException e) {
            throw new TlsException("--tls-certificates", certificates,
                    new GeneralSecurityException("it has expired at " + chain.getFirst().getNotAfter().toInstant() + ": have a new one made", e));
        } catch (GeneralSecurityException e) {
            throw new TlsException("--tls-certificates", certificates,
                    new GeneralSecurityException("it is not valid before " + chain.getFirst().getNotBefore().toInstant(), e));
        }
        try {
            PrivateKey key = privateKey(keyFile, chain.getFirst().getPublicKey());
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("own", key, NO_PASSWORD, chain.toArray(X509Certificate[]::new));
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, NO_PASSWORD);
            return new Identity(key, chain, (X509ExtendedKeyManager) keys.getKeyManagers()[0]);
        } catch (IOException | GeneralSecurityException e) {
            throw new TlsException("--tls-key", keyFile, e);
        }
    }

    private static PrivateKey privateKey(Path file, PublicKey itsPublic) throws IOException, GeneralSecurityException {
        String text = text(file);
        Matcher pem = PRIVATE_KEY.matcher(text);
        if (!pem.find()) {
            Matcher other = OTHER_KEY.matcher(text);
            throw new GeneralSecurityException(other.find()
                    ? "it has a key in the form " + other.group(1) + ": convert it with 'openssl pkcs8 -topk8 -nodes -in KEY -out NEW'"
                    : "it has no key (BEGIN PRIVATE KEY)");
        }
        PrivateKey key = KeyFactory.getInstance(itsPublic.getAlgorithm()).generatePrivate(
                new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1))));
        if (!fits(key, itsPublic)) {
            throw new GeneralSecurityException("it is not the key of the certificate");
        }
        return key;
    }

    private static boolean fits(PrivateKey key, PublicKey itsPublic) throws GeneralSecurityException {
        Signature signature = Signature.getInstance(switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        });
        byte[] text = "tierlog".getBytes(StandardCharsets.US_ASCII);
        signature.initSign(key);
        signature.update(text);
        byte[] signed = signature.sign();
        signature.initVerify(itsPublic);
        signature.update(text);
        return signature.verify(signed);
    }

    private static X509ExtendedTrustManager trust(String option, Optional<Path> file) {
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            KeyStore store = null;
            if (file.isPresent()) {
                store = KeyStore.getInstance("PKCS12");
                store.load(null, null);
                List<X509Certificate> trusted = certificates(option, file.get());
                for (int i = 0; i < trusted.size(); i++) {
                    store.setCertificateEntry("ca-" + i, trusted.get(i));
                }
            }
            factory.init(store);
            return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
        } catch (IOException | GeneralSecurityException e) {
            throw new TlsException(option, file.orElse(Path.of("of this Java")), e);
        }
    }

    private static List<X509Certificate> certificates(String option, Path file) {
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            Matcher pem = CERTIFICATE.matcher(text(file));
            List<X509Certificate> found = new ArrayList<>();
            while (pem.find()) {
                byte[] encoded = Base64.getMimeDecoder().decode(pem.group(1));
                found.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(encoded)));
            }
            if (found.isEmpty()) {
                throw new GeneralSecurityException("it has no certificate (BEGIN CERTIFICATE)");
            }
            return List.copyOf(found);
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new TlsException(option, file, e);
        }
    }

    private static String text(Path file) throws IOException {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new IOException("it has more than " + MOST_BYTES + " bytes");
            }
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            throw new IOException("there is no such file", e);
        }
    }
}
