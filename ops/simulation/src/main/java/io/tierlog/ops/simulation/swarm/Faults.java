/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.ops.simulation.hardware.Medium;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimController;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.event.AgentEvent;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.state.PolicyRow;
import java.util.List;
import java.util.function.Predicate;

/** Makes things go wrong: one method call, one fault. For one thread. */
final class Faults {
    private static final long HOUR_MS = 3_600_000;
    private static final int RECENT = 40;

    /** Longer than rows of ended requests, and of a node's parts in migrations, are kept. */
    private static final long DAY_MS = 25 * HOUR_MS;

    /** Steps in which log time goes ahead by {@link #DAY_MS} while a node is away, and how often it does. */
    private static final int AWAY_STEPS = 700;

    private static final int AWAY_TIMES = 4;

    private final Stage stage;
    private final World world;
    private final Choices choices;
    private final Operators operators;
    private final List<FaultKind> lots;
    private int intruders;
    private int forgers;
    private int ended;

    Faults(Stage stage, Operators operators) {
        this.stage = stage;
        this.operators = operators;
        this.world = stage.world;
        this.choices = stage.choices;
        this.lots = stage.plan.lots();
    }

    /** One of the kinds that the episode has happens, if it can. What happens later is counted then. */
    boolean strike() {
        if (lots.isEmpty()) {
            return false;
        }
        FaultKind kind = choices.pick(lots);
        boolean struck = strike(kind);
        if (struck && !kind.waits()) {
            stage.count(kind);
        }
        return struck;
    }

    private boolean strike(FaultKind kind) {
        return switch (kind) {
            case EVENT_DUPLICATED -> duplicateEvent();
            case COMMAND_LOST, COMMAND_LATE, COMMAND_DUPLICATED -> disturbCommand(kind);
            case RELAY_REPEATED -> relayAgain();
            case MESSAGE_REPEATED, MESSAGE_LATE -> disturbMessages(kind);
            case MIGRATION_RECALLED -> recallInMidCopy();
            case TRANSACTION_ABORTED, DECIDED_OTHERWISE, CONTROLLER_CRASH, ZOMBIE_CONTROLLER -> disturbController(kind);
            case AGENT_CRASH, AGENT_ZOMBIE -> crash(node(), kind);
            case READER_DIED -> readerDies();
            case AGENT_CRASH_TORN -> onDisk(Faults::isWriting, node -> crash(node, kind));
            case DISK_LOST -> onDisk(node -> node.disk().size() > 0, node -> crash(node, kind));
            case AGENT_PAUSED, AGENT_STOPPED, SECOND_PROCESS, OUTBOX_CONGESTED -> disturbAgent(node(), kind);
            case LOG_LOST -> loseLog(node());
            case WRONG_SENDER -> wrongSender(node());
            case COMMAND_FROM_THE_FUTURE -> commandFromTheFuture(node());
            case ENGINE_VANISHED, ENGINE_CLOSED -> vanish(node(), kind == FaultKind.ENGINE_CLOSED);
            case CALLER_GONE -> callerGone(node());
            case DEVICE_GATED -> gate(node(), choices.pick(List.of(Unit.Kind.LOAD, Unit.Kind.SAVE)));
            case COMPLETION_REPEATED -> node().repeatCompletion(choices.next(32));
            case HOST_ROTTED -> rot(node());
            case DISK_SLOW -> onDisk(node -> gate(node, choices.pick(List.of(Unit.Kind.DISK_READ, Unit.Kind.DISK_WRITE, Unit.Kind.DISK_DROP))));
            case STORE_SLOW -> gate(node(), choices.pick(List.of(Unit.Kind.STORE_READ, Unit.Kind.STORE_WRITE, Unit.Kind.PROBE)));
            case DISK_FULL -> onDisk(node -> full(node.disk()));
            case PEER_SLOW -> world.settings().peers() && gate(node(), Unit.Kind.PEER_READ);
            case PEER_UNREACHABLE -> peerUnreachable(node());
            case STORE_FULL -> full(world.store());
            case DISK_WRITE_LOST -> onDisk(node -> lie(node.disk(), Medium.Lie.LOST, kind));
            case DISK_WRITE_TORN -> onDisk(node -> lie(node.disk(), Medium.Lie.TORN, kind));
            case DISK_WRITE_MISDIRECTED -> onDisk(node -> lie(node.disk(), Medium.Lie.MISDIRECTED, kind));
            case DISK_READ_WRONG -> onDisk(node -> misread(node.disk(), Medium.Misread.ANOTHER, kind));
            case DISK_READ_OLD -> onDisk(node -> misread(node.disk(), Medium.Misread.OLDER, kind));
            case STORE_WRITE_TORN -> lie(world.store(), Medium.Lie.TORN, kind);
            case DISK_BIT_FLIPPED, DISK_BLOCK_LOST -> onDisk(node -> node.disk().spoil(choices.next(64), kind == FaultKind.DISK_BLOCK_LOST));
            case STORE_BIT_FLIPPED, STORE_OBJECT_LOST -> world.store().spoil(choices.next(256), kind == FaultKind.STORE_OBJECT_LOST);
            case STORE_UNREACHABLE -> unreachable();
            case TICK_ABORTED, TICKS_AHEAD, TICKS_STAND, TICKS_BACK, AGENT_CLOCK_AHEAD, MONOTONIC_JUMP -> disturbClocks(kind);
            case POLICY_CHANGED, POLICY_INVALID, POLICY_STALE -> disturbPolicy(kind);
            case COPY_FAILED, OUTCOME_UNKNOWN, BOUNCE_OUTCOME_UNKNOWN, DISK_OUTCOME_UNKNOWN, STORE_OUTCOME_UNKNOWN, RANK_FAILED, DISK_FAILED,
                    STORE_FAILED, PEER_FAILED, PEER_WRONG ->
                false; // with the end of a unit
        };
    }

