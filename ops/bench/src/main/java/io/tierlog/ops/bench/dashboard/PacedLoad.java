/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import io.tierlog.ops.bench.control.BusyNodes;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The load: requests in turn at all nodes, as many as make the events of a rate, and a heartbeat of each node a second. First {@link #past}, then
 * {@link #start} on a thread of its own. Between the two one thread.
 */
final class PacedLoad implements AutoCloseable {
    private static final long PAST_STEP_MS = 10_000;
    private static final long HISTORY_MS = TimeUnit.MINUTES.toMillis(370);
    private static final int PAST_REQUESTS = 4;
    private static final long PAUSE_NANOS = 1_000_000;

    private final DashboardBenchConfig config;
    private final LoadLog log;
    private final BusyNodes nodes;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean stopping;
    private long turn;

    PacedLoad(DashboardBenchConfig config, LoadLog log) {
        this.config = config;
        this.log = log;
        this.nodes = new BusyNodes(config.nodes().shape(), System.currentTimeMillis(), log);
    }

    /**
     * Writes the log so far, as fast as it goes: hosts and devices are filled, and hours pass in which the page gets a window each ten seconds. As
     * far back as the page keeps the history of nodes, each node has a heartbeat in every window.
     */
    void past() {
        long nowMs = System.currentTimeMillis();
        long beginMs = nowMs - TimeUnit.HOURS.toMillis(config.load().pastHours());
        log.clock(() -> beginMs);
        nodes.fill();
        for (int request = 0; request < config.nodes().count() * config.nodes().requests(); request++) {
            submit();
        }
        for (long atMs = beginMs; atMs < nowMs; atMs += PAST_STEP_MS) {
            long thenMs = atMs;
            log.clock(() -> thenMs);
            for (int request = 0; request < PAST_REQUESTS; request++) {
                submit();
            }
            if (nowMs - atMs < HISTORY_MS) {
                nodes.second();
            }
        }
        log.clock(System::currentTimeMillis);
        log.flush();
    }

    private void submit() {
        int count = config.nodes().count();
        // One number more each round, so that a node does not always get the numbers of one rest.
        nodes.submit((int) (turn % count), turn + turn / count);
        turn++;
    }

    /** Begins to write at the rate. */
    void start() {
        Thread.ofPlatform().name("bench-load").daemon().start(() -> {
            try {
                run();
                ended.complete(null);
            } catch (RuntimeException | Error e) {
                ended.completeExceptionally(e);
            }
        });
    }

    private void run() {
        int count = config.nodes().count();
        long begin = System.nanoTime();
        long first = log.events();
        long beats = 0;
        long seconds = 0;
        while (!stopping) {
            double passed = (System.nanoTime() - begin) / 1e9;
            if (beats < (long) (passed * count)) {
                nodes.heartbeat((int) (beats++ % count));
            } else if (seconds < (long) passed) {
                nodes.tick();
                seconds++;
            } else if (log.events() - first < (long) (passed * config.load().rate())) {
                submit();
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            log.commitWhenDue();
        }
        log.flush();
    }

    /** Whether it still writes; it ends by itself only when it fails. */
    boolean running() {
        return !ended.isDone();
    }

    /** Ends it, and waits until all that it wrote can be read. */
    @Override
    public void close() {
        stopping = true;
        try {
            ended.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }
}
