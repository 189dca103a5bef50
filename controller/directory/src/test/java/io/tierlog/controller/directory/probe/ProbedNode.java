/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.controller.directory.streams.TestAnswers;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** One node before the core, whose disk has some blocks, and probes to it through what the directory does with them. For one thread. */
final class ProbedNode implements AutoCloseable {
    static final String NODE = "a";

    private static final String NAMESPACE = "model/a";
    private static final String AGGREGATE = "node/" + NODE;
    private static final Bytes DIGEST = Bytes.wrapUnshared(new byte[32]);
    private static final int MOST = 2_000;

    private final Core core = new Core(Limits.DEFAULTS);
    private final HeapTables tables = new HeapTables();
    private final PromotionProbes probes;
    private final Map<Bytes, Integer> numbers = new LinkedHashMap<>();
    private final List<Running> running = new ArrayList<>();
    private long nowMs = 1_000;
    private long offset;
    private long sequence;
    private long takesMs;
    private @Nullable OperationReason refusal;
    private boolean elsewhere;
    private boolean replies = true;
    private int requests;
    private long started;
    private long lastStartMs;
    private PromotionReply lastReply = PromotionReply.UNKNOWN;

    /** A promotion at the agent, and when it ends. */
    private record Running(PromoteBlocks command, long endMs) {}

    ProbedNode(PromotionPolicy promotion, int blocks) {
        this(promotion, blocks, MOST);
    }