    private SimNode node() {
        return choices.pick(world.nodes());
    }

    /** A fault of a disk strikes a node that has one. */
    private boolean onDisk(Predicate<SimNode> fault) {
        return onDisk(node -> true, fault);
    }

    private boolean onDisk(Predicate<SimNode> which, Predicate<SimNode> fault) {
        List<SimNode> withDisk = world.nodes().stream().filter(node -> node.spec().diskBlocks() > 0).filter(which).toList();
        return !withDisk.isEmpty() && fault.test(choices.pick(withDisk));
    }

    /** True while something is on its way to a disk that takes it and tells the truth. */
    private static boolean isWriting(SimNode node) {
        AgentProcess process = node.process();
        return process != null && node.disk().well() && process.machine().units().stream().anyMatch(unit -> unit.kind() == Unit.Kind.DISK_WRITE);
    }

    private int aWhile() {
        return 10 + choices.next(150);
    }

    // --- the log

    private boolean duplicateEvent() {
        List<Event> events = world.log().events(choices.next(world.log().partitions()));
        if (events.isEmpty()) {
            return false;
        }
        world.appendOnce(events.get(events.size() - 1 - choices.next(Math.min(RECENT, events.size()))));
        return true;
    }

    /** A migration is cancelled, and its copies make no progress until the agents have received that, or a while is over. */
    private boolean recallInMidCopy() {
        if (!operators.cancelInMidCopy()) {
            return false;
        }
        for (SimNode node : world.nodes()) {
            gate(node, Unit.Kind.DISK_WRITE);
            gate(node, Unit.Kind.STORE_WRITE);
        }
        return true;
    }

    private boolean disturbCommand(FaultKind kind) {
        SimNode node = node();
        List<Command> commands = world.log().commands(node.aggregate());
        if (kind == FaultKind.COMMAND_DUPLICATED) {
            if (commands.isEmpty() || node.process() == null) {
                return false;
            }
            node.on(new AgentInput.CommandReceived(commands.get(commands.size() - 1 - choices.next(Math.min(RECENT, commands.size())))));
            return true;
        }
        Command command = node.skipCommand();
        if (command != null && kind == FaultKind.COMMAND_LATE) {
            stage.heldBack.add(new Stage.HeldBack(node, command));
        }
        return command != null;
    }

    private boolean relayAgain() {
        int partition = choices.next(world.log().partitions());
        if (world.log().messages(partition).isEmpty()) {
            return false;
        }
        world.relayAgain(partition, 1 + choices.next(4));
        return true;
    }

    /** Messages between aggregates: one of any age comes once more, or those to a partition come late. */
    private boolean disturbMessages(FaultKind kind) {
        int partition = choices.next(world.log().partitions());
        // Only what was carried can come again: a relay never overtakes itself.
        List<Message> messages = world.log().messages(partition).subList(0, world.relayed(partition));
        if (kind == FaultKind.MESSAGE_REPEATED && messages.isEmpty()) {
            return false;
        }
        if (kind == FaultKind.MESSAGE_REPEATED) {
            world.appendOnce(messages.get(choices.next(messages.size())));
        } else {
            world.unheard(partition, true);
            stage.lasting(2 * aWhile(), () -> world.unheard(partition, false));
        }
        return true;
    }

