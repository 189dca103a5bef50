/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.simulation.engine.AgentLink;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.DirectoryModel;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.PolicyAdopted;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Runs one scenario in one mode, from its first step to its last line. For one thread. */
final class ScenarioRun {
    private static final int MOST_START_MS = 60_000;

    private final ScenarioFile file;
    private final Mode mode;
    private final Consumer<ObjectNode> out;
    private final World world;
    private final Gates gates;
    private final WorldChange.Surroundings surroundings;
    private final Labels labels;
    private final OperationBook operations;
    private final FactBook facts = new FactBook();
    private final MigrationView migrations;
    private final Checks checks;
    private final ProbeBook probes = new ProbeBook();
    private final DirectoryModel directory;
    private final View view;
    private final List<Step.Touch> touches = new ArrayList<>();
    private @Nullable Put putting;
    private boolean started;
    private int puts;
    private int failed;

    ScenarioRun(ScenarioFile file, Mode mode, Consumer<ObjectNode> out) {
        this.file = file;
        this.mode = mode;
        this.out = out;
        this.world = new World(file.world().settings(), file.world().nodes(largestPut(file)));
        this.gates = new Gates(world::nowMs);
        this.surroundings = new WorldChange.Surroundings(world, gates);
        this.labels = new Labels(file);
        this.operations = new OperationBook(labels);
        this.migrations = new MigrationView(world, labels);
        this.directory = new DirectoryModel(world);
        this.view = new View(world, file.world(), operations, new View.Books(facts, migrations, probes, directory));
        world.watch(operations);
        world.watch(facts);
        world.watch(migrations);
        this.checks = new Checks(world);
        world.watch(view);
        world.watch(directory);
        world.watch(probes);
        world.gate((node, unit) -> putting == null ? gates.standsStill(node, unit) : putting.standsStill(unit));
        world.commandGate((node, command) -> putting == null && gates.standsStill(node, command));
        world.commitEach(file.world().commitEach());
    }

    private static int largestPut(ScenarioFile file) {
        int blockTokens = file.world().blockTokens();
        return file.steps().stream().mapToInt(step -> step instanceof Step.Put put ? put.blocks().count(blockTokens) : 0).max().orElse(0);
    }

    /** Runs it; true when every expectation and every invariant held. */
    boolean run() {
        String violation = "";
        try {
            Set<Step> before = putBefore();
            for (Step step : file.steps()) {
                if (!before.contains(step)) {
                    take(step);
                }
            }
            start();
            world.commit();
            checks.end(world);
        } catch (ScenarioError e) {
            throw e;
        } catch (RuntimeException e) { // whatever a core throws is a fault of the core
            violation = e.getMessage() == null ? e.toString() : e.getMessage();
        }
        long wrong = world.tally().wrong();
        boolean passed = failed == 0 && violation.isEmpty() && wrong == 0;
        ObjectNode last = JsonNodeFactory.instance.objectNode();
        last.put("result", passed ? "passed" : "failed");
        last.put("steps", file.steps().size());
        last.put("invariants", violation.isEmpty() ? "ok" : violation);
        last.put("wrong_content", wrong);
        if (failed > 0) {
            last.put("expectations_failed", failed);
        }
        if (wrong > 0) {
            ArrayNode findings = last.putArray("wrong");
            world.tally().findings().forEach(findings::add);
        }
        out.accept(last);
        return passed;
    }

    /** Blocks that are put on disks and in the store before anything happens are there before the world begins. */
    private Set<Step> putBefore() {
        Set<Step> done = new LinkedHashSet<>();
        for (Step step : file.steps()) {
            if (!isPreparation(step)) {
                break;
            }
            if (step instanceof Step.Put put && put.tier() != Tier.HOST) {
                put(put);
                done.add(put);
            }
        }
        return done;
    }

    private static boolean isPreparation(Step step) {
        return step instanceof Step.Put || step instanceof Step.Gate || step instanceof Step.Copies || step instanceof Step.Touch
                || step instanceof Step.Deliver;
    }

    private SimNode node(String name) {
        SimNode node = world.node(name);
        if (node == null) {
            throw new IllegalStateException("there is no node " + name);
        }
        return node;
    }