    /** A node whose host has so many blocks. */
    ProbedNode(PromotionPolicy promotion, int blocks, int hostBlocks) {
        PeerPolicy peers = new PeerPolicy(true, 4, 1_024, 10_000, 200, 600, 1_000, 5_000);
        Policy policy = new Policy(2, WritePolicy.WRITE_BACK, 1.0, 0.9, 1.0, 0.9, false, 100, 60_000, 100, 0, false, null,
                new FetchPolicy(promotion, peers));
        step(new PolicyPublished(new Envelope("clock/0", "policy", 0, 1, 0, 0, null, null, null), 1, policy));
        tick();
        Layout layout = new Layout("all", LayoutKind.ATTENTION, 1, 16, 4_096, 1, "bf16", false);
        step(new AgentRegistering(new Envelope(AGGREGATE, "agent/a/p", 0, ++sequence, 0, 0, null, null, null), NODE, "p", "1",
                List.of(new TierCapacity(Tier.HOST, hostBlocks, 4_096), new TierCapacity(Tier.DISK, MOST, 4_096)), List.of(layout), DIGEST, 1, 1,
                Map.of(), DIGEST, null, null, false));
        List<PagedBlock> found = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            Bytes key = PlacementLog.key(i);
            numbers.put(key, i);
            found.add(new PagedBlock(new Block(i, key, i == 0 ? Bytes.EMPTY : PlacementLog.key(i - 1)), -1, 7, 77));
        }
        step(new BlocksRecovered(envelope(), Tier.DISK, NAMESPACE, found, 0));
        probes = new PromotionProbes(this::request, ProbeLimits.DEFAULTS, question -> Optional.of(answer(question)), () -> nowMs);
    }

    private Envelope envelope() {
        return new Envelope(AGGREGATE, "agent/a/p", 1, ++sequence, 0, 0, null, null, null);
    }

    private void step(Event event) {
        DecideResult decided = core.step(tables, new Input.Recorded(0, ++offset, event, 0));
        if (!decided.outcome().equals(Outcome.APPLIED)) {
            throw new IllegalStateException(decided.outcome() + ": " + event);
        }
        decided.facts().stream().filter(PromotionAnswered.class::isInstance).map(PromotionAnswered.class::cast).forEach(fact -> {
            lastReply = fact.answers().getLast().reply();
            if (replies) {
                probes.answered(fact);
            }
        });
        for (Command command : decided.commands()) {
            if (command instanceof PromoteBlocks promote) {
                running.add(new Running(promote, nowMs + takesMs));
                started += promote.blocks().size();
                lastStartMs = nowMs;
            }
        }
    }

    private void tick() {
        step(new Tick(new Envelope("clock/0", "clock/0", 0, 0, 0, nowMs, null, null, null), nowMs));
    }

    /** How long a promotion takes from here on. */
    void takesMs(long ms) {
        takesMs = ms;
    }

    /** The agent refuses the next promotion. */
    void refuses(OperationReason why) {
        refusal = why;
    }

    /** The directory gets no reply from here on. */
    void goesUnheard() {
        replies = false;
    }

    /** Another node has everything in memory. */
    void elsewhereInMemory() {
        elsewhere = true;
    }

    /** Time passes, and promotions end. */
    void advance(long ms) {
        long until = nowMs + ms;
        while (nowMs < until) {
            nowMs = Math.min(until, running.stream().mapToLong(Running::endMs).filter(end -> end > nowMs).min().orElse(until));
            tick();
            List<Running> ended = running.stream().filter(one -> one.endMs() <= nowMs).toList();
            running.removeAll(ended);
            ended.forEach(one -> end(one.command()));
        }
    }

    private void end(PromoteBlocks command) {
        OperationReason why = refusal;
        refusal = null;
        if (why != null) {
            step(new CommandRefused(envelope(), command.header().command(), command.header().commandSequence(), command.operation(), why, ""));
            return;
        }
        List<BlockResult> results = command.blocks().stream().map(block -> new BlockResult(block.block(), BlockStatus.ARRIVED,
                OperationReason.COMPLETED, block.block().index(), 1, 77, Tier.DISK)).toList();
        step(new PromoteDone(envelope(), command.operation(), command.lease(), command.namespace(), results, List.of(), 4_096L * results.size(), 1));
    }

    /** All leaves the host. */
    void evict() {
        List<PagedBlock> gone = new ArrayList<>();
        tables.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            if (key.tier() == Tier.HOST && row.state() == PlacementState.SERVING) {
                gone.add(new PagedBlock(new Block(row.index(), key.block(), row.parent()), row.page(), row.generation(), row.crc32c()));
            }
        });
        step(new BlocksEvicted(envelope(), Tier.HOST, NAMESPACE, RemovalReason.PRESSURE, gone));
    }

    /** Probes for blocks {@code from} to {@code to} - 1, and waits until they are looked at. */
    void probe(int from, int to) throws InterruptedException {
        probe(from, to, List.of());
    }

    void probe(int from, int to, List<String> nodes) throws InterruptedException {
        byte[] keys = new byte[(to - from) * 16];
        for (int i = from; i < to; i++) {
            System.arraycopy(PlacementLog.key(i).unshared(), 0, keys, (i - from) * 16, 16);
        }
        probes.probe(new ProbeSink.Probe("router", NAMESPACE, keys, 16, from), nodes);
        CountDownLatch looked = new CountDownLatch(1);
        probes.afterAll(looked::countDown);
        looked.await();
    }

    private void request(String node, String namespace, List<PromotionRequests.Wanted> blocks) {
        requests++;
        step(new PromotionRequested(new Envelope("node/" + node, "directory/d", 0, 0, 0, 0, null, null, null), "e" + requests, namespace,
                blocks.stream().map(one -> new Block(one.index(), one.key(), Bytes.EMPTY)).toList()));
    }

    private KeyAnswers answer(KeyQuery question) {
        Map<Bytes, List<BlockPlacement>> placed = new LinkedHashMap<>();
        tables.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            if (row.state() == PlacementState.SERVING) {
                placed.computeIfAbsent(key.block(), _ -> new ArrayList<>())
                        .add(new BlockPlacement(new Location(key.aggregate(), key.tier()), row.incarnation(), row.index(), row.generation()));
            }
        });
        List<Found> found = new ArrayList<>();
        for (int i = 0; i < question.count(); i++) {
            Bytes key = Bytes.wrapUnshared(Arrays.copyOfRange(question.keys(), i * 16, i * 16 + 16));
            List<BlockPlacement> places = new ArrayList<>(placed.getOrDefault(key, List.of()));
            if (elsewhere) {
                places.add(new BlockPlacement(new Location("node/b", Tier.HOST), 1, numbers.getOrDefault(key, 0), 1));
            }
            found.add(new Found(places.isEmpty() ? Presence.NOT_FOUND : Presence.FOUND, places));
        }
        return TestAnswers.of(question, found);
    }

    /** Records that the directory put on the log. */
    int requests() {
        return requests;
    }

    /** Blocks whose promotion was begun. */
    long started() {
        return started;
    }

    /** When the last promotion began. */
    long lastStartMs() {
        return lastStartMs;
    }

    /** The last reply about a block. */
    PromotionReply lastReply() {
        return lastReply;
    }

    /** Blocks that serve on the host. */
    long onHost() {
        return tables.rows(Rows.PLACEMENTS).entrySet().stream()
                .filter(one -> one.getKey().tier() == Tier.HOST && one.getValue().state() == PlacementState.SERVING).count();
    }

    @Override
    public void close() {
        probes.close();
    }
}
