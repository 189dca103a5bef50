/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.CoreVersionMismatch;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.topic.Topics;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.audit.TrimmedLog;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.state.ClockRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Feeds the recorded events of one partition through the core of this build and compares each decision with the recorded one, byte by byte,
 * numbers and chained checksums included. The tables hold what this core decided, never what is recorded, so one altered decision is one difference.
 *
 * <p>Restarts and aborted transactions need no care: only committed decisions are read, and each names its input. An input that was skipped on
 * record is skipped again. Confined to one thread. Memory: the tables of the partition, on the heap.
 */
final class PartitionRerun {
    private static final Set<SkipReason> SETTINGS = EnumSet.of(SkipReason.OPERATOR, SkipReason.TOO_LARGE, SkipReason.FORGED);

    private final LogSource source;
    private final Topics topics;
    private final int partition;
    private final Rules rules;
    private final RecordReader<Event> events;
    private final RecordReader<Fact> facts;
    private String applicationId;
    private Limits limits;
    private int version;
    private Core core;
    private final RowTrace tables;
    private final Map<String, RecordStamp> stamps;
    private final Optional<PartitionStart.At> start;
    private long decided;
    private long compared;
    private long undecided;
    private long differences;
    private RerunReport.@Nullable Difference first;

    /** The partition of a log, and what its controller decides by. */
    record Job(LogSource source, Topics topics, Codec codec, int partition, int partitions, Optional<PartitionStart> start, Rules rules) {
        /** With the rules of every controller. */
        Job(LogSource source, Topics topics, Codec codec, int partition, int partitions, Optional<PartitionStart> start) {
            this(source, topics, codec, partition, partitions, start, Rules.of(partitions));
        }
    }

    /**
     * What a controller knows beside the log. A simulated one has rules of its own.
     *
     * @param limits the bounds of its decisions on the event at an offset
     * @param checksum of an event's framed bytes
     * @param partitionOf the partition of an aggregate; throws {@link IllegalArgumentException} where it has none
     */
    record Rules(LongFunction<Limits> limits, ToIntFunction<byte[]> checksum, ToIntFunction<String> partitionOf) {
        private static Rules of(int partitions) {
            Limits always = Limits.of(partitions);
            return new Rules(_ -> always, RecordStamp::crc32cOfFramed, aggregate -> Partitions.of(aggregate, partitions));
        }
    }

    /** What one partition gave; the fields are those of {@link RerunReport}. */
    record Result(long events, long decisions, long undecided, long differences, Optional<RerunReport.Difference> first) {}

    /** A recorded decision. */
    @SuppressWarnings("ArrayRecordComponent") // Passed on once, never compared.
    private record Recorded(long offset, byte[] avro, Reading<Fact> reading) {
        String text() {
            return switch (reading) {
                case Reading.Decoded<Fact> good -> good.value().toString();
                case Reading.Unreadable<Fact> bad -> "not a decision: " + bad.reason() + ", " + bad.detail();
            };
        }
    }

    PartitionRerun(Job job) {
        this.source = job.source();
        this.topics = job.topics();
        this.partition = job.partition();
        this.start = job.start().map(PartitionStart::at);
        this.rules = job.rules();
        this.limits = rules.limits().apply(start.map(PartitionStart.At::nextEvent).orElse(0L));
        this.events = job.codec().reader(Event.class);
        this.facts = job.codec().reader(Fact.class);
        this.tables = new RowTrace(job.start().map(PartitionStart::tables).orElseGet(HeapTables::new));
        this.stamps = new HashMap<>(job.start().map(PartitionStart::stamps).orElse(Map.of()));
        this.applicationId = start.map(PartitionStart.At::applicationId).orElse("");
        ClockRow clock = tables.get(Rows.CLOCK, new RowKey.Aggregate(Aggregates.clock(partition)));
        this.core = core(clock == null ? CoreVersion.CURRENT : clock.coreVersion());
    }

    /** The core that decided by that version; of one that this build does not know, its own: the first decision then differs. */
    private Core core(int coreVersion) {
        version = coreVersion;
        return new Core(limits, applicationId, Math.clamp(coreVersion, CoreVersion.OLDEST, CoreVersion.CURRENT));
    }

    private RecordCursor open(String topic, long from) {
        return start.isPresent() ? new RecordCursor(source, topic, partition, from) : new RecordCursor(source, topic, partition);
    }

    /** Reads and decides all of the partition. May be called once. */
    Result run() {
        // The end of a topic is fixed when it is opened: in this order every decision has its input, also while a cluster goes on.
        try (RecordCursor decisions = open(topics.decisions(), start.map(PartitionStart.At::nextDecision).orElse(0L));
                RecordCursor inputs = open(topics.events(), start.map(PartitionStart.At::nextEvent).orElse(0L))) {
            if (start.isEmpty() && (inputs.begin() > 0 || decisions.begin() > 0)) {
                throw inputs.begin() > 0
                        ? TrimmedLog.beginsAt(topics.events(), partition, inputs.begin())
                        : TrimmedLog.beginsAt(topics.decisions(), partition, decisions.begin());
            }
            Recorded ahead = next(decisions);
            if (ahead != null && ahead.reading() instanceof Reading.Decoded<Fact> first && first.value() instanceof PartitionOpened opened) {
                applicationId = opened.applicationId();
                core = core(opened.coreVersion());
            }
            boolean goesOn = true;
            for (LogEntry.Data data = inputs.next(); data != null; data = inputs.next()) {
                if (ahead == null || !goesOn) {
                    undecided++;
                    continue;
                }
                List<Recorded> answers = new ArrayList<>();
                while (ahead != null && causeOf(ahead) <= data.offset()) {
                    answers.add(ahead);
                    ahead = next(decisions);
                }
                goesOn = decide(data, answers);
            }
            for (; ahead != null && goesOn; ahead = next(decisions)) {
                differs(new LogEntry.Data(-1, Long.MAX_VALUE, null, null), RerunReport.Difference.NONE, ahead, RerunReport.Difference.NONE);
            }
        }
        return new Result(decided, compared, undecided, differences, Optional.ofNullable(first));
    }