    // --- the controller

    private boolean disturbController(FaultKind kind) {
        SimController running = world.controller();
        if (running == null || running.uncommitted() == 0) {
            return false;
        }
        Limits other = EpisodeSettings.controller(choices, world.log().partitions());
        switch (kind) {
            case TRANSACTION_ABORTED -> world.abort();
            case DECIDED_OTHERWISE -> {
                world.controllerLimits(other);
                world.startController();
            }
            case ZOMBIE_CONTROLLER -> {
                world.standby();
                stage.lasting(aWhile(), world::endZombie);
            }
            default -> world.killController();
        }
        return true;
    }

    // --- agents and engines

    private boolean crash(SimNode node, FaultKind kind) {
        if (node.process() == null) {
            return false;
        }
        List<Event> unsent = node.takeUnsent();
        if (kind == FaultKind.AGENT_ZOMBIE) {
            if (unsent.isEmpty()) {
                return false;
            }
            stage.ghosts.addAll(unsent);
        }
        boolean torn = kind == FaultKind.AGENT_CRASH_TORN;
        if (torn) {
            node.disk().lie(Medium.Lie.TORN, () -> stage.count(kind));
            node.disk().lie(Medium.Lie.TORN); // a second block of the same crash
        }
        int down = torn ? 1 + choices.next(4) : choices.next(5);
        node.kill(position -> position < down ? null : OperationReason.IO);
        if (torn) {
            node.disk().honest();
        }
        while (kind == FaultKind.DISK_LOST && node.disk().spoil(0, true)) {
            // the next block
        }
        stayAway(node);
        return true;
    }

    /**
     * Where rows expire soon, no agent starts for long on each third node whose agent has ended, and log time goes ahead meanwhile, so that the node
     * expires. Without choices of its own: what each seed is stays what it was.
     */
    private void stayAway(SimNode node) {
        if (!EpisodeSettings.expiresSoon(world.settings().policy()) || stage.isAway(node) || ended++ % 3 != 0) {
            return;
        }
        stage.away(node, true);
        for (int i = 1; i <= AWAY_TIMES; i++) {
            stage.lasting(i * AWAY_STEPS, this::dayAhead);
        }
        stage.lasting((AWAY_TIMES + 1) * AWAY_STEPS, () -> stage.away(node, false));
    }

    private void dayAhead() {
        stage.skewMs += DAY_MS;
        world.wallSkewMs(stage.skewMs);
    }

    /** Kills a reader before the other node sends its blocks: no process releases the peer read lease, so it ends by its time. */
    private boolean readerDies() {
        List<SimNode> readers = world.nodes().stream().filter(Faults::waitsForPeer).toList();
        if (readers.isEmpty()) {
            return false;
        }
        SimNode reader = choices.pick(readers);
        boolean sent = true;
        while (sent) {
            sent = reader.sendEvent();
        }
        return crash(reader, FaultKind.READER_DIED);
    }

    private static boolean waitsForPeer(SimNode node) {
        AgentProcess process = node.process();
        return process != null && process.machine().units().stream().anyMatch(unit -> unit.kind() == Unit.Kind.PEER_READ && !unit.peer().isSending());
    }

    private boolean disturbAgent(SimNode node, FaultKind kind) {
        if (node.process() == null || node.paused()) {
            return false;
        }
        switch (kind) {
            case AGENT_PAUSED -> {
                node.pause(true);
                stage.lasting(3 * aWhile(), () -> node.pause(false));
            }
            case AGENT_STOPPED -> {
                node.on(new AgentInput.StopRequested());
                stayAway(node);
            }
            case SECOND_PROCESS -> node.intrude(++intruders);
            default -> {
                stage.mute(node, true);
                stage.lasting(aWhile(), () -> stage.mute(node, false));
            }
        }
        return true;
    }

    /**
     * Brokers are away: the events of a node do not leave it until its agent abandons them, and some time after. Of those the first may be on the
     * log all the same, and the next ones come much later. The core receives the loss behind what was in its inbox.
     */
    private boolean loseLog(SimNode node) {
        AgentProcess process = node.process();
        if (process == null || node.paused()) {
            return false;
        }
        int patience = 2 * aWhile();
        int arrived = choices.next(4);
        int late = choices.next(4);
        int noticedAfter = choices.next(20);
        int back = noticedAfter + aWhile();
        stage.mute(node, true);
        stage.lasting(patience, () -> {
            List<Event> unsent = node.loseLog(process);
            if (unsent == null) {
                stage.mute(node, false);
                return;
            }
            stage.count(FaultKind.LOG_LOST);
            unsent.stream().limit(arrived).forEach(world::appendOnce);
            unsent.stream().skip(arrived).limit(late).forEach(stage.ghosts::add);
            stage.lasting(noticedAfter, () -> node.noticeLoss(process));
            stage.lasting(back, () -> stage.mute(node, false));
        });
        return true;
    }

