/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.FoldBytes;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.invariant.Violation;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.event.Event;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Audits one partition of a log: bytes, sequence numbers and invariants. Events and facts are read in the order in which the controller processed
 * them: an event, then the facts that follow from it. Confined to one thread; events are not read ahead of the facts of earlier events.
 */
final class PartitionAudit {
    private final LogSource source;
    private final Topics topics;
    private final int partition;
    private final Codec codec;
    private final Listener listener;
    private final LogInvariants invariants;
    private final Optional<FoldCheck> fold;
    private final ChainCheck eventChain;
    private final ChainCheck decisionChain;
    private final Optional<PartitionStart> start;
    private final long until;
    private final Optional<RecordSigning> signing;
    private String applicationId;
    private long nextEvent;
    private long nextDecision;
    private long lastTimeMs;
    /** Position of the record that was read last. */
    private RecordPosition place = new RecordPosition(0, 0, 0);
    private RecordPosition lastDecision = place;
    private long order;

    /** Receives findings and progress. */
    interface Listener {
        void found(Finding finding);

        /** Further records were read. */
        void read(long records, long bytes);

        /** A fact was read. */
        void fact(long offset, Fact decision);
    }

    /**
     * The partition.
     *
     * @param fold whether its facts are folded into tables
     * @param start where to begin; empty for the beginning
     * @param until offset of the last decision that is read
     * @param signing checks the codes of records; empty when they are not checked
     */
    record Job(
            LogSource source,
            Topics topics,
            Codec codec,
            int partition,
            boolean fold,
            Optional<PartitionStart> start,
            long until,
            Optional<RecordSigning> signing) {
        /** All of a partition. */
        Job(LogSource source, Topics topics, Codec codec, int partition, boolean fold) {
            this(source, topics, codec, partition, fold, Optional.empty(), Long.MAX_VALUE);
        }

        /** Without codes. */
        Job(LogSource source, Topics topics, Codec codec, int partition, boolean fold, Optional<PartitionStart> start, long until) {
            this(source, topics, codec, partition, fold, start, until, Optional.empty());
        }
    }

    PartitionAudit(Job job, Listener listener) {
        this.source = job.source();
        this.topics = job.topics();
        this.partition = job.partition();
        this.codec = job.codec();
        this.listener = listener;
        this.start = job.start();
        this.until = job.until();
        this.signing = job.signing();
        this.fold = job.fold() ? Optional.of(start.map(s -> new FoldCheck(s.tables())).orElseGet(FoldCheck::new)) : Optional.empty();
        this.invariants = new LogInvariants(this::violated);
        this.eventChain = chain(topics.events());
        this.decisionChain = chain(topics.decisions());
        this.applicationId = start.map(s -> s.at().applicationId()).orElse("");
        this.nextEvent = start.map(s -> s.at().nextEvent()).orElse(0L);
        this.nextDecision = start.map(s -> s.at().nextDecision()).orElse(0L);
        this.lastTimeMs = start.map(s -> s.at().lastTimeMs()).orElse(0L);
    }

    private ChainCheck chain(String topic) {
        return new ChainCheck((where, detail) -> say(Finding.NUMBERING, topic, where, detail));
    }

    /** Writes what an audit needs to go on from here, or reads it. */
    void proof(FoldBytes io) {
        invariants.state(partition, io);
        eventChain.state(io);
        decisionChain.state(io);
    }

    /** By aggregate, the number and checksum of the last decision about it. */
    Map<String, RecordStamp> stamps() {
        return decisionChain.stamps();
    }

    /** Number and checksum of the last event of the sender of this one. */
    RecordStamp eventStamp(Envelope envelope) {
        return eventChain.stamp(envelope);
    }

    /** The tables that the facts so far made; none when facts are not folded. */
    Optional<HeapTables> tables() {
        return fold.map(FoldCheck::tables);
    }

    /** After the last decision that was read. */
    PartitionStart.At at() {
        return new PartitionStart.At(partition, nextEvent, nextDecision, lastTimeMs, applicationId);
    }

    /**
     * Reads all of it.
     *
     * @param due if present, every event before this offset must be answered, and nothing be in flight at the end
     * @param decided runs after the last decision and the event that it answers, before later events
     */
    LogInvariants.Counts run(OptionalLong due, Runnable decided) {
        // The end of a topic is fixed when it is opened: in this order every decision has its event, also while a cluster goes on.
        try (Side<Fact> decisions = new Side<>(topics.decisions(), Fact.class, false);
                Side<Event> events = new Side<>(topics.events(), Event.class, true)) {
            decided(decisions, events);
            decided.run();
            while (events.peekOffset() < due.orElse(Long.MAX_VALUE)) {
                event(events);
            }
            invariants.atEnd(due.isPresent());
            eventChain.end();
            decisionChain.end();
            fold.map(f -> f.check(partition)).orElse(List.of()).forEach(v -> say(v.invariant().name(), topics.decisions(), lastDecision,
                    "the tables that all facts make: " + v.detail()));
        }
        return invariants.counts();
    }

    /** Reads the decisions, up to the last one of the job, and their events; no event behind them. */
    void runDecided() {
        try (Side<Fact> decisions = new Side<>(topics.decisions(), Fact.class, false);
                Side<Event> events = new Side<>(topics.events(), Event.class, true)) {
            decided(decisions, events);
        }
    }

