/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.StoredRows;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.ControllerException;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The log of a demo, trimmed, and changelog and state directory lost: the controller goes on from a snapshot as if nothing had been lost. */
@Tag("slow")
class SnapshotRestoreTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final int PARTITIONS = 2;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path data;

    private record Answer(int exitCode, String out, String err) {}

    private Answer run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return new Answer(Main.run(line, List.of(arguments), Map.of(), data), out.toString(), err.toString());
    }

    private void succeeds(String... arguments) {
        Answer answer = run(arguments);
        assertEquals(0, answer.exitCode(), answer.toString());
    }

    /** The rows of a changelog; of placements those that the runs have, since another instance may cut other runs. */
    private static Map<String, String> rows(LogSource log, String changelog) {
        Map<String, String> rows = new TreeMap<>();
        stored(log, changelog).forEach((key, value) -> {
            byte[] bytes = HexFormat.of().parseHex(key);
            if (StoredRows.tableOf(bytes) == Rows.PLACEMENTS) {
                StoredRows.placements(bytes, HexFormat.of().parseHex(value)).forEach((block, row) -> {
                    String twice = rows.put(block.toString(), row.toString());
                    assertNull(twice, "a block is in two runs: " + block);
                });
            } else {
                rows.put(key, value);
            }
        });
        return rows;
    }

    /** The last value of each row in the changelog, without the shell's own but the counts of decisions. */
    private static Map<String, String> stored(LogSource log, String changelog) {
        Map<String, String> rows = new TreeMap<>();
        try (LogSource.Stream all = log.openAll(changelog)) {
            for (List<LogEntry> some = all.next(); !some.isEmpty(); some = all.next()) {
                for (LogEntry entry : some) {
                    if (entry instanceof LogEntry.Data data && data.key() != null) {
                        String key = HexFormat.of().formatHex(data.key());
                        if (data.value() == null) {
                            rows.remove(key);
                        } else if (!key.startsWith("ff") || key.startsWith("ff64")) {
                            rows.put(key, HexFormat.of().formatHex(data.value()));
                        }
                    }
                }
            }
        }
        return rows;
    }

    private static long decisions(LogSource log) {
        long end = 0;
        for (int p = 0; p < PARTITIONS; p++) {
            try (LogSource.Stream decisions = log.open(TOPICS.decisions(), p)) {
                end += decisions.end();
            }
        }
        return end;
    }

    private static List<Long> begins(LogSource log, String topic) {
        List<Long> begins = new ArrayList<>();
        for (int p = 0; p < PARTITIONS; p++) {
            try (LogSource.Stream records = log.open(topic, p)) {
                begins.add(records.begin());
            }
        }
        return begins;
    }

    private static void decidesOn(ControllerConfig config, LogSource log) throws Exception {
        long before = decisions(log);
        try (ControllerApp app = ControllerApp.start(config)) {
            assertTrue(app.awaitRunning(Duration.ofSeconds(60)), () -> "ended: " + app.ended().getNow(null));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (decisions(log) < before + 6) {
                assertTrue(System.nanoTime() < deadline && !app.ended().isDone(), () -> "ended: " + app.ended().getNow(null));
                LockSupport.parkNanos(20_000_000);
            }
        }
    }

    private static void forgetMembers(Admin admin, String group) throws Exception {
        admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions()).all().get(30, TimeUnit.SECONDS);
    }

    @Test
    void aControllerGoesOnFromASnapshotOfATrimmedLog() throws Exception {
        Path snapshots = data.resolve("snapshots");
        succeeds("demo", "--no-dashboard", "--seed", "7", "--requests", "40", "--nodes", "1", "--host", "60blocks", "--disk", "60blocks",
                "--partitions", String.valueOf(PARTITIONS), "--decode-us-per-token", "200", "--no-compare", "--format", "json", "--keep",
                "--data", data.toString());
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data.resolve("broker")).withPort(0));
                LogSource log = new ClusterLog(KafkaAccess.of(broker.bootstrapServers()));
                Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            String[] cluster = {"--bootstrap-servers", broker.bootstrapServers()};
            succeeds("snapshot", "create", cluster[0], cluster[1], "--to", snapshots.toString());
            Snapshot snapshot = SnapshotDirectory.find(snapshots);
            String application = snapshot.places().getFirst().applicationId();
            String changelog = application + "-tierlog-state-changelog";
            ControllerConfig.Builder controller = ControllerConfig.of(KafkaAccess.of(broker.bootstrapServers()), data.resolve("first"))
                    .with().applicationId(application).http("127.0.0.1", 0).tickMs(50);
            forgetMembers(admin, application);
            decidesOn(controller.build(), log);
            forgetMembers(admin, application);
            Map<String, String> before = rows(log, changelog);
            assertTrue(before.size() > 100, before.size() + " rows");

            Answer running = run("snapshot", "restore", cluster[0], cluster[1], "--from", snapshots.toString());
            assertTrue(running.exitCode() == 1 && running.err().contains("has rows"), running.toString());

            admin.deleteTopics(List.of(changelog)).all().get(30, TimeUnit.SECONDS);
            String[] trim = {"log", "trim", cluster[0], cluster[1], "--before", snapshot.directory().toString(), "--keep-hours", "0"};
            Answer early = run(trim);
            assertTrue(early.exitCode() == 2 && early.err().contains("not verified"), early.toString());
            succeeds("snapshot", "verify", cluster[0], cluster[1], snapshot.directory().toString());
            succeeds(Stream.concat(Stream.of(trim), Stream.of("--dry-run")).toArray(String[]::new));
            succeeds("log", "trim", cluster[0], cluster[1], "--before", snapshot.directory().toString());
            assertEquals(List.of(0L, 0L), begins(log, TOPICS.events()), "a dry run deletes nothing, and all records are younger than a day");
            succeeds(trim);
            assertEquals(snapshot.places().stream().map(PartitionStart.At::lastEvent).toList(), begins(log, TOPICS.events()));
            assertEquals(snapshot.places().stream().map(PartitionStart.At::lastDecision).toList(), begins(log, TOPICS.decisions()));
            Answer without = run("audit", "verify", cluster[0], cluster[1], "--no-placements");
            assertTrue(without.exitCode() == 2 && without.err().contains("--snapshot"), without.toString());

            succeeds("snapshot", "restore", cluster[0], cluster[1], "--from", snapshots.toString());
            assertEquals(before, rows(log, changelog), "rows and counts are those that were lost");
            ControllerConfig another = ControllerConfig.of(KafkaAccess.of(broker.bootstrapServers()), data.resolve("second"))
                    .with().applicationId(application).http("127.0.0.1", 0).tickMs(50).build();
            appendGarbage(broker.bootstrapServers());
            decidesOn(another, log);
            for (String what : List.of("verify", "rerun")) {
                succeeds("audit", what, cluster[0], cluster[1], "--snapshot", snapshot.directory().toString());
            }

            forgetMembers(admin, application);
            retentionLeavesWhatFollowsItsSnapshot(cluster, log, snapshots);
            admin.deleteTopics(List.of(changelog)).all().get(30, TimeUnit.SECONDS);
            try (ControllerApp app = ControllerApp.start(ControllerConfig.of(KafkaAccess.of(broker.bootstrapServers()), data.resolve("third"))
                    .with().applicationId(application).http("127.0.0.1", 0).build())) {
                Throwable end = app.ended().get(60, TimeUnit.SECONDS).orElseThrow();
                String message = String.valueOf(assertInstanceOf(ControllerException.StateLost.class, end).getMessage());
                assertTrue(message.contains("snapshot restore"), message);
            }
        }
    }

    private static void appendGarbage(String servers) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Map.of("bootstrap.servers", servers), new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(TOPICS.events(), 0, null, "garbage".getBytes(StandardCharsets.UTF_8))).get();
        }
    }

    private static List<String> values(LogSource log, String topic) {
        List<String> values = new ArrayList<>();
        try (RecordCursor records = new RecordCursor(log, topic, 0)) {
            for (LogEntry.Data data = records.next(); data != null; data = records.next()) {
                values.add(data.value() == null ? "" : new String(data.value(), StandardCharsets.UTF_8));
            }
        }
        return values;
    }

    /** Two rounds: each trims up to a snapshot of its own, and has added to the archive before. */
    private void retentionLeavesWhatFollowsItsSnapshot(String[] cluster, LogSource log, Path snapshots) throws Exception {
        Path archive = data.resolve("archive");
        List<Long> before = begins(log, TOPICS.decisions());
        String[] retain = {"log", "retain", cluster[0], cluster[1], "--snapshots", snapshots.toString(), "--keep-hours", "0", "--keep-snapshots", "2",
            "--archive", archive.toString()};
        Answer wrong = run("log", "retain", cluster[0], cluster[1], "--snapshots", snapshots.toString(), "--keep-snapshots", "0");
        assertTrue(wrong.exitCode() == 2 && wrong.err().contains("--keep-snapshots: '0'"), wrong.toString());
        succeeds("log", "retain", cluster[0], cluster[1], "--snapshots", snapshots.toString(), "--keep-hours", "0", "--dry-run");
        assertEquals(before, begins(log, TOPICS.decisions()), "a dry run deletes nothing");
        succeeds(retain);
        Snapshot last = SnapshotDirectory.find(snapshots);
        assertEquals(last.places().stream().map(PartitionStart.At::lastDecision).toList(), begins(log, TOPICS.decisions()));
        assertNotEquals(before, begins(log, TOPICS.decisions()));
        succeeds(retain);
        assertEquals(2, new SnapshotDirectory(snapshots).list().size());
        succeeds("audit", "verify", cluster[0], cluster[1], "--snapshot", snapshots.toString());
        try (LogSource files = new DirectoryLog(archive)) {
            assertEquals(before, begins(files, TOPICS.decisions()), "the archive has what was trimmed");
            assertTrue(values(files, TOPICS.events()).contains("garbage"), "what cannot be decoded is in the archive too");
        }
        succeeds("audit", "verify", "--log", archive.toString(), "--snapshot", snapshots.toString());
        String verified = SnapshotDirectory.find(snapshots).name();
        succeeds("snapshot", "create", cluster[0], cluster[1], "--to", snapshots.toString());
        new SnapshotDirectory(snapshots).keep(1);
        assertEquals(List.of(verified, SnapshotDirectory.find(snapshots).name()),
                new SnapshotDirectory(snapshots).list().stream().map(Snapshot::name).toList(), "the next one is verified from it");
    }
}
