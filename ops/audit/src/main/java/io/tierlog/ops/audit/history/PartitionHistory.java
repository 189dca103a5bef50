/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.audit.Stretch;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/**
 * The history of a subject in one partition: each event, then the decisions that answer it. A record is decoded only when its bytes contain the
 * subject, or when it may end a placement or set a watermark. Confined to one thread. Memory: the entries found.
 */
final class PartitionHistory {
    /** Most records of one subject. */
    static final int MAX_ENTRIES = 200_000;

    /** Of a stretch that ends at an event, one in so many decisions is decoded only to see whether the stretch is over. */
    private static final int CAUSE_EVERY = 64;

    /** Most operations that are followed for one request or migration. */
    private static final int MAX_OPERATIONS = 10_000;

    private final Job job;
    private final Topics topics;
    private final RecordReader<Event> events;
    private final RecordReader<Fact> facts;
    private final List<History.Entry> entries = new ArrayList<>();
    private final Map<Place, History.Location> placements = new LinkedHashMap<>();
    private final Map<Level, WaterLevelCrossed> levels = new HashMap<>();
    /** Groups of the policy in force, for a block. */
    private List<GroupPolicy> groups = List.of();
    private final Set<String> ids = new LinkedHashSet<>();
    private final List<byte[]> needles = new ArrayList<>();
    private final List<WireType<? extends Fact>> types;
    private final RequestTrace request = new RequestTrace();
    private final PrefixTree prefix = new PrefixTree();
    private final Stretch.Part stretch;

    /** The partition of a log, and what is looked for in it. */
    record Job(LogSource source, Topics topics, Codec codec, int partition, Subject subject, Stretch stretch, LongAdder progress) {}

    /** What one partition has. */
    record Result(List<History.Entry> entries, List<History.Location> placements, List<History.Attempt> attempts, PrefixTree prefix) {}

    private record Place(String aggregate, Tier tier) {}

    private record Level(String aggregate, Tier tier, String group) {}

    PartitionHistory(Job job) {
        this.job = job;
        this.topics = job.topics();
        this.events = job.codec().reader(Event.class);
        this.facts = job.codec().reader(Fact.class);
        this.stretch = job.stretch().of(job.source(), topics, job.codec(), job.partition());
        this.types = RecordTypes.of(job.subject());
        needles.add(job.subject().needle());
        switch (job.subject()) {
            case Subject.Block _, Subject.Node _, Subject.Tenant _ -> {}
            case Subject.Request named -> ids.add(named.id());
            case Subject.Operation named -> ids.add(named.id());
            case Subject.Migration named -> ids.add(named.id());
        }
    }

    /** Reads the partition up to the end of the stretch. May be called once. */
    Result run() {
        try (RecordCursor decisions = new RecordCursor(job.source(), topics.decisions(), job.partition());
                RecordCursor inputs = new RecordCursor(job.source(), topics.events(), job.partition())) {
            LogEntry.Data input = null;
            long cause = -1;
            for (LogEntry.Data decision = decisions.next();
                    decision != null;
                    decision = stretch.endsAt(decision.offset(), decision.timestampMs(), cause) ? null : decisions.next()) {
                job.progress().increment();
                cause = stretch.endsByCause() && decision.offset() % CAUSE_EVERY == 0 ? causeOf(decision) : cause;
                Fact fact = stretch.isBefore(decision.offset(), decision.timestampMs()) ? null : interesting(decision);
                if (fact == null) {
                    continue;
                }
                cause = LogInvariants.causeOffset(fact);
                if (stretch.endsByCause() && stretch.endsAt(decision.offset(), decision.timestampMs(), cause)) {
                    break;
                }
                input = eventsUpTo(cause, input, inputs);
                decision(decision, fact, input != null && input.offset() == cause ? input : null);
            }
            for (LogEntry.Data next = after(input, inputs); next != null; next = after(next, inputs)) {
                event(next);
            }
        }
        List<History.Attempt> attempts = new ArrayList<>();
        for (RequestTrace.Attempt attempt : request.attempts()) {
            RequestSubmitted submitted = attempt.submitted();
            if (submitted != null) {
                PastOfBlocks past = PastOfBlocks.read(job.source(), topics, job.codec(), job.partition(), attempt, submitted);
                attempts.add(RequestTrace.report(attempt, submitted, past));
            }
        }
        return new Result(entries, List.copyOf(placements.values()), attempts, prefix);
    }

