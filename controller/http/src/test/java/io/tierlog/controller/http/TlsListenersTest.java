/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.ops.process.Certificates;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsException;
import io.tierlog.tls.TlsFault;
import io.tierlog.tls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS of the HTTP, gRPC and status servers, with certificates that openssl makes. */
class TlsListenersTest {
    private static final Endpoint ANY = new Endpoint("127.0.0.1", 0);
    private static final String HERE = "IP:127.0.0.1";
    private static final String PASSWORD = "opensesame";
    private static final MethodDescriptor<byte[], byte[]> ECHO =
            RawMessages.method("test.Echo/Say", MethodDescriptor.MethodType.UNARY);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @SuppressWarnings("NullAway.Init")
    private Certificates ours;

    @SuppressWarnings("NullAway.Init")
    private Path server;

    @BeforeEach
    void makeAuthority() throws IOException {
        boolean possible = Certificates.isPossible();
        if (!possible) {
            System.out.println("NOT RUN: no openssl, which makes the certificates of this test");
        }
        assumeTrue(possible);
        ours = Certificates.in(directory.resolve("certificates"));
        server = ours.certificate("server", HERE);
    }

    private static TlsFiles files(Path certificates, @Nullable Path clients, TlsFiles.Version minimum) {
        return new TlsFiles(Optional.of(certificates), Optional.empty(), Optional.ofNullable(clients), Optional.empty(), minimum, Set.of(),
                Optional.empty());
    }

    /** Of a process that calls: a context of its own, so that no session is resumed. */
    private Tls caller(@Nullable Path certificate) {
        return Tls.of(TlsFiles.ofClient(Optional.of(ours.authority()), Optional.ofNullable(certificate), Optional.empty()));
    }

    private static HttpServer http(Tls tls) {
        return new HttpServer(new Listener("--test", ANY, new ServerLimits(1 << 20, 8, 4), tls), Tokens.of(Optional.empty()),
                List.of(Route.get("/fast", Set.of(),
                        _ -> io.tierlog.controller.http.HttpResponse.of(200, JsonNodeFactory.instance.objectNode()))));
    }

    private static GrpcServer grpc(Tls tls) {
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder("test.Echo");
        ServerServiceDefinition echo = service.addMethod(ECHO, ServerCalls.<byte[], byte[]>asyncUnaryCall((in, out) -> {
            out.onNext(in);
            out.onCompleted();
        })).build();
        return new GrpcServer(new Listener("--test", ANY, new ServerLimits(1 << 20, 8, 4), tls), List.of(() -> echo), 4);
    }