    private void decided(Side<Fact> decisions, Side<Event> events) {
        while (decisions.peekOffset() <= until) {
            Entry<Fact> decision = decisions.next();
            if (decision == null) {
                return;
            }
            long cause = decision.value == null ? -1 : LogInvariants.causeOffset(decision.value);
            while (events.peekOffset() <= cause) {
                event(events);
            }
            decision(decisions, decision);
            nextEvent = Math.max(nextEvent, cause + 1);
            nextDecision = decision.place.offset() + 1;
            lastTimeMs = decision.place.timestampMs();
            if (decision.value instanceof PartitionOpened opened) {
                applicationId = opened.applicationId();
            }
        }
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
            eventChain.accept(entry.place, event.envelope(), entry.crc);
            invariants.event(partition, entry.place.offset(), event);
        }
    }

    private void decision(Side<Fact> side, Entry<Fact> entry) {
        place = entry.place;
        Fact decision = entry.value;
        if (decision == null) {
            say(Finding.BYTES, side.topic, entry.place, "it is not a fact: " + entry.unreadable);
            return;
        }
        lastDecision = entry.place;
        checkKey(side.topic, entry, decision.envelope().aggregate());
        decisionChain.accept(entry.place, decision.envelope(), entry.crc);
        invariants.decision(partition, entry.place.offset(), decision);
        fold.map(f -> f.fold(decision)).ifPresent(wrong -> say("I13", side.topic, entry.place, wrong));
        listener.fact(entry.place.offset(), decision);
    }

    /** The key of a record is its aggregate; the chain of checksums does not cover keys. */
    private void checkKey(String topic, Entry<?> entry, String aggregate) {
        byte[] key = entry.key;
        if (key == null) {
            say(Finding.BYTES, topic, entry.place, "it has no key, and it is about " + aggregate);
        } else if (!isKeyOf(key, aggregate)) {
            say(Finding.BYTES, topic, entry.place, "its key is " + new String(key, StandardCharsets.UTF_8) + ", and it is about " + aggregate);
        }
    }

    /** The code of a record is that of who writes such records. */
    private void checkCode(String topic, RecordPosition where, WireRecord record, LogEntry.Data data) {
        byte[] value = data.value();
        if (signing.isEmpty() || value == null) {
            return;
        }
        String why = record instanceof Event event
                ? signing.get().check(event, partition, data.key(), value, data.headers())
                : signing.get().check(topic, partition, data.key(), value, data.headers());
        if (why != null) {
            say(Finding.CODE, topic, where, why);
        }
    }

    /** Compares character by character first, so that a correct ASCII key allocates nothing. */
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
        listener.found(new Finding(v.invariant().name(), topic, partition, v.offset(), place.timestampMs(), place.order(), v.detail()));
    }

    private void say(String check, String topic, RecordPosition where, String detail) {
        listener.found(new Finding(check, topic, partition, where.offset(), where.timestampMs(), where.order(), detail));
    }

    /** A record, or why it cannot be decoded. */
    @SuppressWarnings("ArrayRecordComponent") // Passed on once, never compared.
    private record Entry<F extends WireRecord>(RecordPosition place, byte @Nullable [] key, @Nullable F value, int crc, String unreadable) {}

    /** One topic of the partition. */
    private final class Side<F extends WireRecord> implements AutoCloseable {
        private final String topic;
        private final LogSource.Stream stream;
        private final RecordReader<F> reader;
        private final boolean showsAll;
        private final Deque<LogEntry> ahead = new ArrayDeque<>();
        private long nextOffset;

        Side(String topic, Class<F> family, boolean plain) {
            this.topic = topic;
            this.stream = open(topic, plain);
            this.reader = codec.reader(family);
            // Events are not written in transactions, so none of their offsets is a marker.
            this.showsAll = plain || stream.showsAll();
            this.nextOffset = stream.begin();
        }

        private LogSource.Stream open(String name, boolean events) {
            if (start.isPresent()) {
                return source.open(name, partition, events ? start.get().at().nextEvent() : start.get().at().nextDecision());
            }
            LogSource.Stream all = source.open(name, partition);
            if (all.begin() > 0) {
                all.close();
                throw TrimmedLog.beginsAt(name, partition, all.begin());
            }
            return all;
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

        /** The next record, after reporting what is wrong before it; null at the end. */
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
                    say(Finding.NUMBERING, topic, new RecordPosition(nextOffset, place.timestampMs(), order),
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
                        say(Finding.BYTES, topic, new RecordPosition(d.offset(), place.timestampMs(), order),
                                "records " + d.offset() + " to " + d.lastOffset() + ": " + d.detail());
                    }
                }
            }
        }

        private Entry<F> read(LogEntry.Data data) {
            RecordPosition where = new RecordPosition(data.offset(), data.timestampMs(), order++);
            byte[] value = data.value();
            listener.read(1, value == null ? 0 : value.length);
            return switch (reader.read(value)) {
                case Reading.Decoded<F> good -> {
                    checkCode(topic, where, good.value(), data);
                    yield new Entry<>(where, data.key(), good.value(), crc(value), "");
                }
                case Reading.Unreadable<F> bad -> new Entry<>(where, data.key(), null, 0, bad.reason() + ", " + bad.detail());
            };
        }

        private static int crc(byte @Nullable [] framed) {
            return framed == null ? 0 : RecordStamp.crc32cOfFramed(framed);
        }

        @Override
        public void close() {
            stream.close();
        }
    }
}
