/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.ServerException;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.schemas.Tier;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The live page on an embedded broker: its totals are those of {@code audit stats}, also after a restart and with a lost state directory. */
@Tag("slow")
class DashboardAppTest {
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    static Path directory;

    private static LogScene log;
    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void start() {
        log = new LogScene(directory.resolve("kafka"));
    }

    @AfterAll
    static void stop() {
        log.close();
    }

    private JsonNode get(DashboardApp app, String path) throws IOException, InterruptedException {
        HttpResponse<String> answer = client.send(HttpRequest.newBuilder(URI.create(app.url() + path)).build(), HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), answer.body());
        return JSON.readTree(answer.body());
    }

    private JsonNode await(DashboardApp app, String path, Predicate<JsonNode> reached) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NS;
        JsonNode last = get(app, path);
        while (!reached.test(last)) {
            assertTrue(System.nanoTime() < deadline, () -> "the page did not get there: " + path);
            LockSupport.parkNanos(50_000_000);
            last = get(app, path);
        }
        return last;
    }

    private void totalsAreThoseOf(LogSummary audit, DashboardApp app) throws IOException, InterruptedException {
        JsonNode total = await(app, "api/overview?minutes=1440",
                page -> page.at("/total/records/events").asLong() == audit.records().events()
                        && page.at("/total/records/facts").asLong() == audit.records().facts()).path("total");
        assertEquals(audit.requests().submitted(), total.path("submitted").asLong());
        assertEquals(audit.requests().waitsExpired(), total.path("waitsExpired").asLong());
        assertEquals(audit.requests().hits().ratio(), total.path("hitRatio").asDouble(), 1e-9);
        assertEquals(audit.requests().hits().device(), total.at("/blocks/device").asLong());
        assertEquals(audit.requests().hits().host(), total.at("/blocks/host").asLong());
        assertEquals(audit.requests().hits().store(), total.at("/blocks/store").asLong());
        assertEquals(audit.requests().hits().computed(), total.at("/blocks/computed").asLong());
        audit.operations().byKind().forEach((kind, counts) ->
                assertEquals(counts.started(), total.at("/operations/" + kind + "/started").asLong(), kind.name()));
        long evicted = audit.placements().evictionsOfAll().values().stream().mapToLong(LogSummary.Evicted::blocks).sum();
        long shown = 0;
        for (JsonNode each : total.path("evicted")) {
            shown += each.path("blocks").asLong();
        }
        assertEquals(evicted, shown);
    }

    @Test
    void theTotalsAreThoseOfTheAuditAfterARestartAndWithALostStateDirectory() throws Exception {
        Path state = directory.resolve("state");
        List<ProducerRecord<byte[], byte[]>> records = LogScene.episode(5);
        int third = records.size() / 3;
        log.append(records.subList(0, third));
        try (DashboardApp app = log.page(state, 0)) {
            totalsAreThoseOf(log.audit(), app);
            log.append(records.subList(third, 2 * third));
            totalsAreThoseOf(log.audit(), app);
            JsonNode nodes = get(app, "api/nodes").path("nodes");
            assertTrue(nodes.size() > 0);
            assertTrue(nodes.get(0).path("tiers").findValuesAsText("tier").contains(Tier.HOST.name()));
            String name = nodes.get(0).path("node").asText();
            assertEquals(name, get(app, "api/node?node=" + name).path("node").asText());
            assertTrue(get(app, "api/requests").path("requests").size() > 0);
            assertEquals(LogScene.PARTITIONS, get(app, "api/log").path("partitionRates").size());
        }
        log.append(records.subList(2 * third, records.size()));
        LogSummary all = log.audit();
        try (DashboardApp app = log.page(state, 0)) {
            totalsAreThoseOf(all, app);
        }
        delete(state);
        try (DashboardApp app = log.page(state, 0)) {
            totalsAreThoseOf(all, app);
        }
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void pagesAreStreamedAndRefusalsSayWhatToDo() throws Exception {
        try (DashboardApp app = log.page(directory.resolve("other"), 0)) {
            HttpResponse<String> page = client.send(HttpRequest.newBuilder(URI.create(app.url())).build(), HttpResponse.BodyHandlers.ofString());
            assertTrue(page.headers().firstValue("Content-Security-Policy").orElse("").contains("script-src 'self'"));
            HttpResponse<InputStream> live = client.send(
                    HttpRequest.newBuilder(URI.create(app.url() + "api/live?page=nodes")).build(), HttpResponse.BodyHandlers.ofInputStream());
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(live.body(), StandardCharsets.UTF_8))) {
                assertEquals("event: page", lines.readLine());
                assertEquals("nodes", JSON.readTree(lines.readLine().substring("data: ".length())).path("page").asText());
            }
            for (String bad : List.of("api/live?page=nothing", "api/live?page=overview&at=5", "api/nodes?at=-5", "api/nodes?at=")) {
                assertEquals(400, status(app, bad, Optional.empty()), bad);
            }
            long deadline = System.nanoTime() + PATIENCE_NS;
            int unknown = status(app, "api/node?node=no-such-node", Optional.empty());
            while (unknown == 503 && System.nanoTime() < deadline) { // until its rows are restored
                LockSupport.parkNanos(50_000_000);
                unknown = status(app, "api/node?node=no-such-node", Optional.empty());
            }
            assertEquals(404, unknown);
            assertEquals(403, status(app, "api/overview", Optional.of("http://attacker.example")));
            ServerException taken = assertThrows(ServerException.class,
                    () -> DashboardApp.start(DashboardConfig.of(log.access(), LogScene.TOPICS, directory.resolve("third"), app.port())));
            assertTrue(taken.getMessage().contains("--dashboard-listen"), taken.getMessage());
            // As the demo does: the same state directory at any free address.
            DashboardApp.start(DashboardConfig.of(log.access(), LogScene.TOPICS, directory.resolve("third"), 0)).close();
        }
        DashboardConfig good = DashboardConfig.of(log.access(), LogScene.TOPICS, directory.resolve("open"), 0);
        assertThrows(IllegalArgumentException.class, () -> new DashboardConfig(good.kafka(), good.topics(), good.registry(), good.applicationId(),
                good.stateDir(), new Endpoint("0.0.0.0", 0), AccessRules.OPEN, false, Optional.empty(), Optional.empty(),
                FoldLimits.DEFAULTS, good.tls()));
    }

    @Test
    void aPageStartedWhenAskedReadsTheLogFromTheFirstPageOn() throws Exception {
        // A log of its own: two episodes give the same names to other requests, and what is counted would depend on the order of reading.
        try (LogScene own = new LogScene(directory.resolve("own-kafka"))) {
            own.append(LogScene.episode(6));
            DashboardConfig config = DashboardConfig.of(own.access(), LogScene.TOPICS, directory.resolve("asked"), 0);
            DashboardApp.startWhenAsked(config).close(); // before any page
            try (DashboardApp app = DashboardApp.startWhenAsked(config)) {
                HttpRequest page = HttpRequest.newBuilder(URI.create(app.url())).build();
                assertEquals(200, client.send(page, HttpResponse.BodyHandlers.ofString()).statusCode());
                assertFalse(app.reading(), "the files of the page say nothing of the log");
                totalsAreThoseOf(own.audit(), app);
                assertTrue(app.reading());
            }
            try (DashboardApp app = DashboardApp.startWhenAsked(config)) {
                HttpResponse<InputStream> live = client.send(
                        HttpRequest.newBuilder(URI.create(app.url() + "api/live?page=nodes")).build(), HttpResponse.BodyHandlers.ofInputStream());
                try (InputStream body = live.body()) {
                    assertTrue(body.read() >= 0);
                    assertTrue(app.reading(), "a stream asks as well");
                }
            }
        }
    }

    private int status(DashboardApp app, String path, Optional<String> origin) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(app.url() + path));
        origin.ifPresent(name -> request.header("Origin", name));
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode();
    }
}
