/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Topics;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Decision;
import io.tierlog.schemas.event.Event;
import java.util.List;

/** Reads and decodes the two topics of a partition, one after the other. Without state. */
final class BareReader {
    private BareReader() {}

    /** Records decoded. */
    static long read(LogSource source, Codec codec, Topics topics, int partition) {
        return read(source, codec.reader(Event.class), topics.events(), partition)
                + read(source, codec.reader(Decision.class), topics.decisions(), partition);
    }

    private static <F extends WireRecord> long read(LogSource source, RecordReader<F> reader, String topic, int partition) {
        long decoded = 0;
        try (LogSource.Stream stream = source.open(topic, partition)) {
            for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
                for (LogEntry entry : entries) {
                    if (entry instanceof LogEntry.Data data && reader.read(data.value()) instanceof Reading.Decoded<F>) {
                        decoded++;
                    }
                }
            }
        }
        return decoded;
    }
}