    /** What the registered process has sent lately comes once more, with a higher number, from a process that never registered. */
    private boolean wrongSender(SimNode node) {
        List<Event> events = world.log().events(world.log().partitionOf(node.aggregate()));
        List<Event> recent = events.subList(Math.max(0, events.size() - RECENT), events.size()).stream()
                .filter(event -> event instanceof AgentEvent && event.envelope().aggregate().equals(node.aggregate()))
                .toList();
        if (recent.isEmpty()) {
            return false;
        }
        Event event = choices.pick(recent);
        Envelope e = event.envelope();
        world.appendOnce(event.withEnvelope(new Envelope(e.aggregate(), "agent/" + node.name() + "/forger-" + ++forgers, e.incarnation(),
                e.sequence() + 1_000, 0, e.timeMs(), e.cause(), e.traceContext(), null)));
        return true;
    }

    /** From then on the agent refuses every command of the controller, until it is fenced for it and begins a new count. */
    private static boolean commandFromTheFuture(SimNode node) {
        AgentProcess process = node.process();
        if (process == null || process.status().incarnation() == 0) {
            return false;
        }
        node.on(new AgentInput.CommandReceived(new ReleaseRequest(
                new Envelope(node.aggregate(), "controller/forged", process.status().incarnation(), 0, 0, 0, null, null, null),
                new CommandHeader("forged", Long.MAX_VALUE), "no request", 1)));
        return true;
    }

    private static boolean vanish(SimNode node, boolean orderly) {
        if (node.engine().session().isEmpty()) {
            return false;
        }
        node.vanishEngine(orderly);
        return true;
    }

    private static boolean callerGone(SimNode node) {
        return node.engine().live().stream().anyMatch(request -> node.engine().abandonLoad(request));
    }

    // --- bytes

    private boolean gate(SimNode node, Unit.Kind kind) {
        if (node.process() == null || stage.isGated(node, kind)) {
            return false;
        }
        stage.gate(node, kind, true);
        stage.lasting(2 * aWhile(), () -> stage.gate(node, kind, false));
        return true;
    }

    private boolean rot(SimNode node) {
        AgentProcess process = node.process();
        return process != null && process.machine().rot(choices.next(node.spec().hostBlocks()));
    }

    private boolean full(Medium medium) {
        if (!medium.well()) {
            return false;
        }
        medium.full(true);
        stage.lasting(aWhile(), () -> medium.full(false));
        return true;
    }

    private boolean lie(Medium medium, Medium.Lie lie, FaultKind kind) {
        return medium.lie(lie, () -> stage.count(kind));
    }

    private boolean misread(Medium medium, Medium.Misread misread, FaultKind kind) {
        return medium.misread(misread, () -> stage.count(kind));
    }

    private boolean unreachable() {
        if (!world.store().well()) {
            return false;
        }
        world.store().reachable(false);
        stage.lasting(aWhile(), () -> world.store().reachable(true));
        return true;
    }

    /** How the blocks of a unit end: well, or not, from some block on. */
    Machine.Fate fate(Unit unit) {
        FaultKind own = switch (unit.kind()) {
            case LOAD, SAVE -> FaultKind.COPY_FAILED;
            case DISK_READ, DISK_WRITE, DISK_DROP -> FaultKind.DISK_FAILED;
            case STORE_READ, STORE_WRITE, STORE_DELETE, PROBE, FIND -> FaultKind.STORE_FAILED;
            case PEER_READ -> FaultKind.PEER_FAILED;
        };
        if (unit.kind() == Unit.Kind.PEER_READ) {
            return unit.moves() ? fateOfRead(unit) : Machine.WELL;
        }
        if (isPastTheHost(unit) && choices.next(4) != 0) {
            stage.count(FaultKind.BOUNCE_OUTCOME_UNKNOWN);
            return position -> OperationReason.UNKNOWN;
        }
        if (unit.kind() == Unit.Kind.PROBE || unit.kind() == Unit.Kind.FIND || choices.next(1_000) < 1_000 - stage.plan.unitsPerMille()) {
            return Machine.WELL;
        }
        FaultKind unknown = switch (own) {
            case COPY_FAILED -> FaultKind.OUTCOME_UNKNOWN;
            case DISK_FAILED -> unit.kind() == Unit.Kind.DISK_DROP ? own : FaultKind.DISK_OUTCOME_UNKNOWN;
            default -> FaultKind.STORE_OUTCOME_UNKNOWN;
        };
        FaultKind kind = choices.next(3) == 2 ? unknown : own;
        if (!stage.plan.has(kind)) {
            return Machine.WELL;
        }
        stage.count(kind);
        if (kind != own) {
            return unknown(unit);
        }
        int well = choices.next(unit.size());
        OperationReason why = own == FaultKind.COPY_FAILED ? OperationReason.DEVICE_FAULT : OperationReason.IO;
        return position -> position < well ? null : why;
    }

