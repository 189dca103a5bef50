/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.schemas.WireRecord;
import java.util.List;

/** Reads and decodes a topic. Without state. */
final class BareReader {
    private BareReader() {}

    /** Number of records that decode as the family, tombstones included. */
    static <F extends WireRecord> long read(LogSource source, RecordReader<F> reader, String topic) {
        long records = 0;
        try (LogSource.Stream stream = source.openAll(topic)) {
            for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
                for (LogEntry entry : entries) {
                    if (entry instanceof LogEntry.Data data) {
                        // A tombstone has no bytes to decode.
                        records += data.value() == null || reader.read(data.value()) instanceof Reading.Decoded<F> ? 1 : 0;
                    }
                }
            }
        }
        return records;
    }
}
