/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.ops.simulation.engine.Oracle;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimController;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.OperationReason;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Says what happens next: at each step one of the things that can, so that everything happens in every order. A thing that cannot happen now
 * gives its turn to the next in the table. For one thread.
 */
final class Schedule {
    /** What can happen, and how often it is drawn. */
    enum Happening {
        ENGINE(190), SEND(150), DECIDE(180), COMMAND(110), UNIT(130), COMMIT(36), RELAY(12), ANSWER(20), LOOK_UP(6), SETTLE(10), ZOMBIE(30),
        GHOST(20), LATE(12), START_AGENT(8), START_CONTROLLER(16), END(10), WORK(110), OPERATOR(12), TIME(30);

        private final int weight;

        Happening(int weight) {
            this.weight = weight;
        }
    }

    private static final List<Happening> ALL = List.of(Happening.values());
    private static final Set<Happening> ONLY_WHEN_DRAWN =
            EnumSet.of(Happening.TIME, Happening.START_AGENT, Happening.START_CONTROLLER, Happening.OPERATOR);
    private static final int SUM = ALL.stream().mapToInt(one -> one.weight).sum();

    private final Stage stage;
    private final World world;
    private final Choices choices;
    private final Workload workload;
    private final Operators operators;
    private final Faults faults;

    Schedule(Stage stage, Workload workload, Operators operators) {
        this.stage = stage;
        this.world = stage.world;
        this.choices = stage.choices;
        this.workload = workload;
        this.operators = operators;
        this.faults = new Faults(stage, operators);
    }

    /** One thing happens; what it was. */
    String step() {
        choices.begin();
        stage.step++;
        stage.endTroubles();
        if (choices.next(1_000) >= 1_000 - stage.plan.perMille() && faults.strike()) {
            return "FAULT";
        }
        int drawn = choices.next(SUM);
        int at = 0;
        while (drawn >= ALL.get(at).weight) {
            drawn -= ALL.get(at++).weight;
        }
        for (int i = 0; i < ALL.size(); i++) {
            Happening one = ALL.get((at + i) % ALL.size());
            boolean mayTakeTheTurn = i == 0 || !ONLY_WHEN_DRAWN.contains(one);
            if (mayTakeTheTurn && happen(one)) {
                return one.name();
            }
        }
        pass();
        return "NOTHING BUT TIME";
    }

    private boolean happen(Happening what) {
        return switch (what) {
            case ENGINE -> anyNode(node -> node.engine().step());
            case SEND -> anyNode(node -> !stage.isMute(node) && node.sendEvent());
            case COMMAND -> anyNode(SimNode::readCommand);
            case UNIT -> anyNode(this::unit);
            case ANSWER -> anyNode(SimNode::readAnswer);
            case LOOK_UP -> anyNode(SimNode::lookUp);
            case SETTLE -> anyNode(SimNode::settleDoubtful);
            case END -> anyNode(SimNode::endIfOver);
            case START_AGENT -> anyNode(this::start);
            case DECIDE -> anyPartition(world::decide);
            case ZOMBIE -> anyPartition(world::decideAsZombie);
            case COMMIT -> commit();
            case RELAY -> anyPartition(world::relay);
            case GHOST -> ghost();
            case LATE -> late();
            case START_CONTROLLER -> startController();
            case WORK -> workload.act();
            case OPERATOR -> operators.act();
            case TIME -> pass();
        };
    }

    private interface OnNode {
        boolean happens(SimNode node);
    }

    private interface OnPartition {
        boolean happens(int partition);
    }

    private boolean anyNode(OnNode what) {
        List<SimNode> nodes = world.nodes();
        int first = choices.next(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            if (what.happens(nodes.get((first + i) % nodes.size()))) {
                return true;
            }
        }
        return false;
    }

    private boolean anyPartition(OnPartition what) {
        int partitions = world.log().partitions();
        int first = choices.next(partitions);
        for (int i = 0; i < partitions; i++) {
            if (what.happens((first + i) % partitions)) {
                return true;
            }
        }
        return false;
    }

    private boolean start(SimNode node) {
        if (node.process() != null || stage.isAway(node)) {
            return false;
        }
        node.start();
        return true;
    }

    private boolean startController() {
        if (world.controller() != null) {
            return false;
        }
        world.startController();
        return true;
    }

    private boolean commit() {
        SimController running = world.controller();
        if (running == null || running.uncommitted() == 0) {
            return false;
        }
        world.commit();
        return true;
    }

    private boolean ghost() {
        if (stage.ghosts.isEmpty()) {
            return false;
        }
        world.appendOnce(stage.ghosts.removeFirst());
        return true;
    }

    private boolean late() {
        if (stage.heldBack.isEmpty()) {
            return false;
        }
        Stage.HeldBack one = stage.heldBack.remove(choices.next(stage.heldBack.size()));
        one.node().on(new AgentInput.CommandReceived(one.command()));
        return true;
    }

    private boolean pass() {
        long due = world.nextDueMs();
        long atMost = choices.pick(List.of(2, 10, 30, 100, 200, 1_000));
        world.passTo(Math.min(due, world.nowMs() + 1 + choices.next((int) atMost)));
        return true;
    }

    // --- units

    /** A unit of the node ends, or the device gets on with one. Those of one queue of the device end in order. */
    private boolean unit(SimNode node) {
        AgentProcess process = node.process();
        if (process == null) {
            return false;
        }
        List<Unit> units = process.machine().units();
        int first = units.isEmpty() ? 0 : choices.next(units.size());
        for (int i = 0; i < units.size(); i++) {
            Unit unit = units.get((first + i) % units.size());
            if ((!unit.moves() || !stage.isGated(node, unit.kind())) && world.peers().isReady(unit)) {
                end(node, process.machine(), unit.kind().ofDevice() ? oldest(units, unit.kind()) : unit);
                return true;
            }
        }
        return false;
    }

    private static Unit oldest(List<Unit> units, Unit.Kind kind) {
        return units.stream().filter(unit -> unit.kind() == kind).findFirst().orElseThrow();
    }

    private void end(SimNode node, Machine machine, Unit unit) {
        if (unit.kind().ofDevice()) {
            int parts = unit.size() * world.oracle().parts() - unit.partsCopied();
            if (choices.next(6) == 5) {
                copy(machine, unit, choices.next(parts + 1));
                return;
            }
            boolean fails = world.oracle().ranks() > 1 && stage.plan.has(FaultKind.RANK_FAILED) && choices.next(12) == 11;
            if (fails && parts == unit.size() * world.oracle().parts()) {
                failRank(machine, unit, choices.next(world.oracle().ranks()));
                stage.count(FaultKind.RANK_FAILED);
            }
        }
        node.end(unit, faults.fate(unit));
    }

    private static void copy(Machine machine, Unit unit, int parts) {
        for (int i = 0; i < parts; i++) {
            machine.copyPart(unit, null);
        }
    }

    /** One rank fails from some block on, the others do their parts. */
    private void failRank(Machine machine, Unit unit, int rank) {
        int from = choices.next(unit.size());
        int perBlock = world.oracle().parts();
        for (int i = 0; i < unit.size() * perBlock; i++) {
            boolean fails = i / perBlock >= from && i % perBlock / Oracle.LAYERS == rank;
            machine.copyPart(unit, fails ? OperationReason.DEVICE_FAULT : null);
        }
    }
}
