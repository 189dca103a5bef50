/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.LogFacts;
import io.tierlog.ops.cli.Main;
import io.tierlog.ops.process.ChildProcess;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A broker, a controller and the agent of node a, each a process of the command line on loopback, and an engine in this process. For one thread. */
final class AttackScene implements AutoCloseable {
    static final int PARTITIONS = 3;
    static final int BLOCK_BYTES = 4_096;
    static final int BLOCK_TOKENS = 16;
    private static final Duration START = Duration.ofSeconds(90);
    private static final long PATIENCE_S = 120;
    private static final ObjectMapper JSON = new ObjectMapper();

    final Path directory;
    final KafkaAccess access;
    /** The clocks of the processes, where they are not those of this machine. */
    final FakeClocks clocks;
    private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final int brokerPort;
    private ChildProcess broker;

    /** How a command ended. */
    record Ended(int code, String text) {}

    AttackScene(Path directory) throws Exception {
        this.directory = directory;
        clocks = new FakeClocks(directory);
        brokerPort = freePort();
        access = KafkaAccess.of("127.0.0.1:" + brokerPort);
        broker = startBroker();
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, PARTITIONS, 1);
        }
    }

    /** Below the ports that clients get: one that reconnects to an absent broker may get its port, and connect to itself. */
    private static int freePort() {
        for (int port = 20_000 + (int) (ProcessHandle.current().pid() % 1_000) * 10; port < 32_000; port++) {
            try (ServerSocket free = new ServerSocket(port)) {
                return free.getLocalPort();
            } catch (IOException e) {
                // the next one
            }
        }
        throw new IllegalStateException("no port between 20000 and 32000 is free");
    }

    // --- processes

    private ChildProcess startBroker() throws InterruptedException {
        ChildProcess started = service("broker", "broker", "--port", String.valueOf(brokerPort), "--data", directory.resolve("broker").toString());
        ready(started);
        return started;
    }

    /** {@code kill -9} of the broker. */
    void killBroker() throws InterruptedException {
        broker.kill();
    }

    boolean brokerIsAlive() {
        return broker.isAlive();
    }

    /** The same broker again, on its port and its data. */
    void restartBroker() throws InterruptedException {
        broker = startBroker();
    }

    /** A controller on the state directory of that name, not waited for. */
    ChildProcess controllerProcess(String state, String... more) {
        return service("controller-" + state, with(
                List.of("controller", "--bootstrap-servers", access.bootstrapServers(), "--state-dir", directory.resolve(state).toString(),
                        "--http-port", "0", "--api-listen", "127.0.0.1:0", "--no-directory"), more));
    }

    /** A controller that decides. */
    Controller controller(String state, String... more) throws InterruptedException {
        ChildProcess process = controllerProcess(state, more);
        JsonNode line = ready(process);
        return new Controller(process, line.path("http").asText(), line.path("api").asText());
    }

    /** A controller process and where it answers: {@code http} serves /health and /metrics. */
    record Controller(ChildProcess process, String http, String api) {}

    /** A directory beside them. */
    Directory directoryProcess(String... more) throws InterruptedException {
        ChildProcess process = service("directory", with(List.of("directory", "--bootstrap-servers", access.bootstrapServers(),
                "--state-dir", directory.resolve("directory").toString(), "--directory-listen", "127.0.0.1:0",
                "--directory-grpc-listen", "127.0.0.1:0", "--directory-status-listen", "127.0.0.1:0"), more));
        return new Directory(process, local(ready(process).path("directoryStatusPort")));
    }

    /** A directory process and where it answers /health and /metrics. */
    record Directory(ChildProcess process, String status) {}

    private static String local(JsonNode port) {
        return "http://127.0.0.1:" + port.asInt();
    }

    /** The agent of a node, which answers engines. */
    Agent agent(String node, String... more) throws InterruptedException {
        ChildProcess process = agentProcess(node, more);
        JsonNode line = ready(process);
        return new Agent(process, line.path("port").asInt(), local(line.path("statusPort")));
    }

    /** The same, not waited for. */
    ChildProcess agentProcess(String node, String... more) {
        return agentNamed("agent-" + node, node, 90, more);
    }

    private ChildProcess agentNamed(String name, String node, int registrationS, String... more) {
        return service(name, with(
                List.of("agent", "--bootstrap-servers", access.bootstrapServers(), "--node", node, "--store", directory.resolve("store").toString(),
                        "--host", "512blocks", "--bytes-per-block", BLOCK_BYTES + "B", "--block-tokens", String.valueOf(BLOCK_TOKENS), "--port", "0",
                        "--registration-timeout", String.valueOf(registrationS), "--agent-status-listen", "127.0.0.1:0"), more));
    }

    /** An agent process, the port of its engine API, and where it answers /health and /metrics. */
    record Agent(ChildProcess process, int port, String status) {}

    /** Another agent process of a node, which asks for it for a second. */
    ChildProcess twinProcess(String node) {
        return agentNamed("twin-" + node, node, 1);
    }

    /** A live page; its port outlives it, so that the next one can take the same. */
    LivePage livePage(int port) throws InterruptedException {
        int at = port > 0 ? port : freePort();
        ChildProcess process = service("dashboard", "dashboard", "--bootstrap-servers", access.bootstrapServers(),
                "--state-dir", directory.resolve("dashboard").toString(), "--dashboard-listen", "127.0.0.1:" + at);
        return new LivePage(process, at, ready(process).path("url").asText());
    }

    /** A live page and where browsers find it. */
    record LivePage(ChildProcess process, int port, String url) {}

    /** A command under a name of its own, not waited for. */
    ChildProcess service(String name, String command, String... arguments) {
        return service(name, with(List.of(command), arguments));
    }

    private ChildProcess service(String name, List<String> arguments) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of("--format", "json", "--config", directory.resolve("no-settings").toString()));
        try {
            Files.writeString(directory.resolve("no-settings"), "");
        } catch (IOException e) {
            throw new IllegalStateException("no settings file can be written", e);
        }
        return own(ChildProcess.java(name, ChildProcess.ownOptions(), Main.class, all)
                .log(log(name)).withoutVariables("TIERLOG_").variables(clocks.variables(name))
                .readyWhen(line -> line.contains("\"event\":\"ready\"")).start());
    }

    /** Standard error of a service. */
    Path log(String name) {
        return directory.resolve(name + ".log");
    }

    /** Lines of a service's standard error that contain {@code text}. */
    long said(String name, String text) throws IOException {
        try (var lines = Files.lines(log(name), StandardCharsets.UTF_8)) {
            return lines.filter(line -> line.contains(text)).count();
        }
    }

    static JsonNode ready(ChildProcess process) throws InterruptedException {
        try {
            return JSON.readTree(process.awaitReady(START));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits for the end of a process that shall end by itself. */
    Ended ended(String name, ChildProcess process) throws InterruptedException, IOException {
        assertTrue(process.endsWithin(START), () -> name + " goes on: " + process.tail());
        return new Ended(process.exitCode(), Files.readString(log(name)));
    }

    /** Runs a command to its end. */
    Ended run(String... arguments) throws InterruptedException, IOException {
        String name = "run-" + arguments[0] + "-" + System.nanoTime();
        return ended(name, service(name, Arrays.asList(arguments)));
    }

    private static List<String> with(List<String> arguments, String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(Arrays.asList(more));
        return all;
    }

    <T extends AutoCloseable> T own(T part) {
        opened.push(part);
        return part;
    }

    // --- what they answer

    /** The body of a page; empty when there is no answer within two seconds. */
    String get(String url) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(2)).build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    /** Waits until {@code /health} has a part at that level, and its metric the same. */
    void awaitPart(String status, String part, String level) {
        await("/health of " + status + ": " + part + " is " + level,
                () -> get(status + "/health").contains("{\"part\":\"" + part + "\",\"level\":\"" + level + "\""));
        double number = level.equals("FAILED") ? 2 : level.equals("DEGRADED") ? 1 : 0;
        awaitMetric(status, "tierlog_health_level{part=\"" + part + "\"} " + number);
    }

    /** Waits until {@code /metrics} has that line. */
    void awaitMetric(String status, String line) {
        await("/metrics of " + status + ": " + line, () -> get(status + "/metrics").lines().anyMatch(line::equals));
    }

    /** Decisions on the log by now. */
    int decisions() {
        return LogFacts.read(access).size();
    }

    /** Waits until the controller has decided more than so many, and some beyond what was under way. */
    void awaitMoreThan(int decided) {
        await("decisions go on", () -> decisions() > decided + 20);
    }

    /** The log keeps every invariant and, after a moment at rest, rerun decides the same. */
    void assertLogHolds() throws Exception {
        Ended verified = run("audit", "verify", "--bootstrap-servers", access.bootstrapServers());
        assertEquals(0, verified.code(), verified::text);
    }

    static void await(String what, BooleanSupplier holds) {
        long end = System.nanoTime() + PATIENCE_S * 1_000_000_000;
        while (!holds.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, () -> "within " + PATIENCE_S + " s: " + what);
            LockSupport.parkNanos(100_000_000);
        }
    }

    /** Lets the load go on for so long. */
    static void letPass(long seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("a part of the scene did not close cleanly", e);
            }
        }
        http.close();
    }
}