    private static HttpResponse<String> get(int port, String path, HttpClient.Builder with) throws Exception {
        try (HttpClient client = with.connectTimeout(Duration.ofSeconds(20)).build()) {
            return client.send(java.net.http.HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path)).build(), BodyHandlers.ofString());
        }
    }

    private static HttpResponse<String> get(int port, Tls with) throws Exception {
        return get(port, "/fast", with.client(HttpClient.newBuilder()));
    }

    private static byte[] echo(int port, Tls with) throws InterruptedException {
        ManagedChannel channel = GrpcTls.callPeer(NettyChannelBuilder.forAddress("127.0.0.1", port), with).build();
        try {
            return ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS), new byte[] {1, 2});
        } finally {
            channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    private static TlsFault fault(Exception failure) {
        return TlsFault.of(failure).orElseThrow(() -> new AssertionError("not TLS", failure));
    }

    @Test
    void httpGrpcAndStatusSpeakTlsWithOneCertificate() throws Exception {
        Tls tls = Tls.of(files(server, null, TlsFiles.Version.TLS13));
        try (HttpServer http = http(tls); GrpcServer grpc = grpc(tls); StatusServer status = new StatusServer("--status", ANY, tls,
                new PrometheusRegistry(), () -> new StatusServer.Report(true, JsonNodeFactory.instance.objectNode()))) {
            HttpResponse<String> answer = get(http.port(), caller(null));
            assertEquals(200, answer.statusCode());
            assertEquals("TLSv1.3", answer.sslSession().orElseThrow().getProtocol());
            assertArrayEquals(new byte[] {1, 2}, echo(grpc.port(), caller(null)));
            String metrics = get(status.port(), "/metrics", caller(null).client(HttpClient.newBuilder())).body();
            assertTrue(metrics.contains("tierlog_tls_files_unusable 0.0"), metrics);
            long expires = tls.expires().orElseThrow().getEpochSecond();
            assertTrue(expires > System.currentTimeMillis() / 1_000, "the certificate expires at " + expires);
            try (HttpClient plain = HttpClient.newHttpClient()) {
                java.net.http.HttpRequest ask = java.net.http.HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + http.port() + "/fast")).build();
                assertThrows(IOException.class, () -> plain.send(ask, BodyHandlers.ofString()));
            }
            assertThrows(StatusRuntimeException.class, () -> echo(grpc.port(), Tls.NONE));
        }
    }

    /** The address of a pod is in no certificate: those of a fleet have a name in common. */
    @Test
    void aCallToAnAddressThatChangesNeedsTheNameOfPeers() throws Exception {
        Path fleet = ours.certificate("fleet", "DNS:tierlog-peers");
        try (GrpcServer grpc = grpc(Tls.of(files(fleet, null, TlsFiles.Version.TLS13)))) {
            assertArrayEquals(new byte[] {1, 2}, echo(grpc.port(), callerOf("tierlog-peers")));
            assertEquals(TlsFault.OTHER_HOST, fault(assertThrows(StatusRuntimeException.class, () -> echo(grpc.port(), callerOf("another-name")))));
            assertEquals(TlsFault.OTHER_HOST, fault(assertThrows(StatusRuntimeException.class, () -> echo(grpc.port(), caller(null)))));
        }
    }

    private Tls callerOf(String peerName) {
        return Tls.of(new TlsFiles(Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(ours.authority()), TlsFiles.Version.TLS13,
                Set.of(), Optional.of(peerName)));
    }

    @Test
    void anOldClientIsRefusedUnlessTold() throws Exception {
        HttpClient.Builder old = HttpClient.newBuilder().sslContext(caller(null).context())
                .sslParameters(new SSLParameters(null, new String[] {"TLSv1.2"}));
        try (HttpServer strict = http(Tls.of(files(server, null, TlsFiles.Version.TLS13)));
                HttpServer lax = http(Tls.of(files(server, null, TlsFiles.Version.TLS12)))) {
            assertThrows(IOException.class, () -> get(strict.port(), "/fast", old));
            assertEquals(200, get(lax.port(), "/fast", old).statusCode());
        }
    }

    @Test
    void withAnAuthorityOfCallersACertificateOfItIsNeeded() throws Exception {
        Tls tls = Tls.of(files(server, ours.authority(), TlsFiles.Version.TLS13));
        Path known = ours.certificate("caller");
        Path stranger = Certificates.in(directory.resolve("strangers")).certificate("caller");
        try (HttpServer http = http(tls); GrpcServer grpc = grpc(tls)) {
            assertEquals(200, get(http.port(), caller(known)).statusCode());
            assertArrayEquals(new byte[] {1, 2}, echo(grpc.port(), caller(known)));
            assertEquals(TlsFault.REFUSED, fault(assertThrows(IOException.class, () -> get(http.port(), caller(null)))));
            assertEquals(TlsFault.REFUSED, fault(assertThrows(IOException.class, () -> get(http.port(), caller(stranger)))));
            assertThrows(StatusRuntimeException.class, () -> echo(grpc.port(), caller(null)));
            assertThrows(StatusRuntimeException.class, () -> echo(grpc.port(), caller(stranger)));
        }
    }

    @Test
    void aChangedFileIsReadAgainAndABrokenOneChangesNothing() throws Exception {
        Path live = Files.copy(server, directory.resolve("live.pem"));
        Tls tls = Tls.of(files(live, null, TlsFiles.Version.TLS13), Duration.ZERO);
        try (HttpServer http = http(tls); GrpcServer grpc = grpc(tls)) {
            X509Certificate first = shown(http);
            replace(live, ours.certificate("second", HERE));
            X509Certificate second = shown(http);
            assertNotEquals(first, second);
            assertArrayEquals(new byte[] {1, 2}, echo(grpc.port(), caller(null)));
            // Half a file, the key of another certificate, an expired certificate: the last good one is shown.
            String whole = Files.readString(live);
            String other = Files.readString(ours.certificate("third", HERE));
            for (String broken : List.of(whole.substring(0, whole.length() / 2),
                    whole.substring(0, whole.indexOf("-----BEGIN CERTIFICATE")) + other.substring(other.indexOf("-----BEGIN CERTIFICATE")),
                    Files.readString(ours.expired("fourth", HERE)))) {
                replace(live, Files.writeString(directory.resolve("new.pem"), broken));
                assertEquals(second, shown(http), broken);
                assertTrue(tls.isStale());
                assertArrayEquals(new byte[] {1, 2}, echo(grpc.port(), caller(null)));
            }
            replace(live, Files.writeString(directory.resolve("new.pem"), other));
            assertNotEquals(second, shown(http));
            assertFalse(tls.isStale());
        }
    }

    /** As an orchestrator replaces files: another file takes the name. */
    private static void replace(Path live, Path with) throws IOException {
        Path next = Files.copy(with, live.resolveSibling("next"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(next, live, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private X509Certificate shown(HttpServer http) throws Exception {
        return (X509Certificate) get(http.port(), caller(null)).sslSession().orElseThrow().getPeerCertificates()[0];
    }

    @Test
    void anAuthorityThatIsTakenOutTrustsNewCallersNoMore() throws Exception {
        Path authorities = Files.copy(ours.authority(), directory.resolve("authorities.pem"));
        Tls tls = Tls.of(files(server, authorities, TlsFiles.Version.TLS13), Duration.ZERO);
        Path known = ours.certificate("caller");
        try (HttpServer http = http(tls)) {
            assertEquals(200, get(http.port(), caller(known)).statusCode());
            replace(authorities, Certificates.in(directory.resolve("strangers")).authority());
            assertEquals(TlsFault.REFUSED, fault(assertThrows(IOException.class, () -> get(http.port(), caller(known)))));
        }
    }

    @Test
    void aWrongServerIsNamedWithWhatToDo() throws Exception {
        assertFault(ours.expired("old", HERE), TlsFault.EXPIRED, "has expired");
        assertFault(ours.certificate("elsewhere", "DNS:elsewhere"), TlsFault.OTHER_HOST, "subjectAltName");
        assertFault(Certificates.in(directory.resolve("strangers")).certificate("stranger", HERE), TlsFault.UNKNOWN_AUTHORITY, "--tls-ca");
        try (HttpServer plain = http(Tls.NONE)) {
            assertEquals(TlsFault.NO_TLS, fault(assertThrows(IOException.class, () -> get(plain.port(), caller(null)))));
        }
    }

    private void assertFault(Path certificate, TlsFault fault, String advice) throws Exception {
        KeyStore keys = KeyStore.getInstance(ours.pkcs12(certificate, PASSWORD).toFile(), PASSWORD.toCharArray());
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        try (ServerSocket listening = context.getServerSocketFactory().createServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> {
                while (!listening.isClosed()) {
                    try (Socket socket = listening.accept()) {
                        int _ = socket.getInputStream().read(); // the handshake, which the client breaks off
                    } catch (IOException e) {
                        // the client has refused the certificate, or the server is closed
                    }
                }
            });
            assertEquals(fault, fault(assertThrows(IOException.class, () -> get(listening.getLocalPort(), caller(null)))));
            assertEquals(fault, fault(assertThrows(StatusRuntimeException.class, () -> echo(listening.getLocalPort(), caller(null)))));
        }
        assertTrue(fault.advice().contains(advice), fault.advice());
    }

    @Test
    void aFileThatCannotBeUsedIsNamedAtStart() throws Exception {
        String pem = Files.readString(server);
        Path keyless = Files.writeString(directory.resolve("keyless.pem"), pem.substring(pem.indexOf("-----BEGIN CERTIFICATE")));
        assertUnusable(keyless, "--tls-key", "keyless.pem", "has no key");
        assertUnusable(directory.resolve("absent.pem"), "--tls-certificates", "absent.pem", "there is no such file");
        assertUnusable(Files.writeString(directory.resolve("empty.pem"), ""), "--tls-certificates", "empty.pem", "no certificate");
        assertUnusable(ours.expired("old", HERE), "--tls-certificates", "has expired at");
        assertUnusable(Files.writeString(directory.resolve("sec1.pem"), pem.replace("PRIVATE KEY", "EC PRIVATE KEY")), "--tls-key", "openssl pkcs8");
        String other = Files.readString(ours.certificate("other"));
        Path swapped = Files.writeString(directory.resolve("swapped.pem"),
                pem.substring(0, pem.indexOf("-----BEGIN CERTIFICATE")) + other.substring(other.indexOf("-----BEGIN CERTIFICATE")));
        assertUnusable(swapped, "--tls-key", "not the key of the certificate");
        Path garbage = Files.write(directory.resolve("garbage.pem"),
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".getBytes(StandardCharsets.US_ASCII));
        assertUnusable(garbage, "--tls-certificates", "garbage.pem");
        assertThrows(IllegalArgumentException.class, () -> new TlsFiles(
                Optional.empty(), Optional.of(server), Optional.empty(), Optional.empty(), TlsFiles.Version.TLS13, Set.of(), Optional.empty()));
    }

    private static void assertUnusable(Path file, String... says) {
        TlsException refused = assertThrows(TlsException.class, () -> Tls.of(files(file, null, TlsFiles.Version.TLS13)));
        for (String text : says) {
            assertTrue(String.valueOf(refused.getMessage()).contains(text), refused.getMessage());
        }
    }
}
