/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.ops.simulation.oracle.DrainOracle;
import io.tierlog.ops.simulation.oracle.InputOracle;
import io.tierlog.ops.simulation.oracle.SenderOracle;
import io.tierlog.ops.simulation.oracle.StoreOracle;
import io.tierlog.ops.simulation.oracle.TimerOracle;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.OperationKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One world from its beginning to its rest: first anything happens in any order, faults among it (safety), then all is mended, and then everything
 * must come to an end (liveness). Everything is checked all the time. For one thread.
 */
final class Episode {
    /** Things that users want in an episode, at least. */
    static final int INPUTS = 200;

    /** Steps of the first phase, at least. */
    private static final int STEPS = 8_500;

    private static final int TABLES_EVERY = 50;

    private static final int MOST_STEPS = 15_000;

    /** What came of an episode: {@code digest} of all records, and {@code failure}, which is null when all was well. */
    record Result(
            Counts counts, long digest, Map<FaultKind, Long> faults, Map<OperationKind, Long> operations, Map<MigrationCount, Long> migrations,
            Map<FetchCount, Long> fetches, Map<ExpiryCount, Long> expiries, @Nullable Failure failure) {}

    /** How much there was. */
    record Counts(Asked asked, long steps, long events, long records, long readsChecked, long writesChecked, long wrong, int nodes, int ranks) {
        static final Counts NONE = new Counts(new Asked(0, 0, 0), 0, 0, 0, 0, 0, 0, 0, 0);

        long inputs() {
            return asked.inputs;
        }
    }

    /** What users asked for: all of it, the requests among it, and attempts of those that were preempted. */
    record Asked(long inputs, long requests, long retries) {}

    /** What was wrong: its kind, the whole of it, the mix, the choices that lead there, and the last that happened when it was traced. */
    record Failure(String kind, String what, String mix, List<int[]> choices, List<String> trace) {}

    private final Choices choices;
    private final Stage stage;
    private final Workload workload;
    private final Checks checks;
    private final Operators operators;
    private final MigrationOracle migrations;
    private final FetchTally fetches = new FetchTally();
    private final InputOracle effect;
    private final int inputs;

    private Episode(Choices choices, Set<FaultKind> allowed, boolean tracing, World.Watcher watcher) {
        this.choices = choices;
        choices.begin();
        FaultPlan plan = FaultPlan.draw(choices, allowed);
        inputs = INPUTS + choices.next(100);
        World world = EpisodeSettings.world(choices, plan.reading());
        stage = new Stage(choices, plan, world);
        workload = new Workload(world, choices);
        checks = new Checks(tracing);
        operators = new Operators(stage, workload::spokenOf);
        migrations = new MigrationOracle(stage);
        world.watch(checks);
        world.watch(migrations);
        world.watch(fetches);
        effect = new InputOracle(world.log());
        world.watch(effect);
        world.watch(new TimerOracle(world));
        world.watch(new SenderOracle());
        world.watch(new DrainOracle(world));
        world.watch(new ExpiryOracle(stage));
        world.watch(new StoreOracle());
        world.watch(watcher);
    }

    /** Runs one. Whatever is thrown in it, an Error too, is its failure: an episode that did not come to its end is not clean. */
    static Result run(Choices choices, Set<FaultKind> allowed, boolean tracing) {
        return run(choices, allowed, tracing, new World.Watcher() {});
    }

    /** The same, with one more that sees everything. */
    static Result run(Choices choices, Set<FaultKind> allowed, boolean tracing, World.Watcher watcher) {
        Episode episode = null;
        try {
            episode = new Episode(choices, allowed, tracing, watcher);
            episode.run();
            return episode.result(null);
        } catch (Throwable wrong) {
            return episode == null ? notBegun(choices, wrong) : episode.result(wrong);
        }
    }

    private static Result notBegun(Choices choices, Throwable wrong) {
        Failure failure = new Failure(kind(wrong), String.valueOf(wrong), "no world was made", choices.recorded(), List.of());
        return new Result(Counts.NONE, 0, Map.of(), Map.of(), Map.of(), Map.of(), Map.of(), failure);
    }

    private void run() {
        World world = stage.world;
        world.startController();
        world.requestPolicy(world.settings().policy(), 0);
        world.tick();
        world.nodes().forEach(node -> node.start());
        Schedule schedule = new Schedule(stage, workload, operators);
        while ((workload.inputs() < inputs || stage.step < STEPS) && stage.step < MOST_STEPS && !choices.exhausted()) {
            String what = schedule.step();
            checks.note(what);
            requireRightContent();
            if (stage.step % TABLES_EVERY == 0) {
                checks.tables(world);
            }
        }
        Rest rest = new Rest(stage, checks, operators, migrations);
        rest.heal();
        requireRightContent();
        rest.come(workload.recent());
        requireRightContent();
        rest.check();
        effect.end();
    }

    private void requireRightContent() {
        if (stage.world.tally().wrong() > 0) {
            throw new SimulationFailure("I9, content: " + stage.world.tally().findings());
        }
    }

    private Result result(@Nullable Throwable wrong) {
        World world = stage.world;
        Asked asked = new Asked(workload.inputs(), workload.requests(), workload.retries());
        Counts counts = new Counts(asked, stage.step, checks.events(), checks.records(), world.tally().reads(), world.tally().writes(),
                world.tally().wrong(), world.nodes().size(), world.settings().ranks());
        Failure failure = wrong == null ? null
                : new Failure(kind(wrong), String.valueOf(wrong), stage.plan.toString(), choices.recorded(), traceOf(wrong));
        return new Result(counts, checks.digest(), stage.faults, checks.operations(), stage.migrations, fetches.counts(), stage.expiries,
                failure);
    }

    private List<String> traceOf(Throwable wrong) {
        List<String> trace = new ArrayList<>();
        if (checks.isTracing()) {
            for (StackTraceElement element : wrong.getStackTrace()) {
                trace.add("at " + element);
            }
            trace.addAll(checks.trace());
        }
        return trace;
    }

    /** What a failure is, without what differs from case to case. */
    private static String kind(Throwable wrong) {
        String message = String.valueOf(wrong.getMessage());
        int colon = message.indexOf(':');
        String head = (colon < 0 ? message : message.substring(0, colon)).replaceAll("[0-9a-f]{6,}|[0-9]+", "#");
        return wrong.getClass().getSimpleName() + " " + head;
    }
}
