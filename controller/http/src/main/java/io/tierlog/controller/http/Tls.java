/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * The certificate that a server shows, as PEM files. Trade-off: the files are read once, so a new certificate needs a restart.
 *
 * @param certificates the server's certificate, then those of its issuers
 * @param key its private key, PKCS#8 and not encrypted
 */
public record Tls(Path certificates, Path key) {
    private static final Pattern PRIVATE_KEY = Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

    /**
     * Reads both files.
     *
     * @throws ServerException.TlsUnusable when a file cannot be read, or the two do not fit together
     */
    SSLContext context() {
        Path reading = certificates;
        try {
            byte[] pem = Files.readAllBytes(certificates);
            Certificate[] chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(pem))
                    .toArray(Certificate[]::new);
            if (chain.length == 0) {
                throw new GeneralSecurityException("it has no certificate");
            }
            reading = key;
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("server", privateKey(chain[0].getPublicKey().getAlgorithm()), new char[0], chain);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, new char[0]);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new ServerException.TlsUnusable(reading, e);
        }
    }

    private PrivateKey privateKey(String algorithm) throws IOException, GeneralSecurityException {
        Matcher pem = PRIVATE_KEY.matcher(Files.readString(key, StandardCharsets.US_ASCII));
        if (!pem.find()) {
            throw new GeneralSecurityException("it has no unencrypted PKCS#8 key (BEGIN PRIVATE KEY)");
        }
        byte[] encoded = Base64.getMimeDecoder().decode(pem.group(1));
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
    }
}
