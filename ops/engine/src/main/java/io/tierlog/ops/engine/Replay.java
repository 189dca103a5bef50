/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one workload over the engines of some nodes.
 *
 * <p>The calling thread dispatches: requests go out in order of arrival, each to the node its router names, when its predecessor has
 * ended, its time has
 * come and fewer than {@code concurrency} are in flight. Everything else happens in virtual threads, which are all gone when {@link #run} returns or
 * throws. An interrupt ends the run early, with everything closed.
 */
public final class Replay {
    private static final Logger LOG = LoggerFactory.getLogger(Replay.class);
    private static final long PROGRESS_MS = 250;

    private final ReplayConfig config;
    private final ProgressListener listener;
    private final Workload workload;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Engine.Shared shared;
    private final List<Engine> engines = new ArrayList<>();
    private final Semaphore slots;
    private final Map<Integer, CompletableFuture<Void>> inFlight = new ConcurrentHashMap<>();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();

    private Replay(ReplayConfig config, ProgressListener listener) {
        this.config = config;
        this.listener = listener;
        this.workload = config.workload();
        this.shared = Engine.Shared.of(config, new Engine.Background(threads, failure::completeExceptionally));
        this.slots = new Semaphore(config.pacing().concurrency());
    }

    /**
     * Runs the workload of {@code config} to its end.
     *
     * @throws ConfigurationError when a value of {@code config} is invalid
     * @throws ReplayError when an agent is missing at the start, or the engine's own books are wrong
     * @throws InterruptedException when the calling thread was interrupted; everything is closed then
     */
    public static RunReport run(ReplayConfig config, ProgressListener listener) throws ConfigurationError, ReplayError, InterruptedException {
        config.validate();
        return new Replay(config, listener).run();
    }

    private RunReport run() throws ReplayError, InterruptedException {
        Thread ticker = Thread.ofVirtual().name("replay-progress").unstarted(this::tick);
        try {
            open();
            ticker.start();
            dispatch();
            return report();
        } finally {
            engines.forEach(Engine::stopping);
            threads.shutdownNow();
            ticker.interrupt();
            close();
        }
    }

    private void open() throws ReplayError, InterruptedException {
        try {
            for (int i = 0; i < config.nodes().size(); i++) {
                engines.add(new Engine(shared, i));
            }
        } catch (IOException e) {
            throw new ReplayError("--shared-memory: cannot make the device memory in " + config.device().directory() + ": " + e.getMessage(), e);
        }
        engines.forEach(Engine::start);
        long onTheLogUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.timeouts().onTheLogMs());
        for (Engine engine : engines) {
            if (!(engine.node().address() instanceof AgentAddress.None)) {
                await(engine, onTheLogUntil);
            }
        }
    }

    private void await(Engine engine, long onTheLogUntil) throws ReplayError, InterruptedException {
        String name = engine.node().name();
        if (!engine.agent().awaitSession(config.timeouts().connectMs())) {
            Optional<String> reason = engine.agent().hopeless();
            throw new ReplayError(reason.orElse("no agent of node " + name + " at " + engine.node().address() + " after "
                    + config.timeouts().connectMs() + " ms; start one, or leave its address out to run without tiers"));
        }
        long leftMs = TimeUnit.NANOSECONDS.toMillis(onTheLogUntil - System.nanoTime());
        if (!engine.agent().awaitOnTheLog(Math.max(0, leftMs))) {
            LOG.warn("the agent of node {} is not on the log: nothing will be fetched or written back", name);
        }
    }

    private void dispatch() throws ReplayError, InterruptedException {
        Router router = Router.of(config.router(), engines.size());
        long leadMs = config.probes().map(ProbeAhead.Plan::aheadMs).orElse(0L);
        long startNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(leadMs);
        config.probes().ifPresent(plan -> threads.execute(() -> probe(plan, startNanos)));
        for (int i = 0; i < workload.size(); i++) {
            Request request = workload.request(i);
            CompletableFuture<Void> before = inFlight.get(request.predecessor());
            if (before != null) {
                await(before);
            }
            awaitArrival(request, startNanos);
            acquire(1);
            start(engines.get(router.route(request)), request);
        }
        acquire(config.pacing().concurrency());
    }

    /** Takes slots, unless the run has failed: then it has to end, whatever waits. */
    private void acquire(int count) throws ReplayError, InterruptedException {
        boolean acquired = false;
        while (!acquired) {
            acquired = slots.tryAcquire(count, PROGRESS_MS, TimeUnit.MILLISECONDS);
            if (failure.isCompletedExceptionally()) {
                await(new CompletableFuture<>());
            }
        }
    }

    /** Waits for {@code event}, or for the first failure of any request, which ends the run. */
    private void await(CompletableFuture<Void> event) throws ReplayError, InterruptedException {
        try {
            CompletableFuture.anyOf(event, failure).get();
        } catch (ExecutionException e) {
            throw new ReplayError("the engine failed: " + e.getCause(), e);
        }
    }

    private void awaitArrival(Request request, long startNanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(startNanos + TimeUnit.MILLISECONDS.toNanos(config.pacing().arrivalMs(request)) - System.nanoTime());
    }

    private void probe(ProbeAhead.Plan plan, long startNanos) {
        try {
            new Probing(config, plan).run(startNanos);
        } catch (InterruptedException e) {
            LOG.debug("no more prompts are announced");
        } catch (RuntimeException | Error e) {
            LOG.error("the announcement of prompts failed", e);
            failure.completeExceptionally(e);
        }
    }

    private void start(Engine engine, Request request) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        inFlight.put(request.index(), done);
        Engine.Admitted admitted = engine.admit(request);
        threads.execute(() -> {
            try {
                engine.run(admitted);
            } catch (InterruptedException e) {
                failure.completeExceptionally(e);
            } catch (RuntimeException | Error e) {
                LOG.error("request {} on node {} failed", request.index(), engine.node().name(), e);
                failure.completeExceptionally(e);
            } finally {
                inFlight.remove(request.index());
                done.complete(null);
                slots.release();
            }
        });
    }

    private RunReport report() throws InterruptedException {
        List<RunReport.PoolEnd> pools = new ArrayList<>();
        for (Engine engine : engines) {
            pools.add(engine.drain());
        }
        listener.progress(progress());
        return shared.tally().report(config.nodes(), shared.misses(), pools);
    }

    private Progress progress() {
        return shared.tally().progress(workload.size(), inFlight.size());
    }

    private void tick() {
        try {
            while (true) {
                Thread.sleep(PROGRESS_MS);
                listener.progress(progress());
                engines.forEach(Engine::watch);
            }
        } catch (InterruptedException e) {
            LOG.debug("no more progress");
        }
    }

    private void close() {
        boolean interrupted = Thread.interrupted();
        for (Engine engine : engines) {
            try {
                engine.stopSession();
            } catch (RuntimeException e) {
                LOG.warn("the session of node {} did not close in good order", engine.node().name(), e);
            }
        }
        try {
            if (!threads.awaitTermination(config.timeouts().callMs(), TimeUnit.MILLISECONDS)) {
                LOG.warn("requests still run after {} ms; their device memory stays until the process ends", config.timeouts().callMs());
                return;
            }
            for (Engine engine : engines) {
                engine.close();
            }
        } catch (IOException e) {
            LOG.warn("device memory was not removed: {}", e.toString());
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
