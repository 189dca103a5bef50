/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.probe.ProbeCounts.End;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.events.Causes;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.threads.Supervised;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for promotion of what is on a disk and in no memory: looks where each block is, leaves out what was asked for lately, and hands on batches
 * for each node. One thread of its own, a bounded queue before it that callers share fairly; safe for use by several threads. What is lost here
 * costs a slower read, never an answer.
 */
public final class PromotionProbes implements ProbeSink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PromotionProbes.class);
    private static final String NODE = "node/";

    private final PromotionRequests requests;
    private final ProbeLimits limits;
    private final Function<KeyQuery, Optional<KeyAnswers>> directory;
    private final LongSupplier clockMs;
    private final RecentProbes recent;
    private final ProbeCounts counts = new ProbeCounts();
    private final WaitingProbes waiting;
    private final AtomicBoolean failing = new AtomicBoolean();
    private final ThreadPoolExecutor thread;

    /** A sink that looks in {@code directory}. */
    public PromotionProbes(PromotionRequests requests, ProbeLimits limits, Function<KeyQuery, Optional<KeyAnswers>> directory) {
        this(requests, limits, directory, System::currentTimeMillis);
    }

    /** One with a clock of one's own, for tests. */
    PromotionProbes(
            PromotionRequests requests, ProbeLimits limits, Function<KeyQuery, Optional<KeyAnswers>> directory, LongSupplier clockMs) {
        this.requests = requests;
        this.limits = limits;
        this.directory = directory;
        this.clockMs = clockMs;
        recent = new RecentProbes(limits);
        waiting = new WaitingProbes(limits.underWay(), limits.keysUnderWay());
        thread = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(limits.underWay()),
                Supervised.pool("tierlog-directory-probes"));
    }

    @Override
    public boolean probe(Probe probe, List<String> nodes) {
        WaitingProbes.Waiting added = new WaitingProbes.Waiting(probe, nodes);
        List<WaitingProbes.Waiting> dropped = waiting.add(added);
        dropped.forEach(each -> counts.count(End.DROPPED, each.keys()));
        if (dropped.contains(added)) {
            return false;
        }
        try {
            thread.execute(this::takeNext);
        } catch (RejectedExecutionException e) {
            // As many turns are due as probes may wait: one of them is this probe's. Or this is closed.
        }
        return true;
    }

    /** A node has answered a probe of any sender: blocks that it refuses for a while are not requested from it meanwhile. */
    public void answered(PromotionAnswered answered) {
        String aggregate = answered.envelope().aggregate();
        if (!aggregate.startsWith(NODE)) {
            return;
        }
        String node = aggregate.substring(NODE.length());
        long nowMs = clockMs.getAsLong();
        for (PromotionAnswer answer : answered.answers()) {
            for (Block block : answer.blocks()) {
                recent.replied(answered.namespace(), block.key(), node, answer.reply(), answer.retryMs(), nowMs);
            }
        }
    }

    /** What became of the blocks of all probes. */
    public ProbeCounts counts() {
        return counts;
    }

    /** Runs something once all probes so far are looked at; for tests. */
    void afterAll(Runnable what) {
        thread.execute(what);
    }

    /** One turn; there may be more turns than probes, since a probe that was dropped leaves its turn. */
    private void takeNext() {
        waiting.next().ifPresent(next -> {
            try {
                take(next);
            } finally {
                waiting.done(next);
            }
        });
    }

    private void take(WaitingProbes.Waiting next) {
        try {
            if (look(next.probe(), next.nodes())) {
                failing.set(false);
            } else {
                counts.count(End.FAILED, next.keys());
            }
        } catch (RuntimeException e) {
            counts.count(End.FAILED, next.keys());
            if (failing.compareAndSet(false, true)) {
                LOG.warn("probes cannot be looked at, and nothing is promoted for them meanwhile", e);
            }
        }
    }

    /** False when no shard can answer where blocks are. */
    private boolean look(Probe probe, List<String> nodes) {
        KeyQuery question = new KeyQuery(Namespaces.digest(probe.namespace()), probe.keys(), probe.width(), true);
        Optional<KeyAnswers> answers = directory.apply(question);
        if (answers.isEmpty()) {
            return false;
        }
        List<Holders> holders = new ArrayList<>(question.count());
        for (int i = 0; i < question.count(); i++) {
            holders.add(Holders.of(answers.get().found(i)));
        }
        Map<String, List<PromotionRequests.Wanted>> byNode = new LinkedHashMap<>();
        List<String> order = nodes.isEmpty() ? order(holders) : List.of();
        for (int i = 0; i < question.count(); i++) {
            Bytes key = Bytes.wrapUnshared(Arrays.copyOfRange(probe.keys(), i * probe.width(), (i + 1) * probe.width()));
            Holders of = holders.get(i);
            for (String node : nodes.isEmpty() ? anywhere(probe.namespace(), key, of, order) : of.onlyOnDisk(nodes)) {
                if (recent.add(probe.namespace(), key, node, clockMs.getAsLong())) {
                    byNode.computeIfAbsent(node, _ -> new ArrayList<>()).add(new PromotionRequests.Wanted(probe.firstIndex() + i, key));
                } else {
                    counts.count(End.KEPT_BACK, 1);
                }
            }
        }
        // The first batch of each node before the second of any: many blocks of one node do not delay the one of another.
        int most = byNode.values().stream().mapToInt(List::size).max().orElse(0);
        for (int from = 0; from < most; from += limits.batch()) {
            for (Map.Entry<String, List<PromotionRequests.Wanted>> each : byNode.entrySet()) {
                List<PromotionRequests.Wanted> blocks = each.getValue();
                if (from < blocks.size()) {
                    request(each.getKey(), probe.namespace(), blocks.subList(from, Math.min(from + limits.batch(), blocks.size())));
                }
            }
        }
        return true;
    }

    /** The nodes that have a block: on their disk, in a memory. */
    private record Holders(Set<String> onDisk, Set<String> inMemory) {
        static Holders of(Found found) {
            Holders holders = new Holders(new TreeSet<>(), new TreeSet<>());
            for (BlockPlacement placed : found.placements()) {
                if (placed.location().isOnNode()) {
                    boolean disk = placed.location().tier() == Tier.DISK;
                    (disk ? holders.onDisk : holders.inMemory).add(placed.location().node());
                }
            }
            return holders;
        }

        /** Those among {@code nodes} that have it on their disk alone, whatever others have. */
        List<String> onlyOnDisk(List<String> nodes) {
            return onDisk.stream().filter(node -> nodes.contains(node) && !inMemory.contains(node)).toList();
        }
    }

    /** Nodes with blocks of a probe: first the one that has most of them, in whatever tier, so that a prefix comes together; then the less asked. */
    private List<String> order(List<Holders> holders) {
        Map<String, Integer> blocks = new TreeMap<>();
        for (Holders of : holders) {
            Set<String> all = new TreeSet<>(of.onDisk);
            all.addAll(of.inMemory);
            all.forEach(node -> blocks.merge(node, 1, Integer::sum));
        }
        long nowMs = clockMs.getAsLong();
        List<String> order = new ArrayList<>(blocks.keySet());
        order.sort(Comparator.comparingInt((String node) -> -blocks.getOrDefault(node, 0)).thenComparingInt(node -> recent.of(node, nowMs)));
        return order;
    }

    /**
     * The node to promote a block. The list is empty when a node has the block in memory, or when one of its holders received a request for it
     * lately, or when all of them have refused it for now.
     */
    private List<String> anywhere(String namespace, Bytes key, Holders of, List<String> order) {
        long nowMs = clockMs.getAsLong();
        boolean asked = of.onDisk.stream().anyMatch(node -> recent.has(namespace, key, node, nowMs));
        List<String> chosen = asked || !of.inMemory.isEmpty() ? List.of() : order.stream()
                .filter(node -> of.onDisk.contains(node) && !recent.isKeptBack(namespace, key, node, nowMs))
                .limit(1)
                .toList();
        if (chosen.isEmpty() && of.inMemory.isEmpty() && !of.onDisk.isEmpty()) {
            counts.count(End.KEPT_BACK, 1);
        }
        return chosen;
    }

    private void request(String node, String namespace, List<PromotionRequests.Wanted> blocks) {
        try {
            requests.request(node, namespace, List.copyOf(blocks));
            counts.count(End.ASKED, blocks.size());
        } catch (RuntimeException e) {
            LOG.warn("{} blocks on the disk of {} were not asked for: {}", blocks.size(), node, Causes.of(e));
            counts.count(End.FAILED, blocks.size());
            blocks.forEach(block -> recent.remove(namespace, block.key(), node));
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
