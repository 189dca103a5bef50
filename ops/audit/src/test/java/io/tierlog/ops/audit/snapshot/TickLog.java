/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A log of one partition in which time passes, numbered and chained as a controller writes it. */
final class TickLog {
    static final Topics TOPICS = Topics.DEFAULT;
    static final String CLOCK = "clock/0";

    final Codec codec = new Codec(Schemas.bundled());
    private Core core = new Core(Limits.of(1), "the-controller");
    private final HeapTables tables = new HeapTables();
    private final Map<String, RecordStamp> stamps = new HashMap<>();
    private final List<LogEntry> events = new ArrayList<>();
    private final List<LogEntry> decisions = new ArrayList<>();
    private RecordStamp clock = RecordStamp.NONE;
    private long timeMs;

    TickLog() {
        this(1_000);
    }

    /** A log that begins at a time, milliseconds since 1970: with another time all its records are others. */
    TickLog(long beginMs) {
        timeMs = beginMs;
    }

    /** From here on a controller of that core version decides. */
    TickLog version(int version) {
        core = new Core(Limits.of(1), "the-controller", version);
        return this;
    }

    /** So many more ticks, each decided. */
    TickLog ticks(int count) {
        for (int i = 0; i < count; i++) {
            timeMs += 1_000;
            Tick tick = new Tick(clock.onto(new Envelope(CLOCK, CLOCK, 0, 0, 0, timeMs, null, null, null)), timeMs);
            byte[] avro = Codec.avro(tick);
            clock = clock.after(avro);
            long offset = events.size();
            events.add(new LogEntry.Data(offset, timeMs, Partitions.key(CLOCK), codec.encode(TOPICS.events(), tick)));
            for (Fact fact : core.step(tables, new Input.Recorded(0, offset, tick, RecordStamp.crc32c(avro))).facts()) {
                String aggregate = fact.envelope().aggregate();
                RecordStamp last = stamps.getOrDefault(aggregate, RecordStamp.NONE);
                Fact stamped = fact.withEnvelope(last.onto(fact.envelope()));
                stamps.put(aggregate, last.after(Codec.avro(stamped)));
                decisions.add(new LogEntry.Data(decisions.size(), timeMs, Partitions.key(aggregate), codec.encode(TOPICS.decisions(), stamped)));
            }
        }
        return this;
    }

    HeapTables tables() {
        return tables;
    }

    long decisions() {
        return decisions.size();
    }

    /** The log as it is now. */
    MemoryLog log() {
        return new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), decisions);
    }

    /** All events. */
    List<LogEntry> events() {
        return List.copyOf(events);
    }

    /** All decisions. */
    List<LogEntry> facts() {
        return List.copyOf(decisions);
    }

    /** The log as it is now, without records before two offsets. */
    MemoryLog trimmed(long nextEvent, long nextDecision) {
        return new MemoryLog().with(TOPICS.events(), events.subList((int) nextEvent, events.size()))
                .with(TOPICS.decisions(), decisions.subList((int) nextDecision, decisions.size()));
    }

    /** The log with one decision left out, whose place stays empty. */
    MemoryLog without(int decision) {
        List<LogEntry> some = new ArrayList<>(decisions);
        some.set(decision, new LogEntry.Passed(decision, decision));
        return new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), some);
    }
}
