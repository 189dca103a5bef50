/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.report.Report;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the control benchmark: all parts in turn, in rounds, so that other work on the machine slows all of them alike; the ratios count. A first
 * round is not measured, for the compiler; work of less than a second goes without it. Each round begins with another part.
 *
 * <p>One thread. Trade-off: time, since a part is stopped while another is measured, and started again in the next round.
 */
public final class ControlBench {
    private static final long ANSWER_MS = 15_000;
    private static final double WARM_UP_S = 1;
    private static final int WARM_UP_PART = 2;
    private static final int WARM_UP_MS = 1_000;
    private static final int WARM_UP_COMMITS = 3;

    private final Environment environment;
    private final Consumer<String> progress;
    private final Bulk bulk;
    private final String passedOn;
    private final PassThrough passThrough;
    private final Submitters toPassThrough;
    private final List<Controller> controllers;
    private final List<Lane> lanes;
    private final Measured measured = new Measured();
    private long nextRequest = 1;

    private ControlBench(Environment environment, Consumer<String> progress) {
        this.environment = environment;
        this.progress = progress;
        this.bulk = new Bulk(environment);
        this.passedOn = environment.topic("pass-out");
        this.passThrough = PassThrough.forwarding(environment, "pass", environment.topic("pass-in"), passedOn);
        this.toPassThrough = Submitters.to(environment, passThrough.from());
        this.controllers = environment.config().commands().stream()
                .map(commands -> new Controller(environment, commands))
                .toList();
        this.lanes = lanes();
    }

    /** The results, by part. */
    static final class Measured {
        final Map<Part, LatencyResult> latency = new EnumMap<>(Part.class);
        final Map<CommandDelivery, Bulk.Result> controllers = new EnumMap<>(CommandDelivery.class);
        Bulk.Result passThrough = Bulk.Result.NOTHING;
        Replay.@Nullable Result recorded;
        @Nullable Profile profile;
        int recordBytes;
    }

    /**
     * Runs it; takes minutes.
     *
     * @param progress receives a few words on each step
     * @throws BenchException when it cannot be run, or a part of it failed
     */
    public static Report run(ControlBenchConfig config, Consumer<String> progress) {
        long start = System.nanoTime();
        progress.accept(config.bootstrapServers().isPresent() ? "connecting" : "starting a broker in a process of its own");
        try (Environment environment = Environment.open(config)) {
            // Read first: what cannot be replayed is refused before minutes have passed.
            LogSupply supply = supply(environment);
            ControlBench bench = new ControlBench(environment, progress);
            bench.replay(supply);
            bench.rounds();
            double elapsed = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
            return ControlReport.of(config, bench.measured, elapsed);
        } catch (InterruptedException interrupted) {
            throw Environment.interrupted(interrupted);
        }
    }

    private static LogSupply supply(Environment environment) {
        ControlBenchConfig config = environment.config();
        if (config.recorded().events().isPresent()) {
            ControlBenchConfig.Events events = config.recorded().events().get();
            try (LogSource source = events.source()) {
                return ReadLog.of(events.name(), source, events.topics());
            }
        }
        ControlBenchConfig.Shape shape = config.shape();
        FullHost.Shape full = new FullHost.Shape("events", environment.nodes(), shape.partitions(), shape.hostBlocks());
        return new LogSupply() {
            @Override
            public String name() {
                return "bundled, full hosts";
            }

            private @Nullable RecordedLog last;
            private int lastRequests;

            @Override
            public RecordedLog log(int requests) {
                if (last == null || lastRequests != requests) {
                    last = new FullHost(environment.codec(), full, System.currentTimeMillis() - TimeUnit.HOURS.toMillis(1)).record(requests);
                    lastRequests = requests;
                }
                return last;
            }
        };
    }

    private void replay(LogSupply supply) throws InterruptedException {
        ControlBenchConfig config = environment.config();
        Profile profile = config.recorded().profiled() ? new Profile(environment.directory("")) : null;
        measured.profile = profile;
        measured.recorded = new Replay(environment, supply, progress)
                .run(config.load().workSeconds(), profile == null ? Throughput.Observer.NONE : profile);
    }

    private List<Lane> lanes() {
        List<Lane> all = new ArrayList<>();
        CommandDelivery primary = environment.config().commands().getFirst();
        all.add(Lanes.hop(environment));
        all.add(Lanes.relay(environment));
        all.add(Lanes.passThrough(environment, passThrough, passedOn, toPassThrough, false));
        ControlBenchConfig.Shape shape = environment.config().shape();
        all.add(new ControllerLane(
                environment, new Controller(environment, primary, "full", shape.hostBlocks()), Part.FULL));
        for (Controller controller : controllers) {
            if (controller.commands() == CommandDelivery.DIRECT) {
                all.add(new ControllerLane(environment, controller, Part.DIRECT));
            } else {
                all.add(new ControllerLane(environment, controller, Part.TRANSACTIONAL));
                all.add(new ControllerLane(environment, controller, Part.AFTER_COMMIT));
                all.add(Lanes.passThrough(environment, passThrough, passedOn, toPassThrough, true));
            }
        }
        return all;
    }

    private void rounds() throws InterruptedException {
        ControlBenchConfig.Load load = environment.config().load();
        double seconds = load.workSeconds() / (double) load.rounds();
        if (load.workSeconds() >= WARM_UP_S) {
            progress.accept("warming up");
            round(new Measured(), Math.min(seconds / WARM_UP_PART, WARM_UP_S), 0);
        }
        for (int round = 1; round <= load.rounds(); round++) {
            String prefix = "round " + round + "/" + load.rounds();
            progress.accept(prefix);
            round(measured, seconds, round);
        }
    }

    private void round(Measured into, double seconds, int round) throws InterruptedException {
        progress.accept("  throughput: empty pass-through");
        into.passThrough = into.passThrough.plus(bulk.through(passThrough, passedOn, toPassThrough, this::take, seconds));
        for (Controller controller : controllers) {
            progress.accept("  throughput: Tierlog, commands " + controller.commands());
            Bulk.Result result = bulk.through(controller, this::take, seconds);
            into.controllers.merge(controller.commands(), result, Bulk.Result::plus);
        }
        List<Lane> turn = new ArrayList<>(lanes);
        Collections.rotate(turn, -round);
        for (Lane lane : turn) {
            progress.accept("  latency: " + lane.part().title());
            into.latency.merge(lane.part(), latency(lane), LatencyResult::plus);
        }
    }

    private LatencyResult latency(Lane lane) throws InterruptedException {
        ControlBenchConfig.Load load = environment.config().load();
        // The first commits after a start find their coordinators, which takes a hundred times as long as a commit.
        int warmUpMs = Math.max(WARM_UP_MS, WARM_UP_COMMITS * environment.config().tuning().commitIntervalMs());
        int warmUp = Math.max(1, load.rate() * warmUpMs / 1_000);
        int count = warmUp + load.rate() * load.seconds();
        long period = TimeUnit.SECONDS.toNanos(1) / load.rate();
        Arrivals arrivals = new Arrivals(new Arrivals.Stretch(take(count), warmUp, count, period));
        try (Lane.Running running = lane.open(arrivals)) {
            measured.recordBytes = Math.max(measured.recordBytes, OpenLoop.run(running, arrivals));
            arrivals.await(ANSWER_MS);
            running.settle();
        }
        return LatencyResult.of(arrivals);
    }

    /** The first of {@code count} fresh numbers of requests. */
    private long take(int count) {
        long first = nextRequest;
        nextRequest += count;
        return first;
    }
}
