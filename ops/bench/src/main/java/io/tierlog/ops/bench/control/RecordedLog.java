/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.List;
import java.util.Map;

/**
 * The events of a log. In a new log, at the same offsets, they lead to the same decisions again: ids follow from partition and offset. Immutable.
 *
 * @param partitions of the log
 * @param records the events, those of a partition in its order
 * @param warmUp how many of them come before what is measured
 * @param mix what is measured
 * @param decisions what the events lead to, by type
 */
record RecordedLog(int partitions, List<Entry> records, int warmUp, Mix mix, Map<String, Long> decisions) {
    RecordedLog {
        records = List.copyOf(records);
        decisions = Map.copyOf(decisions);
    }

    /**
     * An event.
     *
     * @param burst number of the batch in which its agent sent it; agents send what one command or call leads to together
     */
    @SuppressWarnings("ArrayRecordComponent") // Sent once or often, never compared.
    record Entry(int partition, byte[] key, byte[] value, long burst) {}

    /**
     * What the measured events are.
     *
     * @param requests submissions of a first attempt
     * @param promptBlocks whole blocks of their prompts, all together
     * @param events by type
     */
    record Mix(long requests, long promptBlocks, Map<String, Long> events) {
        Mix {
            events = Map.copyOf(events);
        }

        /** All events. */
        long total() {
            return events.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Events of this type for each request. */
        double perRequest(String type) {
            return requests == 0 ? 0 : events.getOrDefault(type, 0L) / (double) requests;
        }
    }

    /** How many events each partition has. */
    long[] ends() {
        return ends(partitions, records);
    }

    static long[] ends(int partitions, List<Entry> records) {
        long[] ends = new long[partitions];
        records.forEach(record -> ends[record.partition()]++);
        return ends;
    }

    /** What is measured of so many records at its end, if the mix is the same all along. */
    double requestsIn(long measured) {
        return mix.total() == 0 ? 0 : measured * (double) mix.requests() / mix.total();
    }
}
