/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.log;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.whatif.world.HardwareModel;
import io.tierlog.ops.whatif.world.RoutedWorkload;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Sha256;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the requests of a log, and what the cluster was. Of a request that was submitted several times the first attempt counts. Memory: the keys of
 * all prompts. Not thread-safe; one instance reads once.
 */
public final class RecordedLog {
    private static final String PREFETCH_WAIT = "prefetch.wait.ms";
    private static final int DEFAULT_WAIT_MS = 200;
    private static final long NANOS_IN_MICRO = 1_000;

    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final Map<String, Line> lines = new LinkedHashMap<>();
    private final Map<String, AgentRegistering> agents = new TreeMap<>();
    private final Map<String, EngineAttached> engines = new TreeMap<>();
    private final Timings timings = new Timings();
    private @Nullable Policy policy;

    /** One request as far as it is known. */
    private static final class Line {
        private final RequestSubmitted submitted;
        private final Map<Integer, Bytes> sealed = new TreeMap<>();
        private int generated;
        private long prefilledMs;

        private Line(RequestSubmitted submitted) {
            this.submitted = submitted;
        }
    }

    /**
     * What was read.
     *
     * @param workload the requests
     * @param policy the last policy, or what a cluster begins with
     * @param hostBlocks of each node: the most that one has
     * @param diskBlocks likewise; 0 without a disk tier
     * @param devicePages likewise
     * @param retention whether engines kept blocks of ended requests
     * @param blockBytes bytes of a block
     * @param prefetchWaitMs longest wait of a request for a fetch
     * @param prefillNanosPerToken as the engines say; empty when they do not
     * @param timings how long things took
     */
    public record Recorded(
            RoutedWorkload workload, Policy policy, int hostBlocks, int diskBlocks, int devicePages, boolean retention, long blockBytes,
            int prefetchWaitMs, OptionalInt prefillNanosPerToken, Timings timings) {
        /** How long things took in the log, and the cost of computing that its engines say; what the log does not show is as by default. */
        public HardwareModel model() {
            HardwareModel measured = timings.model(HardwareModel.defaults(), blockBytes);
            return prefillNanosPerToken.isEmpty()
                    ? measured
                    : measured.with(measured.engine().withPrefillNanosPerToken(prefillNanosPerToken.getAsInt()));
        }
    }

    /** A log to read. */
    public RecordedLog(LogSource source, Topics topics, Codec codec) {
        this.source = source;
        this.topics = topics;
        this.codec = codec;
    }

    /**
     * Reads all of it.
     *
     * @throws AuditException when it cannot be read, or has no request
     */
    public Recorded read() {
        each(topics.decisions(), Fact.class, fact -> {
            if (fact instanceof PolicyVersioned versioned) {
                policy = versioned.policy();
            } else if (fact instanceof AgentAccepted accepted && policy == null) {
                policy = accepted.policy();
            } else if (fact instanceof OperationIssued issued) {
                timings.issued(issued);
            }
        });
        each(topics.events(), Event.class, this::event);
        if (lines.isEmpty()) {
            throw new AuditException("no request was submitted in this log", "name the data directory of a run with requests, such as demo --keep");
        }
        if (agents.isEmpty()) {
            throw new AuditException("no agent has registered in this log", "name the data directory of a run with agents, such as demo --keep");
        }
        Policy last = policy;
        return new Recorded(
                workload(), last == null ? Policies.INITIAL : last, capacity(Tier.HOST), capacity(Tier.DISK),
                engines.values().stream().mapToInt(engine -> (int) engine.deviceBlocks()).max().orElse(1),
                engines.values().stream().noneMatch(engine -> "false".equals(engine.configuration().get("device_retention"))), blockBytes(),
                agents.values().stream().map(agent -> agent.configuration().get(PREFETCH_WAIT)).mapToInt(RecordedLog::number).max().orElse(
                        DEFAULT_WAIT_MS),
                prefillNanos(), timings);
    }

    private <F extends WireRecord> void each(String topic, Class<F> family, Consumer<F> fold) {
        RecordReader<F> reader = codec.reader(family);
        boolean read = false;
        String unknown = "";
        for (int p = 0; p < source.partitions(topic); p++) {
            try (RecordCursor cursor = new RecordCursor(source, topic, p)) {
                for (LogEntry.Data entry = cursor.next(); entry != null; entry = cursor.next()) {
                    switch (reader.read(entry.value())) {
                        case Reading.Decoded<F>(F value) -> {
                            fold.accept(value);
                            read = true;
                        }
                        case Reading.Unreadable<F>(SkipReason reason, String detail) -> unknown = reason == SkipReason.UNKNOWN_SCHEMA_ID
                                ? detail : unknown;
                    }
                }
            }
        }
        // Single ones the controller has skipped too.
        if (!read && !unknown.isEmpty()) {
            throw new AuditException("no record of " + topic + " can be read: " + unknown, "give --registry-url, the registry of the log's writers");
        }
    }

