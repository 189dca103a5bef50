/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.decision.Fact;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A stretch of a log between two moments, both included. An event belongs with the decisions that answer it: from a decision on means from the event
 * on that led to it.
 *
 * @param from the first moment; empty for the beginning
 * @param to the last moment; empty for the end
 */
public record Stretch(Optional<Moment> from, Optional<Moment> to) {
    /** The whole log. */
    public static final Stretch ALL = new Stretch(Optional.empty(), Optional.empty());

    /**
     * A stretch.
     *
     * @throws AuditException when it ends before it begins, as far as its two moments tell
     */
    public Stretch {
        if (from.isPresent() && to.isPresent() && from.get().isAfter(to.get())) {
            throw new AuditException(from.get() + " is after " + to.get() + ": nothing is between them", "write the earlier moment first");
        }
    }

    /**
     * This stretch, with the partitions of its moments.
     *
     * @throws AuditException when a moment is of no partition, or the two are of different ones
     */
    public Stretch in(int partitions) {
        return in(partitions, OptionalInt.empty());
    }

    /** As the other, for a question about one partition only. */
    public Stretch in(int partitions, OptionalInt only) {
        Optional<Moment> first = from.map(moment -> moment.in(partitions, only));
        OptionalInt one = first.map(Moment::onePartition).filter(OptionalInt::isPresent).orElse(only);
        return new Stretch(first, to.map(moment -> moment.in(partitions, one)));
    }

    /** The partitions that it has records of. */
    public List<Integer> chosen(int partitions) {
        for (Optional<Moment> edge : List.of(from, to)) {
            OptionalInt one = edge.map(Moment::onePartition).orElse(OptionalInt.empty());
            if (one.isPresent()) {
                return List.of(one.getAsInt());
            }
        }
        return IntStream.range(0, partitions).boxed().toList();
    }

    /**
     * The stretch of one partition.
     *
     * @throws AuditException when the partition does not have a moment, or no longer, or cannot be read
     */
    public Part of(LogSource source, Topics topics, Codec codec, int partition) {
        Stream.concat(from.stream(), to.stream()).forEach(moment -> {
            moment.requireIn(source, topics, partition);
            moment.requireNotTrimmed(source, topics, partition);
        });
        return new Part(from, to, firstEvent(source, topics, codec, from), firstEvent(source, topics, codec, to));
    }

    /** Offset of the event that belongs to a moment of offsets; 0 for others. */
    private static long firstEvent(LogSource source, Topics topics, Codec codec, Optional<Moment> edge) {
        if (edge.isEmpty() || !(edge.get() instanceof Moment.Decision(int partition, long offset))) {
            return edge.isPresent() && edge.get() instanceof Moment.Input input ? input.offset() : 0;
        }
        RecordReader<Fact> facts = codec.reader(Fact.class);
        try (RecordCursor decisions = new RecordCursor(source, topics.decisions(), partition, offset)) {
            for (LogEntry.Data data = decisions.next(); data != null; data = decisions.next()) {
                if (facts.read(data.value()) instanceof Reading.Decoded<Fact>(Fact fact)) {
                    return LogInvariants.causeOffset(fact);
                }
            }
        }
        return Long.MAX_VALUE;
    }

    /** The stretch of one partition. */
    public static final class Part {
        private final Optional<Moment> from;
        private final Optional<Moment> to;
        private final long firstEvent;
        private final long lastEvent;

        private Part(Optional<Moment> from, Optional<Moment> to, long firstEvent, long lastEvent) {
            this.from = from;
            this.to = to;
            this.firstEvent = firstEvent;
            this.lastEvent = lastEvent;
        }

        /** Whether an event is in the stretch. */
        public boolean hasEvent(long offset, long timeMs) {
            return (from.isEmpty() || isFrom(from.get(), offset, timeMs)) && (to.isEmpty() || isTo(to.get(), offset, timeMs));
        }

        private boolean isFrom(Moment moment, long offset, long timeMs) {
            return switch (moment) {
                case Moment.Time time -> timeMs >= time.ms();
                case Moment.Decision _, Moment.Input _, Moment.Bare _ -> offset >= firstEvent;
                case Moment.End _ -> false;
            };
        }

        private boolean isTo(Moment moment, long offset, long timeMs) {
            return switch (moment) {
                case Moment.Time time -> timeMs <= time.ms();
                case Moment.Decision _, Moment.Input _, Moment.Bare _ -> offset <= lastEvent;
                case Moment.End _ -> true;
            };
        }

        /** Whether no event after the one at an offset, appended at {@code timeMs}, is in the stretch. */
        public boolean endsAtEvent(long offset, long timeMs) {
            return to.isPresent() && switch (to.get()) {
                case Moment.Decision _, Moment.Input _ -> offset >= lastEvent;
                case Moment.Time time -> time.isPassed(timeMs);
                case Moment.End _, Moment.Bare _ -> false;
            };
        }

        /** Whether a decision is known to be before the stretch without a look at its bytes. */
        public boolean isBehind(long offset, long timeMs) {
            return from.isPresent() && switch (from.get()) {
                case Moment.Time time -> timeMs < time.ms();
                case Moment.Decision decision -> offset < decision.offset();
                case Moment.End _ -> true;
                case Moment.Input _, Moment.Bare _ -> false;
            };
        }

        /** Whether a decision is known to be later than the stretch without a look at its bytes. */
        public boolean isBefore(long offset, long timeMs) {
            return to.isPresent() && to.get().isBefore(offset, timeMs);
        }

        /** Whether no decision after the one at an offset, appended at {@code timeMs} as an answer to {@code cause}, is in the stretch. */
        public boolean endsAt(long offset, long timeMs, long cause) {
            return to.isPresent() && (to.get().endsAt(offset) || to.get().isPassed(timeMs)
                    || (to.get() instanceof Moment.Input input && cause > input.offset()));
        }

        /** Whether only the event that a decision answers tells whether more of the stretch follows. */
        public boolean endsByCause() {
            return to.isPresent() && to.get() instanceof Moment.Input;
        }

        /**
         * Whether a decision is in the stretch.
         *
         * @param cause offset of the event that it answers, -1 for none
         */
        public boolean hasDecision(long offset, long timeMs, long cause) {
            boolean begun = from.isEmpty() || switch (from.get()) {
                case Moment.Time time -> timeMs >= time.ms();
                case Moment.Decision decision -> offset >= decision.offset();
                case Moment.Input input -> cause >= input.offset();
                case Moment.End _, Moment.Bare _ -> false;
            };
            return begun && (to.isEmpty() || to.get().includes(offset, timeMs, cause));
        }
    }
}
