/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.invariant.Violation;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Topics;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One partition of a log, event after event, each followed by the decisions that answer it: bytes, numbers and invariants. Confined to one
 * thread; events that wait for decisions that answer an earlier one are not read ahead.
 */
final class PartitionAudit {
    private final LogSource source;
    private final Topics topics;
    private final int partition;
    private final Codec codec;
    private final Ear ear;
    private final LogInvariants invariants;
    private final Optional<FoldCheck> fold;
    /** Where the record stands that was read last. */
    private Place place = new Place(0, 0, 0);
    private Place lastDecision = place;
    private long order;

    /** Hears what is found and how far it has come. */
    interface Ear {
        void found(Finding finding);

        /** So many more records were read, of so many bytes. */
        void read(long records, long bytes);

        /** A decision was read: what follows from it for the placements topic may be noted. */
        void decided(long offset, Fact decision);
    }

    /** What is to be audited. */
    record Job(LogSource source, Topics topics, Codec codec, int partition, boolean fold) {}

    PartitionAudit(Job job, Ear ear) {
        this.source = job.source();
        this.topics = job.topics();
        this.partition = job.partition();
        this.codec = job.codec();
        this.ear = ear;
        this.fold = job.fold() ? Optional.of(new FoldCheck()) : Optional.empty();
        this.invariants = new LogInvariants(this::violated);
    }

    /** Reads all of it; {@code atRest} says that nothing is in flight at its end. */
    LogInvariants.Counts run(boolean atRest) {
        try (Side<Event> events = new Side<>(topics.events(), Event.class, true);
                Side<Fact> decisions = new Side<>(topics.decisions(), Fact.class, false)) {
            for (Entry<Fact> decision = decisions.next(); decision != null; decision = decisions.next()) {
                long cause = decision.value == null ? -1 : LogInvariants.causeOffset(decision.value);
                while (events.peekOffset() <= cause) {
                    event(events);
                }
                decision(decisions, decision);
            }
            while (events.peekOffset() < Long.MAX_VALUE) {
                event(events);
            }
            invariants.atEnd(atRest);
            events.chain.end();
            decisions.chain.end();
            fold.map(f -> f.check(partition)).orElse(List.of()).forEach(v -> say(v.invariant().name(), topics.decisions(), lastDecision,
                    "the tables that all decisions make: " + v.detail()));
        }
        return invariants.counts();
    }

    private void event(Side<Event> side) {
        Entry<Event> entry = side.next();
        if (entry == null) {
            return;
        }
        place = entry.place;
        Event event = entry.value;
        if (event == null) {
            invariants.unreadable(partition, entry.place.offset());
        } else {
            checkKey(side.topic, entry, event.envelope().aggregate());
            side.chain.accept(entry.place, event.envelope(), entry.crc);
            invariants.event(partition, entry.place.offset(), event);
        }
    }

    private void decision(Side<Fact> side, Entry<Fact> entry) {
        place = entry.place;
        Fact decision = entry.value;
        if (decision == null) {
            say(Finding.BYTES, side.topic, entry.place, "it is no decision: " + entry.unreadable);
            return;
        }
        lastDecision = entry.place;
        checkKey(side.topic, entry, decision.envelope().aggregate());
        side.chain.accept(entry.place, decision.envelope(), entry.crc);
        invariants.decision(partition, entry.place.offset(), decision);
        fold.map(f -> f.fold(decision)).ifPresent(wrong -> say("I13", side.topic, entry.place, wrong));
        ear.decided(entry.place.offset(), decision);
    }

    /** A record is filed under what it is about; no chain speaks of keys. */
    private void checkKey(String topic, Entry<?> entry, String aggregate) {
        byte[] key = entry.key;
        if (key == null) {
            say(Finding.BYTES, topic, entry.place, "it has no key, and it is about " + aggregate);
        } else if (!isKeyOf(key, aggregate)) {
            say(Finding.BYTES, topic, entry.place, "its key is " + new String(key, StandardCharsets.UTF_8) + ", and it is about " + aggregate);
        }
    }