    /** The outcome of a whole unit is unknown, since its port did not answer; what moves all the same are its first blocks. */
    private Machine.Fate unknown(Unit unit) {
        int moved = choices.next(unit.size() + 1);
        Machine.Moves when = choices.pick(List.of(Machine.Moves.AT_ONCE, Machine.Moves.LATER));
        return new Machine.Fate() {
            @Override
            public OperationReason of(int position) {
                return OperationReason.UNKNOWN;
            }

            @Override
            public Machine.Moves unknown(int position) {
                return position < moved ? when : Machine.Moves.NEVER;
            }
        };
    }

    /** Reads from other nodes are few, so they meet their faults more often. */
    private Machine.Fate fateOfRead(Unit unit) {
        if (choices.next(4) < (stage.plan.reading() ? 2 : 3)) {
            return Machine.WELL;
        }
        FaultKind kind = choices.next(2) == 0 ? FaultKind.PEER_FAILED : FaultKind.PEER_WRONG;
        if (!stage.plan.has(kind)) {
            return Machine.WELL;
        }
        stage.count(kind);
        int well = choices.next(unit.size());
        OperationReason why = kind == FaultKind.PEER_WRONG ? OperationReason.CHECKSUM : OperationReason.IO;
        return position -> position < well ? null : why;
    }

    private boolean peerUnreachable(SimNode node) {
        if (!world.settings().peers()) {
            return false;
        }
        world.peers().unreachable(node, true);
        stage.lasting(aWhile(), () -> world.peers().unreachable(node, false));
        return true;
    }

    /** Whether it is the way from the device to a page of the agent's own: there are few of them, so they meet their fault more often. */
    private boolean isPastTheHost(Unit unit) {
        boolean carried = unit.kind() == Unit.Kind.SAVE && unit.operation() == OperationKind.COPY;
        return carried && stage.plan.has(FaultKind.BOUNCE_OUTCOME_UNKNOWN);
    }

    // --- clocks and operators

    private boolean disturbClocks(FaultKind kind) {
        switch (kind) {
            case TICK_ABORTED -> world.loseTick(choices.next(2) == 0);
            case TICKS_AHEAD -> {
                stage.skewMs += HOUR_MS;
                world.wallSkewMs(stage.skewMs);
            }
            case TICKS_STAND -> {
                world.clockStands(true);
                stage.lasting(aWhile(), () -> world.clockStands(false));
            }
            case TICKS_BACK -> {
                world.wallSkewMs(stage.skewMs - 1_000L * (1 + choices.next(20)));
                stage.lasting(aWhile(), () -> world.wallSkewMs(stage.skewMs));
            }
            case AGENT_CLOCK_AHEAD -> {
                world.agentWallSkewMs(HOUR_MS);
                stage.lasting(aWhile(), () -> world.agentWallSkewMs(0));
            }
            default -> {
                SimNode node = node();
                node.jumpAhead(choices.pick(List.of(100, 1_000, 10_000, 600_000)));
                node.on(new AgentInput.TimePassed());
            }
        }
        return true;
    }

    private boolean disturbPolicy(FaultKind kind) {
        long version = policyVersion(world);
        switch (kind) {
            case POLICY_CHANGED -> world.requestPolicy(EpisodeSettings.policy(choices, world.oracle().blockBytes()), version);
            case POLICY_INVALID -> world.requestPolicy(EpisodeSettings.invalid(choices), version);
            default -> {
                long other = version + choices.pick(List.of(-1, -1, -3, 1));
                world.requestPolicy(EpisodeSettings.policy(choices, world.oracle().blockBytes()), Math.max(0, other == version ? 1 : other));
            }
        }
        return true;
    }

    /** The version of the policy that the controller gave last. */
    static long policyVersion(World world) {
        SimController running = world.controller();
        if (running == null) {
            return 0;
        }
        return running.state().rows(Rows.POLICY).values().stream().mapToLong(PolicyRow::version).max().orElse(0);
    }
}