    private void event(Event event) {
        timings.event(event);
        switch (event) {
            case AgentRegistering e when !e.foreign() -> agents.put(e.node(), e);
            case EngineAttached e -> engines.put(e.envelope().aggregate(), e);
            case RequestSubmitted e -> lines.putIfAbsent(e.request(), new Line(e));
            case RequestPrefilled e -> with(e.request(), line -> line.prefilledMs = e.envelope().timeMs());
            case BlocksSealed e -> with(e.request(), line -> {
                for (PagedBlock block : e.blocks()) {
                    line.sealed.put(block.block().index(), block.block().key());
                }
            });
            case RequestFinished e -> with(e.request(), line -> {
                line.generated = e.generatedTokens();
                timings.decoded(e.envelope().timeMs() - line.prefilledMs, e.generatedTokens());
            });
            default -> {}
        }
    }

    private void with(String request, Consumer<Line> then) {
        Line line = lines.get(request);
        if (line != null) {
            then.accept(line);
        }
    }

    private RoutedWorkload workload() {
        List<Line> inOrder = new ArrayList<>(lines.values());
        inOrder.sort(Comparator.comparingLong((Line line) -> line.submitted.envelope().timeMs())
                .thenComparing(line -> line.submitted.envelope().aggregate())
                .thenComparingLong(line -> line.submitted.envelope().sequence()));
        long firstMs = inOrder.getFirst().submitted.envelope().timeMs();
        Map<String, Integer> tenants = new LinkedHashMap<>();
        Map<String, Integer> nodes = new LinkedHashMap<>();
        agents.keySet().forEach(node -> nodes.putIfAbsent("node/" + node, nodes.size()));
        List<Request> requests = new ArrayList<>();
        List<Integer> routes = new ArrayList<>();
        for (Line line : inOrder) {
            RequestSubmitted submitted = line.submitted;
            int tenant = tenants.computeIfAbsent(submitted.namespace(), _ -> tenants.size());
            requests.add(request(requests.size(), tenant, submitted.envelope().timeMs() - firstMs, line));
            routes.add(nodes.computeIfAbsent(submitted.envelope().aggregate(), _ -> nodes.size()));
        }
        return new RecordedWorkload(
                "log", inOrder.getFirst().submitted.blockTokens(), List.copyOf(tenants.keySet()), requests, routes, nodes.size());
    }

    private static Request request(int index, int tenant, long arrivalMs, Line line) {
        RequestSubmitted submitted = line.submitted;
        int tokens = Math.max(1, submitted.promptTokens());
        List<BlockKey> keys = new ArrayList<>();
        submitted.keys().forEach(key -> keys.add(key(key)));
        Request.Shape shape = new Request.Shape(tokens, line.generated, submitted.blockTokens());
        if (keys.size() < shape.promptBlocks()) {
            keys.add(new BlockKey(-1, index)); // the partial block: never shared
        }
        List<BlockKey> generated = new ArrayList<>();
        for (int i = shape.wholeBlocks(); i < shape.sealedBlocks() && line.sealed.containsKey(i); i++) {
            generated.add(key(line.sealed.getOrDefault(i, Bytes.EMPTY)));
        }
        boolean allKnown = generated.size() == shape.sealedBlocks() - shape.wholeBlocks();
        return new Request(
                index, tenant, arrivalMs, shape, keys, allKnown ? generated : List.of(), submitted.reuseEligible(), Request.NO_PREDECESSOR);
    }

    /** Keys of 16 bytes as they are; others by their SHA-256. */
    private static BlockKey key(Bytes key) {
        ByteBuffer bytes = key.asByteBuffer();
        ByteBuffer half = bytes.remaining() == BlockKey.BYTES ? bytes : ByteBuffer.wrap(Sha256.digest().digest(key.toArray()));
        return new BlockKey(half.getLong(), half.getLong());
    }

    private int capacity(Tier tier) {
        return (int) agents.values().stream()
                .flatMap(agent -> agent.tiers().stream())
                .filter(one -> one.tier() == tier)
                .mapToLong(TierCapacity::capacityBlocks)
                .max()
                .orElse(0);
    }

    private long blockBytes() {
        return agents.values().stream().flatMap(agent -> agent.tiers().stream()).mapToLong(TierCapacity::blockBytes).max().orElse(1);
    }

    private OptionalInt prefillNanos() {
        return engines.values().stream()
                .map(engine -> engine.configuration().get("prefill_us_per_token"))
                .filter(text -> text != null && text.matches("\\d{1,6}"))
                .mapToInt(text -> (int) (Integer.parseInt(text) * NANOS_IN_MICRO))
                .max();
    }

    private static int number(@Nullable String text) {
        return text != null && text.matches("\\d{1,9}") ? Integer.parseInt(text) : DEFAULT_WAIT_MS;
    }
}
