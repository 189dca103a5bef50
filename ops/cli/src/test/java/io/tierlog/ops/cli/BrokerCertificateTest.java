/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tierlog.ops.process.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a command says when the brokers show a certificate that it must not accept. A TLS server stands in for the brokers. */
class BrokerCertificateTest {
    private static final String PASSWORD = "opensesame";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @SuppressWarnings("NullAway.Init")
    private Certificates certificates;

    @BeforeEach
    void makeAuthority() throws IOException {
        boolean possible = Certificates.isPossible();
        if (!possible) {
            System.out.println("NOT RUN: no openssl, which makes the certificates of this test");
        }
        assumeTrue(possible);
        certificates = Certificates.in(directory.resolve("certificates"));
    }

    @Test
    void anExpiredCertificateIsNamed() throws Exception {
        assertSays(certificates.expired("broker", "IP:127.0.0.1"), certificates.authority(), "has expired", "give the brokers a new one");
    }

    @Test
    void aCertificateForAnotherHostIsNamed() throws Exception {
        assertSays(certificates.certificate("broker", "DNS:kafka-1"), certificates.authority(), "another host name", "advertised.listeners");
    }

    @Test
    void aCertificateOfAnotherAuthorityIsNamed() throws Exception {
        Path strangers = Certificates.in(directory.resolve("strangers")).authority();
        assertSays(certificates.certificate("broker", "IP:127.0.0.1"), strangers, "not signed by an authority", "ssl.truststore.location");
    }

    @Test
    void aPortWithoutTlsIsNamed() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            answer(server, socket -> socket.getOutputStream().write("not TLS at all".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
            assertSays(server.getLocalPort(), certificates.authority(), "do not speak TLS", "security.protocol");
        }
    }

    @Test
    void anAbsentTruststoreIsNamedAndNoBrokerIsAsked() throws Exception {
        assertSays(1, directory.resolve("absent.pem"), "absent.pem", "--client-config");
    }

    private void assertSays(Path pem, Path trusted, String... texts) throws Exception {
        KeyStore keys = KeyStore.getInstance(certificates.pkcs12(pem, PASSWORD).toFile(), PASSWORD.toCharArray());
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        try (ServerSocket server = context.getServerSocketFactory().createServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            answer(server, socket -> {
                int _ = socket.getInputStream().read(); // the handshake, which the client breaks off
            });
            assertSays(server.getLocalPort(), trusted, texts);
        }
    }

    private void assertSays(int port, Path trusted, String... texts) throws Exception {
        Path config = Files.writeString(directory.resolve("client.properties"),
                "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=" + trusted + "\n");
        MainRun.Output output = MainRun.of(directory, "topics", "create", "--bootstrap-servers", "127.0.0.1:" + port,
                "--client-config", config.toString());
        assertEquals(2, output.code(), output::text);
        for (String text : texts) {
            assertTrue(output.text().contains(text), () -> "without '" + text + "': " + output.text());
        }
    }

    private interface Answer {
        void to(Socket socket) throws IOException;
    }

    /** Answers each connection until the server is closed. */
    private static void answer(ServerSocket server, Answer answer) {
        Thread.ofPlatform().daemon().name("tls-server").start(() -> {
            while (!server.isClosed()) {
                try (Socket socket = server.accept()) {
                    answer.to(socket);
                } catch (IOException e) {
                    // the client has refused the certificate, or the server is closed
                }
            }
        });
    }
}
