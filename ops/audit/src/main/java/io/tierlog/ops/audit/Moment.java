/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.events.topic.Topics;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.OptionalInt;
import java.util.function.ObjLongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A moment of a log, as people write it. Each partition has its own offsets and its own decisions, so an offset is a moment of one partition, and a
 * time is one of all of them.
 */
public sealed interface Moment {
    /** What a moment may be, for help texts and hints. */
    String FORMS = "PARTITION:OFFSET of a decision, TOPIC-PARTITION@OFFSET as other audit commands print it, a time such as 2026-01-31T12:00:00Z,"
            + " or end";

    /** After the last decision that the log has. */
    record End() implements Moment {
        @Override
        public String toString() {
            return "end";
        }
    }

    /**
     * Before the first decision of each partition that was appended later.
     *
     * @param ms milliseconds since 1970
     */
    record Time(long ms) implements Moment {
        @Override
        public String toString() {
            return Instant.ofEpochMilli(ms).toString();
        }
    }

    /** After the decision at an offset of a partition of the decisions topic; between two decisions, after the one before. */
    record Decision(int partition, long offset) implements Moment {
        @Override
        public String toString() {
            return partition + ":" + offset;
        }
    }

    /** After all decisions that answer the events of a partition up to an offset of the events topic. */
    record Input(int partition, long offset) implements Moment {
        @Override
        public String toString() {
            return "events-" + partition + "@" + offset;
        }
    }

    /** An offset without a partition: a moment only where one partition is meant. */
    record Bare(long offset) implements Moment {
        @Override
        public String toString() {
            return "offset " + offset;
        }
    }

    /**
     * How much earlier, in milliseconds, the time of a record may be than that of a record before it: the clocks of senders differ. A broker refuses
     * by default what is more than that ahead of its own clock.
     */
    long CLOCKS_DIFFER_MS = 3_600_000;

    /** What {@link #parse} needs beside the text. */
    Pattern NUMBER = Pattern.compile("\\d{1,18}");

    /** As above. */
    Pattern SHORT = Pattern.compile("(\\d{1,9}):(\\d{1,18})");

    /** As above. */
    Pattern PRINTED = Pattern.compile("(.+)-(\\d{1,9})@(\\d{1,18})");

    /**
     * Reads a moment.
     *
     * @param flag which names it in the message
     * @throws AuditException when it is none; the hint says what to write
     */
    static Moment parse(String flag, String text, Topics topics) {
        if (text.equals("end")) {
            return new End();
        }
        if (NUMBER.matcher(text).matches()) {
            return new Bare(Long.parseLong(text));
        }
        Matcher pair = SHORT.matcher(text);
        if (pair.matches()) {
            return new Decision(Integer.parseInt(pair.group(1)), Long.parseLong(pair.group(2)));
        }
        Matcher printed = PRINTED.matcher(text);
        if (printed.matches()) {
            int partition = Integer.parseInt(printed.group(2));
            long offset = Long.parseLong(printed.group(3));
            if (printed.group(1).equals(topics.decisions())) {
                return new Decision(partition, offset);
            }
            if (printed.group(1).equals(topics.events())) {
                return new Input(partition, offset);
            }
            throw new AuditException(flag + " " + text + " names the topic " + printed.group(1),
                    "write an offset of " + topics.decisions() + " or " + topics.events() + ", or look at --topic-prefix");
        }
        try {
            return new Time(OffsetDateTime.parse(text).toInstant().toEpochMilli());
        } catch (DateTimeParseException | ArithmeticException e) {
            throw new AuditException(flag + " " + text + " is no moment of a log", "write " + FORMS, e);
        }
    }

    /**
     * This moment, with its partition.
     *
     * @param partitions of the log
     * @param only the one partition that the question is about; empty for all of them
     * @throws AuditException when no partition, or another one, is meant
     */
    default Moment in(int partitions, OptionalInt only) {
        Moment whole = this;
        if (this instanceof Bare(long offset)) {
            if (only.isEmpty() && partitions > 1) {
                throw new AuditException(whole + " may be one of " + partitions + " partitions",
                        "write PARTITION:OFFSET, for example 0:" + offset + ", or name the node");
            }
            whole = new Decision(only.orElse(0), offset);
        }
        OptionalInt partition = whole.onePartition();
        if (partition.isPresent() && partition.getAsInt() >= partitions) {
            throw new AuditException(whole + " is of partition " + partition.getAsInt() + ", and the log has " + partitions + " partitions",
                    "write a partition of 0 to " + (partitions - 1));
        }
        if (partition.isPresent() && only.isPresent() && partition.getAsInt() != only.getAsInt()) {
            throw new AuditException(whole + " is of partition " + partition.getAsInt() + ", and the question is about partition " + only.getAsInt(),
                    "write an offset of partition " + only.getAsInt() + ", or a time");
        }
        return whole;
    }

