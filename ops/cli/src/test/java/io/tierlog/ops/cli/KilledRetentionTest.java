/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.ops.process.ChildProcess;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Rounds of {@code log retain} while a controller decides, each killed as by {@code kill -9} four steps later than the one before: a step is what
 * others see of it, a file that comes, goes or gets its name, or a partition that begins later. After each kill the snapshots that have a name are
 * whole, log and archive verify, and each record that was there is in the log or in the archive.
 */
@Tag("slow")
@Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledRetentionTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final int PARTITIONS = 2;
    private static final int STRIDE = 4;
    private static final int MOST_STEPS = 60;
    private static final Duration ROUND = Duration.ofSeconds(90);
    private static final List<TopicPartition> WATCHED = Stream.of(TOPICS.events(), TOPICS.decisions())
            .flatMap(topic -> IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(topic, p))).toList();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path data;

    /** An event or a decision. */
    private record Place(String topic, int partition, long offset) {}

    private String succeeds(String... arguments) {
        StringWriter text = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(text)).setErr(new PrintWriter(text));
        assertEquals(0, Main.run(line, List.of(arguments), Map.of(), data), () -> String.join(" ", arguments) + ": " + text);
        return text.toString();
    }

    @Test
    void aRoundOfRetentionThatIsKilledLosesNothing() throws Exception {
        succeeds("demo", "--no-dashboard", "--seed", "7", "--requests", "40", "--nodes", "1", "--host", "60blocks", "--disk", "60blocks",
                "--partitions", String.valueOf(PARTITIONS), "--decode-us-per-token", "200", "--no-compare", "--format", "json", "--keep",
                "--data", data.toString());
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data.resolve("broker")).withPort(0));
                LogSource log = new ClusterLog(KafkaAccess.of(broker.bootstrapServers()))) {
            String servers = broker.bootstrapServers();
            Path snapshots = data.resolve("snapshots");
            Path archive = data.resolve("archive");
            succeeds("snapshot", "create", "--bootstrap-servers", servers, "--to", snapshots.toString());
            String application = SnapshotDirectory.find(snapshots).places().getFirst().applicationId();
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
                admin.removeMembersFromConsumerGroup(application, new RemoveMembersFromConsumerGroupOptions()).all().get(30, TimeUnit.SECONDS);
            }
            try (ControllerApp app = ControllerApp.start(ControllerConfig.of(KafkaAccess.of(servers), data.resolve("state"))
                    .with().applicationId(application).http("127.0.0.1", 0).tickMs(50).build())) {
                assertTrue(app.awaitRunning(Duration.ofSeconds(60)), () -> "ended: " + app.ended().getNow(null));
                Set<Place> known = new HashSet<>();
                // The other steps are tried on other days.
                int step = 1 + (int) (LocalDate.now(ZoneOffset.UTC).toEpochDay() % STRIDE);
                int killed = 0;
                while (!round(servers, log, known, step)) {
                    holds(servers, log, known, "killed at step " + step);
                    step += STRIDE;
                    killed++;
                    assertTrue(step < MOST_STEPS, "a round does not end");
                }
                holds(servers, log, known, "at the end");
                // The snapshot's files, its name and verification, the archive's files, four partitions, the oldest snapshot: a busy machine sees
                // several at once.
                assertTrue(killed > 1, "only " + killed + " rounds were killed");
                assertTrue(kept(archive).size() > 100, "the archive has " + kept(archive).size() + " records");
                System.out.printf("%d rounds were killed, the last at step %d; %d records are in the archive and %d in the log%n", killed,
                        step - STRIDE, kept(archive).size(), inLog(log).size());
            }
        }
    }

    /** Runs a round and kills it at a step; true when it came to its end before. */
    private boolean round(String servers, LogSource log, Set<Place> known, int step) throws Exception {
        known.addAll(inLog(log));
        try (ChildProcess child = ChildProcess.java("retain", ChildProcess.ownOptions(), Main.class, List.of("log", "retain",
                "--bootstrap-servers", servers, "--snapshots", data.resolve("snapshots").toString(), "--keep-hours", "0", "--keep-snapshots", "2",
                "--archive", data.resolve("archive").toString())).log(data.resolve("retain.log")).start();
                KafkaConsumer<byte[], byte[]> begins = new KafkaConsumer<>(Map.of("bootstrap.servers", servers), new ByteArrayDeserializer(),
                        new ByteArrayDeserializer())) {
            begins.assign(WATCHED);
            Set<String> before = visible(begins);
            int seen = 0;
            long deadline = System.nanoTime() + ROUND.toNanos();
            while (child.isAlive()) {
                assertTrue(System.nanoTime() < deadline, () -> "a round hangs: " + child.tail());
                Set<String> now = visible(begins);
                if (!now.equals(before)) {
                    before = now;
                    seen++;
                    if (seen >= step) {
                        child.kill();
                        return false;
                    }
                }
                LockSupport.parkNanos(200_000);
            }
            assertEquals(0, child.exitCode(), child::tail);
            return true;
        }
    }

    /** What others see of a round: names of files, and where partitions begin. */
    private Set<String> visible(Consumer<byte[], byte[]> begins) throws IOException {
        Set<String> all = new TreeSet<>();
        for (String name : List.of("snapshots", "archive")) {
            Path directory = data.resolve(name);
            if (Files.isDirectory(directory)) {
                try (Stream<Path> files = Files.walk(directory)) {
                    files.forEach(file -> all.add(file.toString()));
                } catch (java.io.UncheckedIOException e) {
                    if (!(e.getCause() instanceof NoSuchFileException)) {
                        throw e;
                    }
                    all.add("a file went while the directory was read");
                }
            }
        }
        begins.beginningOffsets(WATCHED).forEach((partition, offset) -> all.add(partition + " begins at " + offset));
        return all;
    }

    private static long begin(LogSource log, String topic, int partition) {
        try (LogSource.Stream records = log.open(topic, partition)) {
            return records.begin();
        }
    }

    private void holds(String servers, LogSource log, Set<Place> known, String when) throws Exception {
        List<Snapshot> named = new SnapshotDirectory(data.resolve("snapshots")).list();
        assertTrue(!named.isEmpty(), when);
        succeeds("snapshot", "list", data.resolve("snapshots").toString());
        List<String> verify = new ArrayList<>(List.of("audit", "verify", "--bootstrap-servers", servers));
        if (begin(log, TOPICS.decisions(), 0) > 0 || begin(log, TOPICS.decisions(), 1) > 0) {
            verify.addAll(List.of("--snapshot", data.resolve("snapshots").toString()));
        }
        succeeds(verify.toArray(String[]::new));
        if (hasRound(data.resolve("archive"))) {
            succeeds("audit", "verify", "--log", data.resolve("archive").toString());
        }
        Set<Place> there = inLog(log);
        there.addAll(kept(data.resolve("archive")));
        Set<Place> lost = new HashSet<>(known);
        lost.removeAll(there);
        assertEquals(Set.of(), lost, when);
    }

    private static Set<Place> inLog(LogSource log) {
        Set<Place> all = new HashSet<>();
        for (TopicPartition each : WATCHED) {
            try (LogSource.Stream records = log.open(each.topic(), each.partition())) {
                for (List<LogEntry> some = records.next(); !some.isEmpty(); some = records.next()) {
                    for (LogEntry entry : some) {
                        if (entry instanceof LogEntry.Data record) {
                            all.add(new Place(each.topic(), each.partition(), record.offset()));
                        }
                    }
                }
            }
        }
        return all;
    }

    /** The records in the archive; none before its first round is over. */
    private static Set<Place> kept(Path archive) {
        if (!hasRound(archive)) {
            return new HashSet<>();
        }
        try (LogSource files = new DirectoryLog(archive)) {
            return inLog(files);
        }
    }

    private static boolean hasRound(Path archive) {
        if (!Files.exists(archive.resolve("archive.properties"))) {
            return false;
        }
        try (LogSource files = new DirectoryLog(archive)) {
            return files.hasTopic(TOPICS.decisions());
        }
    }
}