    private void take(Step step) {
        start();
        if (!isPreparation(step)) {
            touchAll();
        }
        switch (step) {
            case Step.Submit s -> submit(s);
            case Step.Generate s -> expectDone(s.line(), view.home(s.request()).engine().generate(s.request(), s.tokens()));
            case Step.Finish s -> expectDone(s.line(), view.home(s.request()).engine().finish(s.request(), s.reason()));
            case Step.Cancel s -> expectDone(s.line(), view.home(s.request()).engine().cancel(s.request()));
            case Step.Settle s -> world.settle();
            case Step.Commit s -> world.commit();
            case Step.Advance s -> {
                if (s.jump()) {
                    world.jump(s.ms());
                } else {
                    advance(s.ms());
                }
                world.commit();
            }
            case Step.Gate s -> gates.set(s.node(), s.kind(), s.closed());
            case Step.Complete s -> complete(s);
            case Step.Put s -> put(s);
            case Step.Drop s -> drop(s);
            case Step.Corrupt s -> corrupt(s);
            case Step.Kill s -> kill(s);
            case Step.Start s -> begin(s);
            case Step.Abort s -> world.abort();
            case Step.Copies s -> copies(s);
            case Step.Read s -> expectDone(s.line(), node(s.node()).engine().outside().read(s.id(), prompt(s.blocks()), s.waitMs()));
            case Step.Exist s -> exist(s);
            case Step.Touch s -> touches.add(s);
            case Step.Deliver s -> world.duplicates(s.duplicates() || mode == Mode.DUPLICATES, s.late());
            case Step.Change s -> expectDone(s.line(), s.change().happen(surroundings));
            case Step.Forge s -> {
                checks.logHasLost();
                expectDone(s.line(), s.forgery().happen(world, node(s.forgery().node())));
            }
            case Step.Reserve s -> expectDone(s.line(), node(s.node()).engine().outside().reserve(prompt(s.blocks()), s.count(), s.leaseMs()));
            case Step.Release s -> expectDone(s.line(), node(s.node()).engine().outside().giveUp());
            case Step.Save s -> expectDone(s.line(), view.home(s.request()).engine().save(s.request(), s.id()));
            case Step.SetPolicy s ->
                view.policyAsked(s.id(), world.requestPolicy(s.policy(), s.basedOn() < 0 ? view.policyVersion() : s.basedOn()));
            case Step.Migrate s -> migrations.asked(world.operator().migrate(s.id(), s.nodes(), order(s)), migrations.freeName(s.id(), s.line()));
            case Step.CancelMigration s -> migrations.asked(world.operator().cancel(s.id()), "cancel " + s.id());
            case Step.ClearMarks s -> migrations.asked(world.operator().clearMarks(node(s.node()), s.id(), labels.names(s.blocks())), s.id());
            case Step.Drain s -> migrations.asked(world.operator().drain(node(s.node()), "line " + s.line(), s.drain(), s.instance()), s.id());
            case Step.Show s -> show(s);
            case Step.Expect s -> expect(s);
        }
    }

    /** A step that could not be done is an outcome, no error. */
    private void expectDone(int line, boolean done) {
        if (!done) {
            view.outcome("line " + line).put("accepted", 0).put("rejected", 1);
        }
    }

    // --- the beginning

    private void start() {
        if (started) {
            return;
        }
        started = true;
        world.startController();
        world.requestPolicy(file.world().policy(), 0);
        world.tick(); // log time begins with the world, or the first tick would end whatever has an end
        untilQuiet(() -> world.log().decisions(0).stream().anyMatch(fact -> fact instanceof PolicyAdopted));
        world.nodes().forEach(SimNode::start);
        untilQuiet(this::allConnected);
        operations.forget();
        facts.forget();
        world.restarts(mode == Mode.RESTART_EVERYWHERE ? World.Restarts.EVERYWHERE : World.Restarts.NEVER);
        world.duplicates(mode == Mode.DUPLICATES, true);
    }

    private boolean allConnected() {
        return world.nodes().stream().allMatch(this::isReady);
    }

    private boolean isReady(SimNode node) {
        AgentProcess process = node.process();
        return process != null && process.status().onTheLog() && node.engine().connected()
                && (node.spec().diskBlocks() == 0 || process.status().diskOpen());
    }

    private void untilQuiet(BooleanSupplier done) {
        for (int i = 0; i < 10 && !done.getAsBoolean(); i++) {
            world.settle();
            world.commit();
            world.settle();
        }
        if (!done.getAsBoolean()) {
            throw new IllegalStateException("the world does not begin: of its nodes "
                    + world.nodes().stream().filter(this::isReady).map(SimNode::name).toList() + " are ready");
        }
    }

    /** Time passes, and stops where a unit of a slow store ends. */
    private void advance(long ms) {
        long untilMs = world.nowMs() + ms;
        if (gates.isStoreSlow()) {
            world.settle(); // what begins now is what the store takes its time for
        }
        for (long due = gates.nextDueMs(); due < untilMs; due = gates.nextDueMs()) {
            world.advance(Math.max(1, due - world.nowMs()));
        }
        world.advance(untilMs - world.nowMs());
    }

    // --- requests

    private void submit(Step.Submit s) {
        SimNode node = node(s.node());
        view.submitted(s.request(), node);
        node.engine().submit(new Engine.Request(s.request(), s.namespace(), s.adapter(), s.tokens(), s.maxNew(), s.reuseEligible()));
    }

