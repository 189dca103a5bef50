/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.ops.simulation.engine.Oracle;
import io.tierlog.ops.simulation.engine.Tally;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.ops.simulation.hardware.Medium;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Everything together: a log, a controller, nodes with their agents and engines, and a store. Each method is one thing that can happen; the caller
 * says which does, and {@link #settle} lets happen whatever can without time passing, always in the same order. For one thread.
 */
public final class World {
    /** Wall time at the beginning, milliseconds since 1970. */
    static final long START_MS = 1_700_000_000_000L;

    /** Time between two ticks. */
    public static final long TICK_MS = 1_000;

    private static final int MOST_STEPS = 5_000;

    /** Sees everything that comes onto the log, and every step. */
    public interface Watcher {
        /** An instance of the controller starts, with those bounds. */
        default void controllerStarted(Limits bounds) {}

        /** An event was appended. */
        default void appended(int partition, long offset, Event event) {}

        /** The controller has taken an event; what it decided is not committed yet. */
        default void decided(int partition, long offset, Event event, DecideResult decided) {}

        /** The same moment: the controller's rows as they are now, and which of them the event has touched. */
        default void touched(int partition, HeapTables state, List<UndoTables.Touched<?, ?>> rows) {}

        /** A decision is committed. */
        default void committed(int partition, long offset, Fact fact) {}

        /** An agent is about to take an input. */
        default void hearing(AgentProcess process, AgentInput input) {}

        /** An agent has taken an input. */
        default void stepped(AgentProcess process) {}
    }

    private final WorldSettings settings;
    private final Oracle oracle;
    private final Tally tally = new Tally();
    private final Medium store;
    private final SimLog log;
    private final CommittedState committed;
    private final List<SimNode> nodes = new ArrayList<>();
    private final Operator operator = new Operator(this);
    private final SimPeers peers;
    private final SimClock clock;
    private final List<Watcher> watchers = new ArrayList<>();
    private final Deque<Event> lateEvents = new ArrayDeque<>();
    private final Deque<LateCommand> lateCommands = new ArrayDeque<>();
    private BiPredicate<SimNode, Unit> gate = (node, unit) -> false;
    private BiPredicate<SimNode, Command> commandGate = (node, command) -> false;
    private @Nullable SimController controller;
    private long[] offsets;
    private Limits limits;
    private Restarts restarts = Restarts.NEVER;
    private boolean commitEach;
    private boolean duplicates;
    private boolean duplicatesLate;
    private boolean overtaking;
    private long nowMs;
    private long nextTickMs = TICK_MS;
    private long agentWallSkewMs;
    private final int[] relayed;
    private final Set<Integer> unheard = new LinkedHashSet<>();
    private boolean clockStands;
    private @Nullable SimController zombie;

    private record LateCommand(SimNode node, Command command) {}

    /** When the controller is restarted of itself. */
    public enum Restarts {
        NEVER,
        /** After each record: decided, undone, decided again, committed, and started again from the log. */
        EVERYWHERE
    }

    /** A world of those nodes; nothing runs in it yet. */
    public World(WorldSettings settings, List<SimNode.Spec> specs) {
        this.settings = settings;
        this.oracle = new Oracle(settings.seed(), settings.shards());
        this.store = new Medium(settings.storeBlocks());
        this.limits = settings.controller();
        this.log = new SimLog(limits.partitions());
        this.committed = new CommittedState(log);
        this.peers = new SimPeers(this, committed);
        this.offsets = new long[limits.partitions()];
        this.clock = new SimClock(limits.partitions(), this::append);
        this.relayed = new int[limits.partitions()];
        specs.forEach(spec -> nodes.add(new SimNode(this, spec)));
    }

    // --- looking

    /** What it is made of. */
    public WorldSettings settings() {
        return settings;
    }

    /** What blocks must contain. */
    public Oracle oracle() {
        return oracle;
    }

    /** Reads that were compared. */
    public Tally tally() {
        return tally;
    }

    /** The shared store. */
    public Medium store() {
        return store;
    }

    /** The log. */
    public SimLog log() {
        return log;
    }

    /** The nodes. */
    public List<SimNode> nodes() {
        return nodes;
    }

    /** The node of that name, or null. */
    public @Nullable SimNode node(String name) {
        return nodes.stream().filter(node -> node.name().equals(name)).findFirst().orElse(null);
    }

    /** Virtual time in milliseconds from the beginning. */
    public long nowMs() {
        return nowMs;
    }

    /** The instance that decides; null while there is none. */
    public @Nullable SimController controller() {
        return controller;
    }

    /** The controller's tables: those of the instance that runs, else what the log says. */
    public HeapTables state() {
        SimController running = controller;
        return running == null ? committed.rows() : running.state();
    }

    /** What goes between the agents. */
    public SimPeers peers() {
        return peers;
    }

    /** The operator of migrations, marks and drains. */
    public Operator operator() {
        return operator;
    }

    long agentNowMs(SimNode node) {
        return nowMs + agentSkewMs(node);
    }

    /** Every machine's monotonic clock begins somewhere else. */
    long agentSkewMs(SimNode node) {
        return 1_000L * nodes.indexOf(node) + 7 + node.clockAheadMs();
    }

    long agentWallMs(SimNode node) {
        return START_MS + nowMs + agentWallSkewMs;
    }

    // --- setting

    /** Tells {@code watcher} of all that happens from here on. */
    public void watch(Watcher watcher) {
        watchers.add(watcher);
    }

    /** Units of which {@code closed} says so stand still in {@link #settle}. */
    public void gate(BiPredicate<SimNode, Unit> closed) {
        gate = closed;
    }

    /** Whether a copy of the device may end before an older one that stands still. */
    public void overtaking(boolean may) {
        overtaking = may;
    }

    /** Commands of which {@code closed} says so are not read, nor what comes behind them. */
    public void commandGate(BiPredicate<SimNode, Command> closed) {
        commandGate = closed;
    }

    /** The controller commits after each input, or on demand. */
    public void commitEach(boolean each) {
        commitEach = each;
    }

    /** How the controller is disturbed of itself. */
    public void restarts(Restarts how) {
        restarts = how;
    }

    /** From here on every event and every command also comes a second time: at once, or late, when nothing else can happen. */
    public void duplicates(boolean on, boolean late) {
        duplicates = on;
        duplicatesLate = late;
    }

    /** The clock of the machine that appends ticks is wrong by so much. */
    public void wallSkewMs(long ms) {
        clock.skew(ms);
    }

    /** Stops the ticks, or starts them again. */
    public void clockStands(boolean now) {
        clockStands = now;
    }

    /** The wall clocks of all agents are wrong by so much. */
    public void agentWallSkewMs(long ms) {
        agentWallSkewMs = ms;
    }

    // --- the log

    /** An event of a producer reaches the log. */
    void append(Event event) {
        appendOnce(event);
        if (duplicates && duplicatesLate) {
            lateEvents.add(event);
        } else if (duplicates) {
            appendOnce(event);
        }
    }

    /** Appends an event, as a producer does, or as a broker that repeats itself. */
    public void appendOnce(Event event) {
        int partition = log.partitionOf(event.envelope().aggregate());
        log.append(event);
        watchers.forEach(watcher -> watcher.appended(partition, log.events(partition).size() - 1, event));
    }

    /** Asks for another policy, as an operator does; the number of the event. */
    public long requestPolicy(Policy policy, long basedOn) {
        return operator.policy(policy, basedOn);
    }

    /** The clock says what time it is, to every partition. */
    public void tick() {
        clock.tick(START_MS + nowMs);
    }

    /** The outcome of a tick is unknown: it has come or not, and the clocks go on under other names. */
    public void loseTick(boolean arrives) {
        clock.lose(START_MS + nowMs, arrives);
    }

    /** Carries one committed message to its receiver, of the first partition that has one; false when there is none. */
    public boolean relay() {
        for (int p = 0; p < relayed.length; p++) {
            if (relay(p)) {
                return true;
            }
        }
        return false;
    }

    /** Carries the next committed message of a partition to its receiver; false when there is none. */
    public boolean relay(int partition) {
        if (relayed[partition] >= log.messages(partition).size() || unheard.contains(partition)) {
            return false;
        }
        append(log.messages(partition).get(relayed[partition]++));
        return true;
    }

    /** Messages to a partition that were carried to it, count. */
    public int relayed(int partition) {
        return relayed[partition];
    }

    /** Stops the relay to one partition while other partitions receive everything; or starts it again. */
    public void unheard(int partition, boolean now) {
        if (now) {
            unheard.add(partition);
        } else {
            unheard.remove(partition);
        }
    }

    /** The relay dies between an append and its commit: the last messages to a partition come again. */
    public void relayAgain(int partition, int messages) {
        relayed[partition] = Math.max(0, relayed[partition] - messages);
    }

    // --- the controller

    /** Starts an instance from a snapshot and the log after it; the one that ran before is gone. */
    public void startController() {
        controller = new SimController(log, limits, offsets, log::issued, committed.restored(), committed.runs());
        watchers.forEach(watcher -> watcher.controllerStarted(limits));
    }

    /** The controller's bounds from its next start on: what it decides again may differ from its earlier decisions. */
    public void controllerLimits(Limits other) {
        limits = other;
    }

    /** The controller's bounds. */
    public Limits limits() {
        return limits;
    }

    /** The instance dies: its transaction with it. */
    public void killController() {
        controller = null;
    }

    /** A standby takes over; the instance that ran before does not know, and goes on deciding from where it stands. */
    public void standby() {
        SimController before = controller;
        zombie = before == null ? null : before.twin(limits, log::issued);
        startController();
    }

    /** The instance that was taken over decides; its commands are delivered, its facts are not. False when it has nothing to do. */
    public boolean decideAsZombie(int partition) {
        SimController fenced = zombie;
        if (fenced == null || fenced.behind(partition) == 0) {
            return false;
        }
        fenced.take(partition);
        return true;
    }

    /** The replaced instance is fenced, and ends. */
    public void endZombie() {
        zombie = null;
    }

    /** The transaction is undone, and everything since the last commit is decided again. */
    public void abort() {
        if (controller != null) {
            controller.abort();
        }
    }

    /**
     * The controller is recreated: a new instance decides every event of the log again, up to where this one stands, and goes on from there.
     *
     * @throws IllegalStateException when it comes to anything else than the one that ran
     */
    public void replay() {
        SimController running = controller;
        if (running == null) {
            return;
        }
        SimController again = SimController.fromTheBeginning(log, limits, log::issued);
        String difference = again.catchUpWith(running);
        if (!difference.isEmpty()) {
            throw new IllegalStateException("I13: the log decided again comes to something else: " + difference);
        }
        controller = again;
        committed.storedIn(again.runs());
    }

    /**
     * The transaction ends well.
     *
     * @throws IllegalStateException when what it has touched is not what its decisions come to (I13)
     */
    public void commit() {
        SimController running = controller;
        if (running != null) {
            List<UndoTables.Touched<?, ?>> touched = List.copyOf(running.touched());
            running.commit((partition, offset, fact) -> watchers.forEach(watcher -> watcher.committed(partition, offset, fact)));
            offsets = running.offsets();
            committed.follow(running.state(), touched);
        }
    }

    /** The controller takes the next event of a partition; false when there is none. */
    public boolean decide(int partition) {
        SimController running = controller;
        if (running == null || running.behind(partition) == 0) {
            return false;
        }
        if (restarts == Restarts.EVERYWHERE) {
            running.take(partition);
            running.abort();
        }
        long offset = running.position(partition);
        int touchedBefore = running.touched().size();
        DecideResult decided = running.take(partition);
        Event event = log.events(partition).get((int) offset);
        watchers.forEach(watcher -> watcher.decided(partition, offset, event, decided));
        List<UndoTables.Touched<?, ?>> touched = running.touched().subList(touchedBefore, running.touched().size());
        watchers.forEach(watcher -> watcher.touched(partition, running.state(), touched));
        if (restarts == Restarts.EVERYWHERE) {
            commit();
            committed.requireEqual(running.state());
            startController();
        } else if (commitEach) {
            commit();
        }
        return true;
    }

    /**
     * I13: the state of the controller is the fold of its decisions, row by row; with something uncommitted nothing is compared.
     *
     * @throws IllegalStateException when it is not
     */
    public void checkFold() {
        SimController running = controller;
        if (running != null && running.uncommitted() == 0) {
            committed.requireEqual(running.state());
        }
    }

    // --- agents

    void deliver(SimNode node, Command command) {
        node.on(new AgentInput.CommandReceived(command));
        if (duplicates && duplicatesLate) {
            lateCommands.add(new LateCommand(node, command));
        } else if (duplicates) {
            node.on(new AgentInput.CommandReceived(command));
        }
    }

    void agentInput(AgentProcess process, AgentInput input) {
        watchers.forEach(watcher -> watcher.hearing(process, input));
    }

    void agentStepped(AgentProcess process) {
        watchers.forEach(watcher -> watcher.stepped(process));
    }

    private boolean agentWork(SimNode node) {
        boolean did = false;
        while (node.sendEvent()) {
            did = true;
        }
        did |= node.readAnswer();
        List<Command> commands = log.commands(node.aggregate());
        AgentProcess process = node.process();
        while (process != null && process.nextCommand < commands.size() && !commandGate.test(node, commands.get(process.nextCommand))) {
            did |= node.readCommand();
        }
        did |= node.lookUp();
        did |= endUnits(node);
        did |= node.wake();
        did |= node.endIfOver();
        return did;
    }

    private boolean endUnits(SimNode node) {
        AgentProcess process = node.process();
        boolean did = false;
        while (process != null) {
            Unit ready = firstReady(node, process.machine.units());
            if (ready == null) {
                break;
            }
            node.end(ready, Machine.WELL);
            did = true;
        }
        return did;
    }

    /** The oldest unit that does not stand still; of each queue of the device only the first can end. */
    private @Nullable Unit firstReady(SimNode node, List<Unit> units) {
        Set<Unit.Kind> blocked = EnumSet.noneOf(Unit.Kind.class);
        for (Unit unit : units) {
            boolean standsStill = unit.moves() && gate.test(node, unit);
            if (!blocked.contains(unit.kind()) && !standsStill && peers.isReady(unit)) {
                return unit;
            }
            if (unit.kind().ofDevice() && !overtaking) {
                blocked.add(unit.kind());
            }
        }
        return null;
    }

    // --- all of it

    /** Lets happen what can happen without time passing. */
    public void settle() {
        int steps = 0;
        while (step()) {
            if (++steps > MOST_STEPS) {
                throw new IllegalStateException("the world does not come to rest");
            }
        }
    }

    private boolean step() {
        boolean did = false;
        for (SimNode node : nodes) {
            int steps = 0;
            while (node.engine().step()) {
                did = true;
                if (++steps > MOST_STEPS) {
                    throw new IllegalStateException("the engine of node " + node.name() + " does not come to rest");
                }
            }
            did |= agentWork(node);
        }
        for (int p = 0; p < log.partitions(); p++) {
            while (decide(p)) {
                did = true;
            }
        }
        did |= relay();
        return did || deliverLate();
    }

    private boolean deliverLate() {
        Event event = lateEvents.poll();
        if (event != null) {
            appendOnce(event);
            return true;
        }
        LateCommand late = lateCommands.poll();
        if (late != null) {
            late.node.on(new AgentInput.CommandReceived(late.command));
        }
        return late != null;
    }

    /** When something falls due next: a tick, or something of an agent. */
    public long nextDueMs() {
        long due = nextTickMs;
        for (SimNode node : nodes) {
            due = Math.min(due, Math.max(nowMs + 1, node.nextDeadlineMs()));
            due = Math.min(due, Math.max(nowMs + 1, peers.dueMs(node)));
        }
        return due;
    }

    /** Time passes to {@code atMs}, which is not after {@link #nextDueMs}; what is due then comes. */
    public void passTo(long atMs) {
        nowMs = Math.max(nowMs, atMs);
        if (nowMs >= nextTickMs) {
            nextTickMs = nowMs + TICK_MS - nowMs % TICK_MS;
            if (!clockStands) {
                tick();
            }
        }
        for (SimNode node : nodes) {
            node.wake();
            node.engine().retry();
        }
    }

    /** Time passes while everything stands still, and then what has fallen due comes at once. */
    public void jump(long ms) {
        passTo(nowMs + ms);
        settle();
    }

    /** Time passes, whatever falls due in between comes, and after each of it everything settles and is committed. */
    public void advance(long ms) {
        long until = nowMs + ms;
        while (nextDueMs() <= until) {
            passTo(nextDueMs());
            settle();
            commit();
            settle();
        }
        passTo(until);
        settle();
    }
}
