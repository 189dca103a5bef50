/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentOptions;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.DirectoryOptions;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.ControllerOptions;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.MainRun;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real Prometheus scrapes a controller, a directory and an agent while an engine runs requests: the query of every panel and of every rule has
 * data, and what is scraped is on the page of metrics.
 */
@Tag("slow")
class ScrapeTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path ROOT = Path.of(System.getProperty("tierlog.root"));
    private static final long PATIENCE_S = 60;
    private static final Pattern ROW = Pattern.compile("\\| `(tierlog_[a-z0-9_]+)` \\| ([a-z]+) \\|");

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    Path directory;

    @AfterEach
    void close() throws Exception {
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
        http.close();
    }

    private <T extends AutoCloseable> T own(T part) {
        parts.push(part);
        return part;
    }

    @Test
    void everyPanelAndEveryRuleHasDataAndTheMetricsAreThoseOfThePage() throws Exception {
        Path program = PrometheusTools.require("prometheus");
        EmbeddedKafka kafka = own(EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker"))));
        KafkaAccess access = KafkaAccess.of(kafka.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 2, 1);
        }
        ControllerApp controller = own(ControllerApp.start(
                ControllerConfig.of(access, directory.resolve("controller")).with().http("127.0.0.1", 0).build()));
        DirectoryApp index = own(DirectoryApp.start(DirectoryOptions.config(OptionValues.parse(DirectoryOptions.options(), Map.of(
                LogOptions.BOOTSTRAP_SERVERS, kafka.bootstrapServers(), ControllerOptions.STATE_DIR, directory.resolve("directory").toString(),
                DirectoryOptions.LISTEN, "127.0.0.1:0", DirectoryOptions.GRPC_LISTEN, "127.0.0.1:0",
                DirectoryOptions.STATUS_LISTEN, "127.0.0.1:0")))));
        assertTrue(controller.awaitRunning(Duration.ofSeconds(PATIENCE_S)) && index.awaitRunning(Duration.ofSeconds(PATIENCE_S)));
        AgentApp agent = own(AgentApp.start(AgentConfig.of("a", kafka.bootstrapServers(), directory.resolve("store")).with(Map.of(
                AgentOptions.HOST, "64blocks", AgentOptions.BLOCK_TOKENS, 64, AgentOptions.DISK, directory.resolve("disk"),
                AgentOptions.DISK_SIZE, "64blocks",
                AgentOptions.STATUS_LISTEN, "127.0.0.1:0"))));
        agent.registered().toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);

        String prometheus = prometheus(program, controller.httpPort(), index.statusPort(), agent.statusPort());
        MainRun.Output engine = MainRun.of(directory, "engine", "--agents", "a=127.0.0.1:" + agent.enginePort(), "--requests", "20",
                "--bootstrap-servers", kafka.bootstrapServers(), "--format", "json");
        assertEquals(0, engine.code(), engine::text);

        for (Panels.Dashboard dashboard : Panels.ALL) {
            for (Panels.Panel panel : dashboard.panels()) {
                awaitData(prometheus, panel.query().replace("$__rate_interval", "1m").replace("$instance", ".*"),
                        dashboard.name() + ": " + panel.title());
            }
        }
        for (Alerts.Alert alert : Alerts.ALL) {
            if (Set.of("TierlogCertificateExpires", "TierlogHeadsOld").contains(alert.name())) {
                continue; // only processes with TLS have a certificate, and the signer is shown by RunningSignerTest
            }
            awaitData(prometheus, Alerts.measured(alert), alert.name());
        }
        for (Alerts.Recording recording : Alerts.RECORDINGS) {
            awaitData(prometheus, recording.name(), recording.name());
        }
        awaitData(prometheus, "sum(up) == 3", "all three are scraped");
        awaitData(prometheus, "sum(tierlog_agent_submitted_total) >= 20", "requests");
        assertMetricsAreOnThePage(prometheus);
    }

    private void assertMetricsAreOnThePage(String prometheus) throws Exception {
        Map<String, String> page = ROW.matcher(Files.readString(ROOT.resolve("docs/metrics.md"))).results()
                .collect(Collectors.toMap(one -> one.group(1), one -> one.group(2)));
        List<String> wrong = new ArrayList<>();
        Set<Map.Entry<String, JsonNode>> scraped = get(prometheus + "/api/v1/metadata").path("data").properties();
        assertTrue(scraped.size() > 100, () -> "only " + scraped.size());
        scraped.forEach(metric -> {
            String type = metric.getValue().path(0).path("type").asText();
            String onPage = Stream.of(metric.getKey(), metric.getKey() + "_total")
                    .filter(page::containsKey).map(page::get).findFirst().orElse("none");
            if (metric.getKey().startsWith("tierlog_") && !onPage.equals(type)) {
                wrong.add(metric.getKey() + " is a " + type + ", on the page " + onPage);
            }
        });
        assertEquals(List.of(), wrong);
    }

    /** Starts it with the rules of the tree; returns its address. */
    private String prometheus(Path program, int controllerPort, int directoryPort, int agentPort) throws Exception {
        StringBuilder yaml = new StringBuilder("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: ['")
                .append(ROOT.resolve("ops/deploy/prometheus/rules.yml")).append("']\nscrape_configs:\n");
        Map.of("tierlog-controller", controllerPort, "tierlog-directory", directoryPort, "tierlog-agent", agentPort).forEach((job, port) ->
                yaml.append("  - job_name: ").append(job).append("\n    static_configs: [{targets: ['127.0.0.1:").append(port).append("']}]\n"));
        Path config = Files.writeString(directory.resolve("prometheus.yml"), yaml);
        Path log = directory.resolve("prometheus.log");
        int port = freePort();
        Process process = new ProcessBuilder(program.toString(), "--config.file=" + config, "--storage.tsdb.path=" + directory.resolve("tsdb"),
                "--web.listen-address=127.0.0.1:" + port, "--log.level=warn").redirectErrorStream(true).redirectOutput(log.toFile()).start();
        own(() -> {
            process.destroy();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        });
        String address = "http://127.0.0.1:" + port;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (!answers(address)) {
            assertTrue(process.isAlive() && System.nanoTime() < deadline, () -> read(log));
            LockSupport.parkNanos(50_000_000);
        }
        return address;
    }

    private boolean answers(String address) throws InterruptedException {
        try {
            HttpRequest ready = HttpRequest.newBuilder(URI.create(address + "/-/ready")).timeout(Duration.ofSeconds(5)).build();
            return http.send(ready, BodyHandlers.ofString()).statusCode() == 200;
        } catch (IOException e) {
            return false; // not up yet
        }
    }

    private void awaitData(String prometheus, String query, String what) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (query(prometheus, query).isEmpty()) {
            assertTrue(System.nanoTime() < deadline, () -> what + " has no data: " + query);
            LockSupport.parkNanos(100_000_000);
        }
    }

    private JsonNode query(String prometheus, String query) throws Exception {
        JsonNode answer = get(prometheus + "/api/v1/query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8));
        assertEquals("success", answer.path("status").asText(), () -> query + ": " + answer);
        return answer.at("/data/result");
    }

    private JsonNode get(String uri) throws Exception {
        return JSON.readTree(http.send(HttpRequest.newBuilder(URI.create(uri)).timeout(Duration.ofSeconds(PATIENCE_S)).build(),
                BodyHandlers.ofString()).body());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