    /** Takes the events up to an offset, and looks at none after it. Returns the last one that was taken. */
    private LogEntry.@Nullable Data eventsUpTo(long cause, LogEntry.@Nullable Data last, RecordCursor inputs) {
        LogEntry.Data input = last;
        while (input == null || input.offset() < cause) {
            LogEntry.Data next = inputs.peek();
            if (next == null || next.offset() > cause) {
                return input;
            }
            event(next);
            input = inputs.next();
        }
        return input;
    }

    private long causeOf(LogEntry.Data decision) {
        return facts.read(decision.value()) instanceof Reading.Decoded<Fact>(Fact fact) ? LogInvariants.causeOffset(fact) : -1;
    }

    /** The event after one; null where the stretch or the log ends. */
    private LogEntry.@Nullable Data after(LogEntry.@Nullable Data last, RecordCursor inputs) {
        return last != null && stretch.endsAtEvent(last.offset(), last.timestampMs()) ? null : inputs.next();
    }

    /** The decision when it may matter; null otherwise. */
    private @Nullable Fact interesting(LogEntry.Data data) {
        byte[] value = data.value();
        boolean mayMatter = value != null
                && ((isOfTypes(value) && contains(value))
                        || facts.is(value, WaterLevelCrossed.TYPE)
                        || facts.is(value, WaterLevelRelieved.TYPE)
                        || (job.subject() instanceof Subject.Block && facts.is(value, PolicyAdopted.TYPE))
                        || (!placements.isEmpty() && (facts.is(value, NodeEnded.TYPE) || facts.is(value, EngineLeft.TYPE))));
        return mayMatter && facts.read(value) instanceof Reading.Decoded<Fact> good ? good.value() : null;
    }

    private boolean isOfTypes(byte[] value) {
        return types.isEmpty() || types.stream().anyMatch(type -> facts.is(value, type));
    }

    private void event(LogEntry.Data data) {
        job.progress().increment();
        byte[] value = data.value();
        if (types.isEmpty() && value != null && contains(value) && events.read(value) instanceof Reading.Decoded<Event> good) {
            List<String> texts = texts(good.value());
            if (!texts.isEmpty() && stretch.hasEvent(data.offset(), data.timestampMs())) {
                if (job.subject() instanceof Subject.Request) {
                    request.record(good.value().envelope().aggregate(), data.offset(), data.timestampMs(), good.value());
                }
                if (job.subject() instanceof Subject.Block && good.value() instanceof RequestSubmitted submitted) {
                    prefix.add(submitted.keys(), data.timestampMs());
                }
                add(data, topics.events(), good.value().envelope(), good.value(), texts, "", Optional.empty(), false);
            }
        }
    }

    private void decision(LogEntry.Data data, Fact fact, LogEntry.@Nullable Data input) {
        String aggregate = fact.envelope().aggregate();
        boolean ends = false;
        switch (fact) {
            case WaterLevelCrossed crossed -> levels.put(new Level(aggregate, crossed.tier(), crossed.group()), crossed);
            case PolicyAdopted adopted -> groups = LogSummary.Requests.groupsOf(adopted.policy());
            case WaterLevelRelieved relieved -> levels.remove(new Level(aggregate, relieved.tier(), relieved.group()));
            case NodeEnded _ -> {
                boolean onDevice = end(new Place(aggregate, Tier.DEVICE));
                ends = end(new Place(aggregate, Tier.HOST)) || onDevice;
            }
            case EngineLeft _ -> ends = end(new Place(aggregate, Tier.DEVICE));
            // Others end no placement and set no watermark.
            default -> {}
        }
        List<String> texts = ends ? RecordFields.texts(RecordFields.of(fact), "") : texts(fact);
        if (texts.isEmpty()) {
            return;
        }
        place(data.timestampMs(), fact);
        if (!stretch.hasDecision(data.offset(), data.timestampMs(), LogInvariants.causeOffset(fact))) {
            return;
        }
        if (job.subject() instanceof Subject.Request) {
            request.record(aggregate, data.offset(), data.timestampMs(), fact);
        }
        Tier left = ends ? null : leaves(fact);
        Optional<String> level = left != null && isByWatermark(fact) && job.subject() instanceof Subject.Block block
                ? level(aggregate, left, block) : Optional.empty();
        level = level.or(() -> moveText(fact));
        add(data, topics.decisions(), fact.envelope(), fact, texts, cause(fact, input), level, ends || left != null);
    }