    /** False when this core cannot go on after this input. */
    private boolean decide(LogEntry.Data data, List<Recorded> answers) {
        Input input = input(data, answers);
        Limits bounds = rules.limits().apply(data.offset());
        if (!bounds.equals(limits)) {
            limits = bounds;
            core = core(version);
        }
        for (Recorded answer : answers) {
            if (answer.reading() instanceof Reading.Decoded<Fact> good && good.value() instanceof CoreVersionRaised raised) {
                core = core(raised.coreVersion());
            }
        }
        tables.begin();
        List<Fact> made;
        decided++;
        try {
            made = core.step(tables, input).facts();
        } catch (IllegalHistory | CoreVersionMismatch e) {
            differs(data, String.valueOf(input), answers.isEmpty() ? null : answers.getFirst(), String.valueOf(e.getMessage()));
            return false;
        }
        for (int i = 0; i < Math.max(made.size(), answers.size()); i++) {
            Recorded recorded = i < answers.size() ? answers.get(i) : null;
            if (i >= made.size()) {
                differs(data, String.valueOf(input), recorded, RerunReport.Difference.NONE);
                continue;
            }
            Fact fact = made.get(i);
            String aggregate = fact.envelope().aggregate();
            RecordStamp last = stamps.getOrDefault(aggregate, RecordStamp.NONE);
            Fact stamped = fact.withEnvelope(last.onto(fact.envelope()));
            byte[] avro = Codec.avro(stamped);
            if (recorded != null && isSame(recorded, avro)) {
                // The chain covers the bytes of its writer, which differ when an older schema wrote them.
                stamps.put(aggregate, last.after(recorded.avro()));
            } else {
                stamps.put(aggregate, last.after(avro));
                differs(data, String.valueOf(input), recorded, stamped.toString());
            }
        }
        return true;
    }

    /** Equal bytes, or bytes of an older schema that read as the same decision. */
    private static boolean isSame(Recorded recorded, byte[] avro) {
        return Arrays.equals(recorded.avro(), avro)
                || (recorded.reading() instanceof Reading.Decoded<Fact> good && Arrays.equals(Codec.avro(good.value()), avro));
    }

    /** The input that the record was for the controller that decided it. */
    private Input input(LogEntry.Data data, List<Recorded> answers) {
        InputSkipped skipped = skipped(data.offset(), answers);
        if (skipped != null && SETTINGS.contains(skipped.reason())) {
            // The operator's list, the longest record and the record keys are settings of that controller, and on record only here.
            return unreadable(data, skipped.reason(), skipped.detail());
        }
        return switch (events.read(data.value())) {
            case Reading.Unreadable<Event> bad -> unreadable(data, bad.reason(), bad.detail());
            case Reading.Decoded<Event> good when isInPlace(data, good.value()) ->
                    new Input.Recorded(partition, data.offset(), good.value(), rules.checksum().applyAsInt(Objects.requireNonNull(data.value())));
            case Reading.Decoded<Event> _ ->
                    unreadable(data, SkipReason.WRONG_KEY, skipped == null ? "its key is not that of its aggregate" : skipped.detail());
        };
    }

    private Input unreadable(LogEntry.Data data, SkipReason reason, String detail) {
        return new Input.Unreadable(topics.events(), partition, data.offset(), reason, detail);
    }

    private boolean isInPlace(LogEntry.Data data, Event event) {
        String aggregate = event.envelope().aggregate();
        try {
            return Arrays.equals(data.key(), Partitions.key(aggregate)) && rules.partitionOf().applyAsInt(aggregate) == partition;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static @Nullable InputSkipped skipped(long offset, List<Recorded> answers) {
        for (Recorded answer : answers) {
            if (answer.reading() instanceof Reading.Decoded<Fact> good
                    && good.value() instanceof InputSkipped skipped
                    && skipped.offset() == offset) {
                return skipped;
            }
        }
        return null;
    }

    private @Nullable Recorded next(RecordCursor decisions) {
        LogEntry.Data data = decisions.next();
        if (data == null) {
            return null;
        }
        compared++;
        byte[] framed = data.value();
        byte[] avro = framed == null || framed.length < WireFormat.HEADER_BYTES
                ? new byte[0]
                : Arrays.copyOfRange(framed, WireFormat.HEADER_BYTES, framed.length);
        return new Recorded(data.offset(), avro, facts.read(framed));
    }

    /** Offset of the input that a decision answers; one that names none stands beside the decisions before it. */
    private static long causeOf(Recorded recorded) {
        return recorded.reading() instanceof Reading.Decoded<Fact> good ? LogInvariants.causeOffset(good.value()) : -1;
    }

    private void differs(LogEntry.Data input, String inputText, @Nullable Recorded recorded, String rerun) {
        differences++;
        if (first == null) {
            first = new RerunReport.Difference(partition, input.offset(), input.timestampMs(), inputText, recorded == null ? -1 : recorded.offset(),
                    recorded == null ? RerunReport.Difference.NONE : recorded.text(), rerun, tables.rows());
        }
    }
}