    private Prompt prompt(Step.Blocks blocks) {
        return labels.prompt(blocks);
    }

    private List<Integer> indexes(Step.Blocks blocks, Prompt prompt) {
        return labels.indexes(blocks, prompt);
    }

    private MigrationOrder order(Step.Migrate s) {
        Step.Order o = s.order();
        return new MigrationOrder(
                o.method(), o.source(), o.target(), o.retention(), labels.names(s.blocks()), o.sample(), o.markTimeoutMs(), o.dryRun());
    }

    private static Block block(Prompt prompt, int index) {
        return new Block(index, prompt.keys().get(index), prompt.parent(index));
    }

    // --- blocks

    private void put(Step.Put s) {
        Prompt prompt = prompt(s.blocks());
        List<Integer> indexes = indexes(s.blocks(), prompt);
        if (s.tier() == Tier.STORE) {
            indexes.forEach(index -> world.store().put(prompt.namespace(), block(prompt, index), world.oracle()));
        } else if (s.tier() == Tier.DISK) {
            SimNode node = node(s.node());
            if (node.spec().diskBlocks() == 0) {
                throw new ScenarioError(s.line(), "node " + s.node() + " has no disk: give it \"disk_blocks\" in the first line");
            }
            if (started && node.process() != null) {
                throw new ScenarioError(s.line(), "blocks are put on a disk before the first other step, or while the agent is not running:"
                        + " what a disk holds is found when its agent starts");
            }
            indexes.forEach(index -> node.disk().put(prompt.namespace(), block(prompt, index), world.oracle()));
        } else {
            putOnHost(s, prompt, indexes);
        }
    }

    private void putOnHost(Step.Put s, Prompt prompt, List<Integer> indexes) {
        world.settle();
        Put put = new Put(world, node(s.node()), prompt, "put-" + ++puts);
        putting = put;
        operations.hide(true);
        world.overtaking(true);
        String wrong = put.run(indexes);
        world.overtaking(false);
        operations.hide(false);
        putting = null;
        if (!wrong.isEmpty()) {
            throw new ScenarioError(s.line(), wrong);
        }
    }

    private void drop(Step.Drop s) {
        Prompt prompt = prompt(s.blocks());
        List<Bytes> keys = indexes(s.blocks(), prompt).stream().map(prompt.keys()::get).toList();
        ObjectNode outcome = view.outcome(s.id());
        List<String> answers = new ArrayList<>();
        if (s.tier() == Tier.STORE) {
            keys.forEach(key -> answers.add(world.store().lose(prompt.namespace(), key) ? "COMPLETED" : "NOT_FOUND"));
        } else {
            AgentProcess process = node(s.node()).process();
            if (process != null) {
                process.evict(s.tier(), prompt.namespace(), keys).forEach(reason -> answers.add(reason.name()));
            }
        }
        long done = answers.stream().filter("COMPLETED"::equals).count();
        outcome.put("accepted", done).put("rejected", keys.size() - done);
        ObjectNode reasons = outcome.putObject("reasons");
        for (int i = 0; i < answers.size(); i++) {
            if (!answers.get(i).equals("COMPLETED")) {
                reasons.put(String.valueOf(indexes(s.blocks(), prompt).get(i)), answers.get(i));
            }
        }
    }

    private void corrupt(Step.Corrupt s) {
        Prompt prompt = prompt(s.blocks());
        Bytes key = prompt.keys().get(indexes(s.blocks(), prompt).getFirst());
        boolean there = switch (s.tier()) {
            case STORE -> world.store().corrupt(prompt.namespace(), key);
            case DISK -> node(s.node()).disk().corrupt(prompt.namespace(), key);
            default -> {
                AgentProcess process = node(s.node()).process();
                yield process != null && process.machine().corrupt(prompt.namespace(), key);
            }
        };
        if (!there) {
            view.outcome("line " + s.line()).put("accepted", 0).put("rejected", 1);
        }
    }

    /** Uses in the order of their times: each is a hit of the whole prompt by a hidden request. */
    private void touchAll() {
        List<Step.Touch> due = touches.stream().sorted(Comparator.comparingLong(Step.Touch::atMs)).toList();
        touches.clear();
        operations.hide(true);
        for (Step.Touch touch : due) {
            SimNode node = node(touch.node());
            Prompt prompt = prompt(touch.blocks());
            var attempt = new AgentLink.Attempt(node.engine().session(), "touch-" + ++puts, 1);
            node.submit(attempt, new Prompt(prompt.namespace(), prompt.blockTokens(), prompt.tokens() + 1, prompt.keys()), List.of(), true);
            world.settle();
            node.cancelled(attempt);
            world.settle();
        }
        operations.hide(false);
    }

