/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.Stretch;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.TimeAdvanced;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stretches of a log of two partitions, written and read back. In partition 0 block 0 serves from offset 1 on, and block 1 from 3 to 5; offsets 2
 * and 7 cannot be decoded, and 8 to 9 are damaged. In partition 1 block 2 serves from offset 0 on, and nothing else happens. The decision at offset n
 * has the time 1,000 + 10 n.
 */
class ExporterTest {
    private static final Topics TOPICS = Topics.DEFAULT;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final Codec codec = new Codec(Schemas.bundled());
    private int exports;

    private static Envelope envelope(String aggregate) {
        return new Envelope(aggregate, "controller/0", 0, 1, 0, 5, null, null, null, null);
    }

    private static Block block(int index) {
        return new Block(index, Bytes.copyOf(new byte[] {(byte) index, 0, 0, 0, 0, 0, 0, 0}), Bytes.EMPTY);
    }

    private static Fact placed(int index) {
        return new BlocksPlaced(envelope("node/a"), Tier.HOST, "chat", List.of(new PagedBlock(block(index), index, 1, 0)), null, Tier.UNKNOWN, 0);
    }

    private static Fact tick(int tick) {
        return new TimeAdvanced(envelope("clock/0"), tick, tick);
    }

    private LogEntry data(int offset, Fact fact) {
        return new LogEntry.Data(offset, 1_000 + 10 * offset, null, codec.encode(TOPICS.decisions(), fact));
    }

    private static LogEntry unreadable(int offset) {
        return new LogEntry.Data(offset, 1_000 + 10 * offset, null, new byte[] {9});
    }

    private MemoryLog log() {
        List<LogEntry> first = new ArrayList<>(List.of(data(0, tick(1)), data(1, placed(0)), unreadable(2), data(3, placed(1)), data(4, tick(2)),
                data(5, new BlocksRemoved(envelope("node/a"), Tier.HOST, "chat", RemovalReason.QUOTA, List.of(block(1)), 0)), data(6, tick(3)),
                unreadable(7), new LogEntry.Damaged(8, 9, "torn")));
        return new MemoryLog().withPartition(TOPICS.decisions(), first).withPartition(TOPICS.decisions(), List.of(data(0, placed(2))))
                .withPartition(TOPICS.events(), List.of()).withPartition(TOPICS.events(), List.of());
    }

    private Exporter exporter(Moment from, Moment to) {
        Exporter exporter = new Exporter(log(), TOPICS, codec);
        exports++;
        exporter.write(directory.resolve("out" + exports), new Stretch(Optional.of(from), Optional.of(to)));
        return exporter;
    }

    private List<GenericRecord> rows(String table) throws IOException {
        List<GenericRecord> rows = new ArrayList<>();
        try (DataFileReader<GenericRecord> reader = new DataFileReader<>(directory.resolve("out" + exports).resolve(table + ".avro").toFile(),
                new GenericDatumReader<>())) {
            reader.forEach(rows::add);
        }
        return rows;
    }

    private List<String> placements() throws IOException {
        return rows("placements").stream().map(row -> row.get("partition") + " " + row.get("index") + " " + row.get("tier") + " "
                + row.get("placed_offset") + " to " + row.get("removed_offset") + " " + row.get("reason")).sorted().toList();
    }

    /** The stretch of offsets 3 to 6 is whole: what is unreadable behind it is counted, and what is unreadable or damaged after it is not read. */
    @Test
    void aStretchWithoutTheUnreadableDecisionsIsExported() throws Exception {
        Exporter exporter = exporter(new Moment.Decision(0, 3), new Moment.Decision(0, 6));

        assertEquals(1, exporter.unreadableBefore());
        assertEquals(List.of(3L, 4L, 5L, 6L), rows("decisions").stream().map(row -> row.get("offset")).toList());
        assertEquals(List.of("0 0 HOST 1 to null null", "0 1 HOST 3 to 5 QUOTA"), placements());
        assertEquals(List.of("HOST null", "null null", "HOST QUOTA", "null null"),
                rows("decisions").stream().map(row -> row.get("tier") + " " + row.get("reason")).toList());

        AuditException refused = assertThrows(AuditException.class, () -> exporter(new Moment.Decision(0, 1), new Moment.Decision(0, 6)));
        assertTrue(refused.getMessage().startsWith("tierlog.decisions-0@2 cannot be decoded"), refused.getMessage());
    }

    /** From 1,043 to 1,047 nothing is decided: blocks 0 and 1 serve in partition 0, and block 2 in partition 1. */
    @Test
    void aStretchWithoutADecisionHasWhatServed() throws Exception {
        MemoryLog log = log();
        Exporter exporter = new Exporter(new MemoryLog()
                .withPartition(TOPICS.decisions(), entries(log, 0).subList(0, 8)).withPartition(TOPICS.decisions(), entries(log, 1))
                .withPartition(TOPICS.events(), List.of()).withPartition(TOPICS.events(), List.of()), TOPICS, codec);
        exports++;
        exporter.write(directory.resolve("out" + exports),
                new Stretch(Optional.of(new Moment.Time(1_043)), Optional.of(new Moment.Time(1_047))));

        assertEquals(List.of(), rows("decisions"));
        assertEquals(List.of("0 0 HOST 1 to null null", "0 1 HOST 3 to null null", "1 2 HOST 0 to null null"), placements());
    }

    /** A decision more than an hour after the stretch ends it: what follows is damaged. */
    @Test
    void aStretchToATimeEndsAnHourAfterIt() throws Exception {
        List<LogEntry> first = new ArrayList<>(entries(log(), 0).subList(0, 2));
        first.add(new LogEntry.Data(2, 1_021 + Moment.CLOCKS_DIFFER_MS, null, codec.encode(TOPICS.decisions(), tick(2))));
        first.add(new LogEntry.Damaged(3, 4, "torn"));
        Exporter exporter = new Exporter(new MemoryLog().with(TOPICS.decisions(), first).with(TOPICS.events(), List.of()), TOPICS, codec);
        exports++;
        exporter.write(directory.resolve("out" + exports), new Stretch(Optional.empty(), Optional.of(new Moment.Time(1_020))));

        assertEquals(2, rows("decisions").size());
    }

    private static List<LogEntry> entries(MemoryLog log, int partition) {
        List<LogEntry> all = new ArrayList<>();
        try (var stream = log.open(TOPICS.decisions(), partition)) {
            for (List<LogEntry> next = stream.next(); !next.isEmpty(); next = stream.next()) {
                all.addAll(next);
            }
        }
        return all;
    }
}