    private static Optional<String> moveText(Fact fact) {
        return fact instanceof OperationIssued issued && issued.move() != null
                ? Optional.of(MoveText.of(issued.move(), issued.from())).filter(text -> !text.isEmpty()) : Optional.empty();
    }

    private boolean end(Place place) {
        return placements.remove(place) != null;
    }

    /** The tier that the block leaves, or is ordered to leave; null when this is not about that. */
    private @Nullable Tier leaves(Fact fact) {
        if (!(job.subject() instanceof Subject.Block)) {
            return null;
        }
        return switch (fact) {
            case BlocksRemoved removed -> removed.tier();
            case OperationIssued issued when issued.kind() == OperationKind.DROP -> issued.from();
            // Nothing else lets a block leave a tier.
            default -> null;
        };
    }

    private static boolean isByWatermark(Fact fact) {
        return switch (fact) {
            // Else a route, an operator or a drain moved the block.
            case OperationIssued issued -> issued.move() == null || issued.move().trigger() == MoveTrigger.WATER_LEVEL;
            case BlocksRemoved removed -> switch (removed.reason()) {
                case WATER_LEVEL, PRESSURE, QUOTA -> true;
                case UNKNOWN, ENGINE_EVICTED, NOT_RETAINED, CHECKSUM, WRITE_FAILED, NODE_LOST, NODE_STOPPED, MIGRATED, MISSING -> false;
            };
            // Nothing else lets a block leave a tier.
            default -> false;
        };
    }

    private void place(long timeMs, Fact fact) {
        if (!(job.subject() instanceof Subject.Block block)) {
            return;
        }
        String aggregate = fact.envelope().aggregate();
        if (fact instanceof BlocksPlaced placed) {
            for (PagedBlock paged : placed.blocks()) {
                if (isSame(paged.block(), block)) {
                    placements.put(new Place(aggregate, placed.tier()),
                            new History.Location(aggregate, placed.tier().name(), paged.page(), paged.generation(), timeMs));
                }
            }
        } else if (fact instanceof BlocksRemoved removed) {
            placements.remove(new Place(aggregate, removed.tier()));
        }
    }

    private static boolean isSame(Block block, Subject.Block wanted) {
        return ByteBuffer.wrap(wanted.key()).equals(ByteBuffer.wrap(block.key().unshared()));
    }

    /** The watermarks of the tier, and of the block's group on it, that are crossed now. */
    private Optional<String> level(String aggregate, Tier tier, Subject.Block block) {
        return Stream.of("", LogSummary.Requests.groupOf(groups, block.namespace()))
                .map(group -> levels.get(new Level(aggregate, tier, group)))
                .filter(Objects::nonNull)
                .map(PartitionHistory::shown)
                .reduce((one, other) -> one + "; " + other);
    }

    private static String shown(WaterLevelCrossed crossed) {
        String where = crossed.tier() + (crossed.group().isEmpty() ? "" : " group " + crossed.group());
        return where + " had " + crossed.usedBlocks() + " of " + crossed.capacityBlocks() + " blocks in use, " + crossed.leavingBlocks()
                + " of them leaving, when it reached its high mark of " + crossed.highMark() + " (policy version " + crossed.policyVersion() + ")";
    }