    /** Compared character by character first: nothing is made for a record whose key is right and plain ASCII. */
    private static boolean isKeyOf(byte[] key, String aggregate) {
        int at = 0;
        while (at < key.length && at < aggregate.length() && key[at] == aggregate.charAt(at)) {
            at++;
        }
        boolean same = at == key.length && at == aggregate.length();
        return same || Arrays.equals(key, Partitions.key(aggregate));
    }

    private void violated(Violation v) {
        String topic = v.topicKind().equals(Violation.EVENTS) ? topics.events() : topics.decisions();
        ear.found(new Finding(v.invariant().name(), topic, partition, v.offset(), place.timestampMs(), place.order(), v.detail()));
    }

    private void say(String check, String topic, Place where, String detail) {
        ear.found(new Finding(check, topic, partition, where.offset(), where.timestampMs(), where.order(), detail));
    }

    /** A record, or why it is none. */
    @SuppressWarnings("ArrayRecordComponent") // Passed on once, never compared.
    private record Entry<F extends WireRecord>(Place place, byte @Nullable [] key, @Nullable F value, int crc, String unreadable) {}

    /** One topic of the partition. */
    private final class Side<F extends WireRecord> implements AutoCloseable {
        private final String topic;
        private final LogSource.Stream stream;
        private final RecordReader<F> reader;
        private final boolean showsAll;
        private final ChainCheck chain;
        private final Deque<LogEntry> ahead = new ArrayDeque<>();
        private long nextOffset;

        Side(String topic, Class<F> family, boolean plain) {
            this.topic = topic;
            this.stream = source.open(topic, partition);
            this.reader = codec.reader(family);
            // Nobody writes events in transactions, so none of their offsets is a marker's.
            this.showsAll = plain || stream.showsAll();
            this.chain = new ChainCheck((where, detail) -> say(Finding.NUMBERING, topic, where, detail));
            this.nextOffset = stream.begin();
        }

        /** Offset of the next record; {@link Long#MAX_VALUE} at the end. */
        long peekOffset() {
            LogEntry.Data data = head();
            return data == null ? Long.MAX_VALUE : data.offset();
        }

        @Nullable Entry<F> next() {
            LogEntry.Data data = head();
            if (data == null) {
                return null;
            }
            ahead.removeFirst();
            return read(data);
        }

        /** The next record, with what stands before it dealt with; null at the end. */
        private LogEntry.@Nullable Data head() {
            while (true) {
                if (ahead.isEmpty()) {
                    List<LogEntry> entries = stream.next();
                    if (entries.isEmpty()) {
                        return null;
                    }
                    ahead.addAll(entries);
                }
                LogEntry entry = ahead.getFirst();
                if (entry.offset() > nextOffset && showsAll) {
                    say(Finding.NUMBERING, topic, new Place(nextOffset, place.timestampMs(), order),
                            "there is no record at this offset, the next is at " + entry.offset());
                }
                nextOffset = entry.lastOffset() + 1;
                switch (entry) {
                    case LogEntry.Data data -> {
                        return data;
                    }
                    case LogEntry.Passed _ -> ahead.removeFirst();
                    case LogEntry.Damaged d -> {
                        ahead.removeFirst();
                        say(Finding.BYTES, topic, new Place(d.offset(), place.timestampMs(), order),
                                "records " + d.offset() + " to " + d.lastOffset() + ": " + d.detail());
                    }
                }
            }
        }

        private Entry<F> read(LogEntry.Data data) {
            Place where = new Place(data.offset(), data.timestampMs(), order++);
            byte[] value = data.value();
            ear.read(1, value == null ? 0 : value.length);
            return switch (reader.read(value)) {
                case Reading.Decoded<F> good -> new Entry<>(where, data.key(), good.value(), crc(value), "");
                case Reading.Unreadable<F> bad -> new Entry<>(where, data.key(), null, 0, bad.reason() + ", " + bad.detail());
            };
        }

        private static int crc(byte @Nullable [] framed) {
            return framed == null ? 0 : RecordStamp.crc32c(framed, WireFormat.HEADER_BYTES, framed.length - WireFormat.HEADER_BYTES);
        }

        @Override
        public void close() {
            stream.close();
        }
    }
}
