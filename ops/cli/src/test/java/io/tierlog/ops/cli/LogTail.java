/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import java.nio.file.Path;

/** What a log has after its last decision: ticks only, which the clocks sent while the controller stopped. */
final class LogTail {
    private LogTail() {}

    /** Events behind the last decision of their partition, all of which must be ticks. */
    static long ticks(Path data) {
        Codec codec = new Codec(Schemas.bundled());
        RecordReader<Fact> facts = codec.reader(Fact.class);
        RecordReader<Event> events = codec.reader(Event.class);
        long ticks = 0;
        try (DirectoryLog log = new DirectoryLog(data)) {
            for (int p = 0; p < log.partitions(Topics.DEFAULT.events()); p++) {
                long decided = -1;
                try (RecordCursor decisions = new RecordCursor(log, Topics.DEFAULT.decisions(), p);
                        RecordCursor inputs = new RecordCursor(log, Topics.DEFAULT.events(), p)) {
                    for (LogEntry.Data record = decisions.next(); record != null; record = decisions.next()) {
                        decided = facts.read(record.value()) instanceof Reading.Decoded<Fact> good
                                ? LogInvariants.causeOffset(good.value()) : decided;
                    }
                    for (LogEntry.Data record = inputs.next(); record != null; record = inputs.next()) {
                        if (record.offset() > decided) {
                            Reading<Event> last = events.read(record.value());
                            assertTrue(last instanceof Reading.Decoded<Event> good && good.value() instanceof Tick, last::toString);
                            ticks++;
                        }
                    }
                }
            }
        }
        return ticks;
    }
}
