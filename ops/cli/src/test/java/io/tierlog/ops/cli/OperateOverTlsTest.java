/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.HttpServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.Route;
import io.tierlog.controller.http.ServerLimits;
import io.tierlog.controller.http.Tokens;
import io.tierlog.ops.process.Certificates;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What commands say about an operator API with TLS. A server with one route stands in for the controller. */
class OperateOverTlsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private MainRun.Output nodes(int port, Object... more) {
        return MainRun.of(directory, Stream.concat(Stream.of("nodes", "--api", "https://127.0.0.1:" + port, "--format", "json"),
                Arrays.stream(more).map(Object::toString)).toArray(String[]::new));
    }

    private static void assertSays(MainRun.Output output, String... texts) {
        assertTrue(output.code() != 0, output::text);
        for (String text : texts) {
            assertTrue(output.text().contains(text), () -> "without '" + text + "': " + output.text());
        }
    }

    @Test
    void aCommandTrustsTheAuthorityAndSaysWhatIsWrongOtherwise() throws Exception {
        boolean possible = Certificates.isPossible();
        if (!possible) {
            System.out.println("NOT RUN: no openssl, which makes the certificates of this test");
        }
        assumeTrue(possible);
        Certificates ours = Certificates.in(directory.resolve("ours"));
        Path server = ours.certificate("controller", "IP:127.0.0.1");
        Path operator = ours.certificate("operator");
        Path strangers = Certificates.in(directory.resolve("strangers")).authority();
        Tls tls = Tls.of(new TlsFiles(Optional.of(server), Optional.empty(), Optional.of(ours.authority()), Optional.empty(),
                TlsFiles.Version.TLS13, Set.of(), Optional.empty()));
        try (HttpServer api = new HttpServer(new Listener("--test", new Endpoint("127.0.0.1", 0), new ServerLimits(1 << 16, 8, 4), tls),
                Tokens.of(Optional.empty()), List.of(Route.get("/v1/nodes", Set.of("limit", "after"), _ -> {
                    var body = JsonNodeFactory.instance.objectNode().putNull("next");
                    body.putArray("nodes");
                    return HttpResponse.of(200, body);
                })))) {
            MainRun.Output good = nodes(api.port(), "--tls-ca", ours.authority(), "--tls-certificates", operator);
            assertEquals(0, good.code(), good::text);
            assertSays(nodes(api.port()), "not signed by an authority", "--tls-ca");
            assertSays(nodes(api.port(), "--tls-ca", strangers), "not signed by an authority", "--tls-ca");
            assertSays(nodes(api.port(), "--tls-ca", ours.authority()), "misses one", "--tls-certificates");
            Path keyless = Files.writeString(directory.resolve("keyless.pem"),
                    Files.readString(operator).substring(Files.readString(operator).indexOf("-----BEGIN CERTIFICATE")));
            assertSays(nodes(api.port(), "--tls-ca", ours.authority(), "--tls-certificates", keyless), "has no key", "keyless.pem");
            assertSays(nodes(api.port(), "--tls-ca", directory.resolve("absent.pem")), "absent.pem", "not a file that can be read");
        }
    }
}
