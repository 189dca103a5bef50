/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.Topics;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.StatisticsReader;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Tick;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A log of one partition in memory, read into statistics; a real broker's log is read in the tests of the command. */
class StatisticsReaderTest {
    private static final Topics TOPICS = Topics.DEFAULT;

    private final Codec codec = new Codec(Schemas.bundled());

    private LogEntry.Data record(String topic, long offset, long atMs, WireRecord value) {
        return new LogEntry.Data(offset, atMs, null, codec.encode(topic, value));
    }

    private MemoryLog log() {
        Tick tick = new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null), 5);
        TimeAdvanced advanced = new TimeAdvanced(new Envelope("clock/0", "controller/0", 0, 1, 0, 5, null, null, null), 5, 1);
        return new MemoryLog()
                .with(TOPICS.events(), List.of(record(TOPICS.events(), 0, 100, tick), new LogEntry.Passed(1, 2),
                        new LogEntry.Data(3, 300, null, "not an event".getBytes(StandardCharsets.UTF_8)), new LogEntry.Damaged(4, 5, "torn")))
                .with(TOPICS.commands(), List.of())
                .with(TOPICS.decisions(), List.of(record(TOPICS.decisions(), 0, 200, advanced)));
    }

    /** Four events: a tick, one that cannot be decoded, and two in a damaged batch; what was aborted does not count. */
    @Test
    void damagedAndUndecodableRecordsCountAsUnreadable() throws Exception {
        StatisticsReader reader = new StatisticsReader(log(), TOPICS, codec, 1);
        LogSummary.Records records = reader.read().records();

        assertEquals(4, records.events());
        assertEquals(1, records.facts());
        assertEquals(0, records.commands());
        assertEquals(3, records.unreadable());
        assertEquals(100, records.firstMs());
        assertEquals(200, records.lastMs());
        assertEquals(3, reader.recordsSoFar());
    }

    @Test
    void aFailingSourceIsAnError() {
        AuditException failed = assertThrows(AuditException.class, () -> new StatisticsReader(log().broken(), TOPICS, codec, 1).read());

        assertTrue(failed.getMessage().contains("is broken"), failed.getMessage());
    }

    @Test
    void aMissingTopicIsAnError() {
        MemoryLog events = new MemoryLog().with(TOPICS.events(), List.of());

        assertThrows(AuditException.class, () -> new StatisticsReader(events, TOPICS, codec, 1).read());
    }
}
