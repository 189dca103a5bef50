/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The compose file is started as docs/install.md says, but for Prometheus and Grafana, whose images only a registry has. */
@RequiresDocker
@Timeout(value = 12, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ComposeStartTest {
    private static final List<String> SERVICES = List.of("kafka-1", "kafka-2", "kafka-3", "registry", "topics", "controller-1", "controller-2",
            "directory", "agent-a", "agent-b", "engine", "dashboard");
    private static final Duration START = Duration.ofMinutes(6);
    private static final String PROJECT = "tierlog-test-" + ProcessHandle.current().pid();
    private static final Path FILE = Path.of(System.getProperty("tierlog.root"), "ops/deploy/compose/compose.yaml");

    @TempDir
    Path work;

    private final HttpClient http = HttpClient.newHttpClient();
    private final int api = port();
    private final int page = port();
    private final int lookups = port();

    private record Run(int code, String text) {}

    private static int port() {
        try {
            return Brokers.freePort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Run run(Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
        Path output = work.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertTrue(process.waitFor(5, TimeUnit.MINUTES), () -> String.join(" ", command) + " hangs");
            return new Run(process.exitValue(), Files.readString(output));
        } finally {
            process.destroyForcibly();
        }
    }

    /** The plug-in, or the program of its own that came before it. */
    private Optional<List<String>> compose() throws InterruptedException {
        for (List<String> program : List.of(List.of("docker", "compose"), List.of("docker-compose"))) {
            try {
                if (run(Map.of(), Stream.concat(program.stream(), Stream.of("version")).toList()).code() == 0) {
                    return Optional.of(program);
                }
            } catch (IOException e) {
                // It is not installed.
            }
        }
        return Optional.empty();
    }

    @Test
    void everythingOnOneMachineWorks() throws Exception {
        Optional<List<String>> program = compose();
        if (program.isEmpty()) {
            System.out.println("NOT RUN: no docker compose; the compose file is not started");
        }
        assumeTrue(program.isPresent(), "no docker compose");
        Map<String, String> environment = Map.of(
                "TIERLOG_JAVA_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                "KAFKA_HEAP_OPTS", "-Xmx512m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                "TIERLOG_IMAGE", Images.here(Images.tierlog(work)),
                "TIERLOG_API_PORT", String.valueOf(api),
                "TIERLOG_PAGE_PORT", String.valueOf(page),
                "TIERLOG_DIRECTORY_PORT", String.valueOf(lookups),
                "TIERLOG_DIRECTORY_GRPC_PORT", String.valueOf(port()));
        Images.nameAsOfficial();
        List<String> command = new ArrayList<>(program.get());
        command.addAll(List.of("-p", PROJECT, "-f", FILE.toString()));
        try {
            long start = System.nanoTime();
            List<String> up = Stream.of(command, List.of("up", "-d"), SERVICES).flatMap(List::stream).toList();
            Run started = run(environment, up);
            assertEquals(0, started.code(), started::text);
            await("both nodes hold blocks", () -> heldBlocks("a") > 0 && heldBlocks("b") > 0);
            await("the live page answers", () -> get(page, "/").contains("<title>Tierlog"));
            // UNKNOWN would be the answer of a directory that has not read the log.
            await("the directory answers", () -> post(lookups, "/v1/exist",
                    "{\"namespace\":\"demo-model/main/bf16/tenant-0\",\"key\":\"00000000000000000000000000000000\"}").contains("NOT_FOUND"));
            await("every health check passes", () -> inHealth("starting") == 0 && inHealth("unhealthy") == 0 && inHealth("healthy") > 0);
            System.out.printf("the compose file is up and serves after %d s%n", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
        } catch (Exception | Error e) {
            System.out.println(run(environment, Stream.concat(command.stream(), Stream.of("logs", "--tail=20", "--no-color")).toList()).text());
            throw e;
        } finally {
            run(environment, Stream.concat(command.stream(), Stream.of("down", "-v", "-t", "5")).toList());
        }
    }

    private static void await(String what, Condition condition) {
        assertTrue(Until.within(START, () -> {
            try {
                return condition.holds();
            } catch (IOException e) {
                return false; // it is starting
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }), what);
    }

    private interface Condition {
        boolean holds() throws IOException, InterruptedException;
    }

    /** How many containers of the project are in a state of Docker's health checks. */
    private long inHealth(String state) throws IOException, InterruptedException {
        Run listed = run(Map.of(), List.of("docker", "ps", "-q", "--filter", "label=com.docker.compose.project=" + PROJECT,
                "--filter", "health=" + state));
        assertEquals(0, listed.code(), listed::text);
        return listed.text().lines().count();
    }

    private long heldBlocks(String node) throws IOException, InterruptedException {
        JsonNode told = new ObjectMapper().readTree(get(api, "/v1/nodes/" + node));
        return told.findValues("used_blocks").stream().mapToLong(JsonNode::asLong).sum();
    }

    private String get(int port, String path) throws IOException, InterruptedException {
        return sent(request(port, path).build());
    }

    private String post(int port, String path, String body) throws IOException, InterruptedException {
        return sent(request(port, path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body)).build());
    }

    private static HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).timeout(Duration.ofSeconds(10));
    }

    private String sent(HttpRequest request) throws IOException, InterruptedException {
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
}
