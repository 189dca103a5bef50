/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The last decisions of a partition, compared with the state that shall end with them.
 *
 * <pre>
 *   last record that is the state's last about its aggregate: the state ends here
 *   a record after it that follows the state:                  a decision that the state has lost
 *   a record after it that the state must have and has not:    decisions are lost, or not shown yet
 *   any other record after it, and each one before it that
 *   does not fit the chain of its aggregate:                   foreign, no controller of this log has written it
 * </pre>
 *
 * <p>What follows the first lost decision cannot hide it: right after its end, the state knows the next number and checksum of every aggregate.
 *
 * @param last the decision that the state ends with; null when none of these, or when decisions after it are lost
 * @param foreign records that no controller of this log has written, in their order
 */
record DecisionTail(DecisionTail.@Nullable Entry last, List<DecisionTail.Entry> foreign) {
    /**
     * A committed record.
     *
     * @param offset its offset
     * @param envelope its envelope; null when it cannot be read
     * @param stamp its number and checksum
     */
    record Entry(long offset, @Nullable Envelope envelope, RecordStamp stamp) {}

    /** Compares records, in their order, with the state's last number and checksum of each aggregate. */
    static DecisionTail of(List<Entry> tail, Function<String, RecordStamp> state) {
        int end = tail.size() - 1;
        while (end >= 0 && !isLastOf(tail.get(end), state)) {
            end--;
        }
        Entry last = end < 0 ? null : tail.get(end);
        List<Entry> foreign = new ArrayList<>();
        for (Entry after : tail.subList(end + 1, tail.size())) {
            Envelope envelope = after.envelope();
            if (envelope == null || !isForeign(envelope, tail.subList(0, end + 1), state)) {
                return new DecisionTail(null, List.of());
            }
            foreign.add(after);
        }
        foreign.addAll(0, unchained(tail.subList(0, end + 1), state));
        return new DecisionTail(last, List.copyOf(foreign));
    }

    private static boolean isLastOf(Entry one, Function<String, RecordStamp> state) {
        return one.envelope() != null && one.stamp().equals(state.apply(one.envelope().aggregate()));
    }

    private static boolean isForeign(Envelope after, List<Entry> before, Function<String, RecordStamp> state) {
        RecordStamp known = state.apply(after.aggregate());
        if (after.sequence() > known.sequence()) {
            return !known.precedes(after);
        }
        return before.stream().anyMatch(one -> Optional.ofNullable(one.envelope()).filter(e -> e.aggregate().equals(after.aggregate())).isPresent()
                && one.stamp().equals(known));
    }

    /** Those that are not in the chain of their aggregate, which is followed back from the state. */
    private static List<Entry> unchained(List<Entry> known, Function<String, RecordStamp> state) {
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
