/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.KeyWriter;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.threads.LoggedLines;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** RocksDB finds its files damaged, at the start and later: they are set aside and the rows come from the changelog. */
@Tag("slow")
class CorruptStateTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private List<Path> state(String names) throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("state"))) {
            return files.filter(Files::isRegularFile).filter(file -> file.getFileName().toString().matches(names))
                    .filter(file -> !file.toString().contains("corrupt")).toList();
        }
    }

    /** Damages the largest of these files: of tables the one with the rows, since offsets have another. */
    private void damage(String names, UnaryOperator<byte[]> how) throws IOException {
        Path file = state(names).stream().max(Comparator.comparingLong(one -> one.toFile().length())).orElseThrow();
        Files.write(file, how.apply(Files.readAllBytes(file)));
    }

    private static byte[] flipped(byte[] bytes) {
        byte[] wrong = bytes.clone();
        for (int i = 0; i < Math.min(wrong.length, 20); i++) {
            wrong[i] ^= 0x55;
        }
        return wrong;
    }

    private void damagedStateIsRestored(String names, UnaryOperator<byte[]> how) throws Exception {
        Path stateDir = directory.resolve("state");
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            try (ControllerApp _ = ControllerApp.start(log.controller(stateDir).tickMs(20).build())) {
                TestLog.await("decisions", () -> decisions.of(TimeAdvanced.class).size() > 20);
            }
            for (int round = 0; round < 2; round++) {
                damage(names, how);
                int before = decisions.of(TimeAdvanced.class).size();
                try (LoggedLines lines = new LoggedLines(DamagedState.class);
                        ControllerApp app = ControllerApp.start(log.controller(stateDir).tickMs(20).build())) {
                    assertTrue(app.awaitRunning(TestLog.PATIENCE), () -> "ended: " + app.ended().getNow(null));
                    TestLog.await("it goes on", () -> decisions.of(TimeAdvanced.class).size() > before + 20);
                    String health = get(app, "/health");
                    assertTrue(health.contains("RUNNING") && health.contains("\"part\":\"state\",\"level\":\"DEGRADED\"")
                            && health.contains("damaged") && health.contains("corrupt-state"), health);
                    String metrics = get(app, "/metrics");
                    assertTrue(metrics.contains("tierlog_state_damaged_total 1.0"), metrics);
                    assertEquals(1, lines.with("the state of task 0_0 was damaged"), lines::toString);
                }
                try (Stream<Path> kept = Files.list(stateDir.resolve("corrupt-state"))) {
                    assertEquals(List.of("0_0"), kept.map(file -> file.getFileName().toString()).toList(), "one for each task");
                }
            }
            decisions.assertChained();
        }
    }

    private static String get(ControllerApp app, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + app.httpPort() + path);
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()).body();
        }
    }

    @Test
    void damageThatIsFoundAtTheStart() throws Exception {
        damagedStateIsRestored("CURRENT", bytes -> new byte[] {1, 2, 3});
    }

    @Test
    void damageThatIsFoundWhenRowsAreRead() throws Exception {
        damagedStateIsRestored(".*\\.sst", CorruptStateTest::flipped);
    }

    /** The changelog has a row that RocksDB takes and the core cannot read: the hint is about the state, not about a record to skip. */
    @Test
    void aRowOfTheChangelogThatCannotBeRead() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            ControllerConfig config = log.controller(directory.resolve("state")).tickMs(20).build();
            try (ControllerApp _ = ControllerApp.start(config)) {
                TestLog.await("decisions", () -> decisions.of(TimeAdvanced.class).size() > 20);
            }
            byte[] clock = Rows.CLOCK.encodeKey(new KeyWriter(), new RowKey.Aggregate("clock/0"));
            try (KafkaProducer<byte[], byte[]> producer =
                    new KafkaProducer<>(log.access.client(Map.of("acks", "all")), new ByteArraySerializer(), new ByteArraySerializer())) {
                String changelog = config.applicationId() + "-" + ControllerTopology.STORE + "-changelog";
                producer.send(new ProducerRecord<>(changelog, 0, clock, new byte[] {1, 2, 3})).get(30, TimeUnit.SECONDS);
            }
            log.forgetMembers(config.applicationId());
            try (ControllerApp app = ControllerApp.start(log.controller(directory.resolve("another")).tickMs(20).build())) {
                String why = String.valueOf(app.ended().get(60, TimeUnit.SECONDS).orElseThrow().getMessage());
                assertTrue(why.contains("a row of clock of 3 bytes") && why.contains(directory.resolve("another").toString())
                        && why.contains("snapshot restore"), why);
                assertFalse(why.contains("--skip-input"), why);
            }
        }
    }

    @Test
    void missingFiles() throws Exception {
        damagedStateIsRestored("MANIFEST.*", bytes -> new byte[0]);
    }
}