    private String cause(Fact fact, LogEntry.@Nullable Data input) {
        long offset = LogInvariants.causeOffset(fact);
        if (offset < 0) {
            return "";
        }
        String type = input != null && events.read(input.value()) instanceof Reading.Decoded<Event> good ? good.value().schema().getName() : "record";
        return type + " at " + offset;
    }

    /** The texts of a record about the subject; none when it is not about it. Remembers operations that serve a request or a migration. */
    private List<String> texts(WireRecord record) {
        GenericRecord generic = RecordFields.of(record);
        return switch (job.subject()) {
            case Subject.Block block -> textsOfBlock(record, generic, block);
            case Subject.Node node -> aggregate(record).equals(node.aggregate()) ? RecordFields.texts(generic, "") : List.of();
            case Subject.Tenant tenant -> RecordFields.namespaces(generic).anyMatch(tenant::has) ? RecordFields.texts(generic, "") : List.of();
            case Subject.Request _, Subject.Operation _, Subject.Migration _ -> textsOfIds(record, generic);
        };
    }

    private List<String> textsOfBlock(WireRecord record, GenericRecord generic, Subject.Block block) {
        List<GenericRecord> found = RecordFields.ofBlock(generic, block);
        int index = record instanceof RequestSubmitted submitted && submitted.namespace().equals(block.namespace())
                ? submitted.keys().indexOf(Bytes.wrapUnshared(block.key()))
                : -1;
        if (found.isEmpty() && index < 0) {
            return List.of();
        }
        List<String> texts = new ArrayList<>(RecordFields.texts(generic, ""));
        found.forEach(one -> texts.addAll(RecordFields.texts(one, "block.")));
        if (index >= 0 && record instanceof RequestSubmitted submitted) {
            texts.add("block.index=" + index);
            texts.add("block.found=" + RequestTrace.where(submitted, index));
        }
        return texts;
    }

    private List<String> textsOfIds(WireRecord record, GenericRecord generic) {
        boolean isIt = job.subject() instanceof Subject.Migration migration && isOf(record, "migration/" + migration.id());
        if (!isIt && !RecordFields.names(generic, ids)) {
            return List.of();
        }
        if (!(job.subject() instanceof Subject.Operation) && record instanceof OperationIssued issued && ids.size() < MAX_OPERATIONS
                && ids.add(issued.operation())) {
            needles.add(issued.operation().getBytes(StandardCharsets.UTF_8));
        }
        return RecordFields.texts(generic, "");
    }

    /** Whether a record is in the aggregate, or a message that it sent to another one. */
    private static boolean isOf(WireRecord record, String aggregate) {
        return aggregate(record).equals(aggregate) || (record instanceof Event event && event.envelope().sender().equals(aggregate));
    }

    private static String aggregate(WireRecord record) {
        return switch (record) {
            case Fact fact -> fact.envelope().aggregate();
            case Event event -> event.envelope().aggregate();
            default -> "";
        };
    }

    private void add(LogEntry.Data data, String topic, Envelope envelope, WireRecord record, List<String> texts, String cause,
            Optional<String> level, boolean departure) {
        if (entries.size() >= MAX_ENTRIES) {
            throw new AuditException("more than " + MAX_ENTRIES + " records of partition " + job.partition() + " are about it",
                    "choose a stretch with --from and --to");
        }
        entries.add(new History.Entry(data.timestampMs(), topic, job.partition(), data.offset(), envelope.aggregate(), record.schema().getName(),
                texts, cause, departure, level));
    }

    private boolean contains(byte[] value) {
        for (byte[] needle : needles) {
            if (indexOf(value, needle)) {
                return true;
            }
        }
        return false;
    }

    private static boolean indexOf(byte[] value, byte[] needle) {
        byte first = needle[0];
        for (int i = 0; i <= value.length - needle.length; i++) {
            if (value[i] == first && Arrays.equals(value, i, i + needle.length, needle, 0, needle.length)) {
                return true;
            }
        }
        return false;
    }
}