    private void exist(Step.Exist s) {
        Prompt prompt = prompt(s.blocks());
        if (!s.prefetch()) {
            expectDone(s.line(), node(s.node()).engine().outside().exist(s.id(), prompt));
            return;
        }
        DirectoryModel.Answer answer = directory.exist(s.id(), prompt, indexes(s.blocks(), prompt));
        view.outcome(s.id()).put("found", answer.found()).put("not_found", answer.notFound()).put("probes", answer.probes());
    }

    // --- operations

    private void complete(Step.Complete s) {
        SimNode node = node(s.node());
        List<Unit> units = Gates.oldest(node, s.kind());
        if (units.isEmpty() && s.kind() == OperationKind.DROP && s.fail() == null && node.nextCommand() instanceof DropBlocks) {
            gates.letOnePass(s.node());
            return;
        }
        if (units.isEmpty()) {
            failed++;
            out.accept(JsonNodeFactory.instance.objectNode().put("line", s.line()).put("failed", "no " + s.kind() + " stands still on node "
                    + s.node() + ": close its gate before it begins"));
            return;
        }
        boolean none = s.fail() != null && s.blocks() == Integer.MAX_VALUE && s.moves() == Machine.Moves.NEVER;
        int arrive = none ? 0 : s.blocks();
        int[] ranks = s.ranks();
        if (ranks != null) {
            arrive = IntStream.of(ranks).min().orElse(0);
        }
        OperationReason why = s.fail() == null ? OperationReason.IO : s.fail();
        int sent = node.unsent();
        for (Unit unit : units) {
            int here = Math.min(arrive, unit.size());
            arrive -= here;
            node.end(unit, fate(here, why, s.moves()));
        }
        if (s.lose()) {
            node.loseEventsAfter(sent);
            checks.logHasLost();
        }
    }

    /** The first blocks arrive. Of unknown outcome is a unit as a whole: then the first blocks move all the same, at the time that the step names. */
    private static Machine.Fate fate(int first, OperationReason why, Machine.Moves moves) {
        boolean unknown = why == OperationReason.UNKNOWN && moves != Machine.Moves.NEVER;
        return new Machine.Fate() {
            @Override
            public @Nullable OperationReason of(int position) {
                return position < first && !unknown ? null : why;
            }

            @Override
            public Machine.Moves unknown(int position) {
                return position < first ? moves : Machine.Moves.NEVER;
            }
        };
    }

    private void copies(Step.Copies s) {
        if (s.resume()) {
            gates.resume(s.node());
        }
        if (s.pauseAfter() >= 0) {
            gates.pause(s.node(), s.pauseAfter());
        }
        if (s.failAt() > 0) {
            gates.failAt(s.node(), s.failAt());
        }
    }

    // --- processes

    private void kill(Step.Kill s) {
        switch (s.what()) {
            case "controller" -> world.killController();
            case "agent" -> {
                if (s.keepsUnsent()) {
                    surroundings.keepUnsent(node(s.node()));
                }
                node(s.node()).kill(position -> OperationReason.IO);
            }
            default -> node(s.node()).vanishEngine(false);
        }
    }

    private void begin(Step.Start s) {
        if (s.what().equals("controller")) {
            if (world.controller() == null) {
                world.startController();
            }
        } else if (s.what().equals("agent") && node(s.node()).process() == null) {
            node(s.node()).start(true);
            if (world.controller() != null) {
                registered(node(s.node()));
            }
        }
    }

    /** The agent is back when the controller has accepted it; its registration and the answer are committed. */
    private void registered(SimNode node) {
        for (long until = world.nowMs() + MOST_START_MS; world.nowMs() < until; world.advance(1_000)) {
            for (int i = 0; i < 3; i++) {
                world.settle();
                world.commit();
            }
            AgentProcess process = node.process();
            if (process != null && process.status().onTheLog()) {
                world.settle();
                return;
            }
        }
    }

    // --- looking

    private void show(Step.Show s) {
        ObjectNode line = JsonNodeFactory.instance.objectNode().put("line", s.line());
        line.setAll(view.of(s.what().stream().sorted().toList()));
        out.accept(line);
    }

    private void expect(Step.Expect s) {
        if (mode == Mode.REPLAY) {
            world.replay();
        }
        checks.now(world);
        ArrayNode differences = Expectation.compare(view.normal(s.expected()), view.all());
        if (!differences.isEmpty()) {
            failed++;
            ObjectNode line = JsonNodeFactory.instance.objectNode().put("line", s.line());
            line.set("differences", differences);
            out.accept(line);
        }
        if (s.expected().has("operations")) {
            operations.forget();
        }
        if (s.expected().has("log")) {
            facts.forget();
        }
    }
}