    /**
     * Checks that a partition has this moment; every partition has every time.
     *
     * @throws AuditException when it ends before
     */
    default void requireIn(LogSource source, Topics topics, int partition) {
        ofOffset(topics, (topic, offset) -> requireBeforeEnd(source, topic, partition, offset));
    }

    /** Gives topic and offset to {@code check} when it has an offset. */
    private void ofOffset(Topics topics, ObjLongConsumer<String> check) {
        switch (this) {
            case Decision decision -> check.accept(topics.decisions(), decision.offset());
            case Input input -> check.accept(topics.events(), input.offset());
            case End _, Time _, Bare _ -> {}
        }
    }

    private static void requireBeforeEnd(LogSource source, String topic, int partition, long offset) {
        long begin;
        long end;
        try (RecordCursor records = new RecordCursor(source, topic, partition)) {
            begin = records.begin();
            end = records.end();
        }
        if (offset >= end) {
            throw new AuditException("there is no offset " + offset + " in partition " + partition + " of " + topic + ": it ends at " + end,
                    end == begin ? "choose another partition" : "write an offset of " + begin + " to " + (end - 1) + ", or end");
        }
    }

    /**
     * Checks that this moment was not trimmed; no time is refused.
     *
     * @throws AuditException when a partition begins after it
     */
    default void requireNotTrimmed(LogSource source, Topics topics, int partition) {
        ofOffset(topics, (topic, offset) -> requireFromBegin(source, topic, partition, offset));
    }

    private static void requireFromBegin(LogSource source, String topic, int partition, long offset) {
        long begin;
        try (RecordCursor records = new RecordCursor(source, topic, partition)) {
            begin = records.begin();
        }
        if (offset < begin) {
            throw new AuditException("there is no offset " + offset + " in partition " + partition + " of " + topic + ": it begins at " + begin
                    + ", what was before was trimmed", "write an offset from " + begin + " on, or ask an archive of what was before with --log");
        }
    }

    /** The partition that it is a moment of; empty for one of all partitions. */
    default OptionalInt onePartition() {
        return switch (this) {
            case Decision decision -> OptionalInt.of(decision.partition());
            case Input input -> OptionalInt.of(input.partition());
            case End _, Time _, Bare _ -> OptionalInt.empty();
        };
    }

    /** Whether this moment is after another one; false where their kinds differ, since only the log tells then, and for different partitions. */
    default boolean isAfter(Moment that) {
        return switch (this) {
            case End _ -> !(that instanceof End);
            case Time(long ms) -> that instanceof Time(long other) && ms > other;
            case Decision(int partition, long offset) -> that instanceof Decision(int same, long other) && partition == same && offset > other;
            case Input(int partition, long offset) -> that instanceof Input(int same, long other) && partition == same && offset > other;
            case Bare(long offset) -> that instanceof Bare(long other) && offset > other;
        };
    }

    /** Whether nothing after the decision at an offset can be at this moment or before it. */
    default boolean endsAt(long offset) {
        return this instanceof Decision decision && offset >= decision.offset();
    }

    /** Whether a decision is known to be later than this moment without a look at its bytes. */
    default boolean isBefore(long offset, long timeMs) {
        return !(this instanceof Input) && !includes(offset, timeMs, -1);
    }

    /** Whether no record after one of that time is at this moment or before it. */
    default boolean isPassed(long timeMs) {
        return this instanceof Time(long ms) && timeMs - CLOCKS_DIFFER_MS > ms;
    }

    /**
     * Whether a decision is at this moment or before it.
     *
     * @param offset of the decision
     * @param timeMs when it was appended
     * @param cause offset of the event that it answers, -1 for none
     */
    default boolean includes(long offset, long timeMs, long cause) {
        return switch (this) {
            case End _ -> true;
            case Time time -> timeMs <= time.ms();
            case Decision decision -> offset <= decision.offset();
            case Input input -> cause <= input.offset();
            case Bare bare -> throw new IllegalStateException(bare + " has no partition");
        };
    }
}
