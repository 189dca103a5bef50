/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import io.tierlog.controller.core.Namespaces;
import io.tierlog.controller.directory.index.Placed;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.streams.Answers;
import io.tierlog.controller.directory.streams.Question;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for promotion of what is on a disk and in no memory: looks where each block is, leaves out what was asked for lately, and hands on batches
 * for each node. One thread of its own, a bounded queue before it; safe for use by several threads. What is lost here costs a slower read, never
 * an answer.
 */
public final class PromotionProbes implements ProbeSink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PromotionProbes.class);

    private final PromotionRequests requests;
    private final ProbeLimits limits;
    private final Function<Question, Optional<Answers>> directory;
    private final LongSupplier clockMs;
    private final RecentProbes recent;
    private final AtomicLong dropped = new AtomicLong();
    private final ThreadPoolExecutor thread;

    /** A sink that looks in {@code directory}. */
    public PromotionProbes(PromotionRequests requests, ProbeLimits limits, Function<Question, Optional<Answers>> directory) {
        this(requests, limits, directory, System::currentTimeMillis);
    }

    /** One with a clock of one's own, for tests. */
    PromotionProbes(
            PromotionRequests requests, ProbeLimits limits, Function<Question, Optional<Answers>> directory, LongSupplier clockMs) {
        this.requests = requests;
        this.limits = limits;
        this.directory = directory;
        this.clockMs = clockMs;
        recent = new RecentProbes(limits);
        thread = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(limits.underWay()), task -> {
            Thread made = new Thread(task, "tierlog-directory-probes");
            made.setDaemon(true);
            return made;
        });
    }

    @Override
    public boolean probe(Probe probe, List<String> nodes) {
        try {
            thread.execute(() -> look(probe, nodes));
            return true;
        } catch (RejectedExecutionException e) {
            dropped.incrementAndGet();
            return false;
        }
    }

    /** Probes that were dropped, since too many were under way. */
    public long dropped() {
        return dropped.get();
    }

    /** Runs something once all probes so far are looked at; for tests. */
    void afterAll(Runnable what) {
        thread.execute(what);
    }

    private void look(Probe probe, List<String> nodes) {
        Question question = new Question(Namespaces.digest(probe.namespace()), probe.keys(), probe.width(), true);
        Optional<Answers> answers = directory.apply(question);
        if (answers.isEmpty()) {
            return;
        }
        Map<String, List<PromotionRequests.Wanted>> byNode = new LinkedHashMap<>();
        for (int i = 0; i < question.count(); i++) {
            Bytes key = Bytes.wrapUnshared(Arrays.copyOfRange(probe.keys(), i * probe.width(), (i + 1) * probe.width()));
            for (String node : wanted(answers.get().found(i), nodes)) {
                if (recent.add(probe.namespace(), key, node, clockMs.getAsLong())) {
                    byNode.computeIfAbsent(node, _ -> new ArrayList<>()).add(new PromotionRequests.Wanted(probe.firstIndex() + i, key));
                }
            }
        }
        byNode.forEach((node, blocks) -> {
            for (int from = 0; from < blocks.size(); from += limits.batch()) {
                request(node, probe.namespace(), blocks.subList(from, Math.min(from + limits.batch(), blocks.size())));
            }
        });
    }

    /** Nodes that have a block on their disk alone: of those that are wanted, or the first of all when it is in no memory anywhere. */
    private static List<String> wanted(Found found, List<String> nodes) {
        TreeSet<String> onDisk = new TreeSet<>();
        TreeSet<String> inMemory = new TreeSet<>();
        for (Placed placed : found.placements()) {
            if (placed.location().isOnNode()) {
                boolean disk = placed.location().tier() == Tier.DISK;
                (disk ? onDisk : inMemory).add(placed.location().node());
            }
        }
        if (nodes.isEmpty()) {
            return inMemory.isEmpty() ? onDisk.stream().limit(1).toList() : List.of();
        }
        return onDisk.stream().filter(node -> nodes.contains(node) && !inMemory.contains(node)).toList();
    }

    private void request(String node, String namespace, List<PromotionRequests.Wanted> blocks) {
        try {
            requests.request(node, namespace, List.copyOf(blocks));
        } catch (RuntimeException e) {
            LOG.warn("{} blocks on the disk of {} were not asked for: {}", blocks.size(), node, e.toString());
            blocks.forEach(block -> recent.remove(namespace, block.key(), node));
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
