/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.RecordStamp;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.Envelope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tells decisions from records that no controller of this log has written, by the number and checksum of the last decision about each aggregate,
 * which the state has.
 *
 * <pre>
 *   after the last decision of the state:
 *     the next one of its aggregate:          a decision that the state has lost, or a record that looks like one
 *     any other:                              foreign
 *   before it:
 *     in the chain back from the state:       a decision
 *     any other:                              foreign
 * </pre>
 *
 * <p>What comes between cannot hide a lost decision: right after the end of the state, its first one follows the state.
 */
final class DecisionTail {
    private DecisionTail() {}

    /**
     * A committed record.
     *
     * @param offset its offset
     * @param envelope its envelope; null when it is no decision at all
     * @param stamp its number and checksum
     */
    record Entry(long offset, @Nullable Envelope envelope, RecordStamp stamp) {}

    /** Counts records that no controller of this log has written. For one thread. */
    static final class Foreign {
        private long count;
        private long first;
        private long last;

        void add(Entry entry) {
            first = count == 0 ? entry.offset() : first;
            last = entry.offset();
            count++;
        }

        long count() {
            return count;
        }

        /** Offset of the first one. */
        long first() {
            return first;
        }

        /** Offset of the last one. */
        long last() {
            return last;
        }
    }

    /** Checksum of a decision as its successor carries it; 0 for what is too short to be one. */
    static int crc32c(byte @Nullable [] value) {
        return value == null || value.length < WireFormat.HEADER_BYTES ? 0 : RecordStamp.crc32cOfFramed(value);
    }

    /** Whether a record after the last decision of the state may be a decision that the state has lost. */
    static boolean mayBeLost(Envelope after, Function<String, RecordStamp> state) {
        return state.apply(after.aggregate()).precedes(after);
    }

    /** Those, in their order, that are not in the chain of their aggregate, which is followed back from the state; the last one is its last. */
    static List<Entry> unchained(List<Entry> known, Function<String, RecordStamp> state) {
        Map<String, RecordStamp> expected = new HashMap<>();
        List<Entry> foreign = new ArrayList<>();
        for (Entry one : known.reversed()) {
            Envelope envelope = one.envelope();
            if (envelope != null && one.stamp().equals(expected.computeIfAbsent(envelope.aggregate(), state))) {
                expected.put(envelope.aggregate(), new RecordStamp(envelope.sequence() - 1, envelope.previousCrc32c()));
            } else {
                foreign.add(one);
            }
        }
        return foreign.reversed();
    }
}
