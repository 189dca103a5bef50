/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.AgentCore;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.FoundOnDisk;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.ops.simulation.engine.AgentLink;
import io.tierlog.ops.simulation.engine.AgentReply;
import io.tierlog.ops.simulation.engine.DevicePages;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.engine.Oracle;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.ops.simulation.hardware.Medium;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A node: an engine, a disk, and one agent process after the other. For one thread. */
public final class SimNode implements AgentLink {
    private static final long ASK_AGAIN_MS = 1_000;

    /** What a node is made of. */
    public record Spec(String name, int hostBlocks, int diskBlocks, Engine.Config engine) {}

    private final World world;
    private final Spec spec;
    private final Medium disk;
    private final Engine engine;
    private @Nullable AgentProcess process;
    private int processes;
    /** The process id that was accepted last; null before the first. */
    private @Nullable String spokenFor;
    private long calls;
    private long clockAheadMs;
    private boolean paused;
    /** The last device memory of the agent: a paused agent may receive a new one late. */
    private DevicePages mapped;
    private DevicePages handedOver;
    private final Deque<AgentInput> unheard = new ArrayDeque<>();

    SimNode(World world, Spec spec) {
        this.world = world;
        this.spec = spec;
        // Blocks that the disk lied about, and those that the agent has abandoned and not dropped yet, need space beside what the agent counts.
        this.disk = new Medium(Integer.MAX_VALUE);
        this.engine = new Engine(spec.engine(), world.oracle(), world.tally(), this);
        this.mapped = engine.memory();
        this.handedOver = mapped;
    }

    /** Its name. */
    public String name() {
        return spec.name();
    }

    /** Name of its engine instance. */
    public String instance() {
        return "engine-" + name();
    }

    /** What it is made of. */
    public Spec spec() {
        return spec;
    }

    /** Its aggregate in the log. */
    public String aggregate() {
        return "node/" + spec.name();
    }

    /** Its disk, which outlives agents. */
    public Medium disk() {
        return disk;
    }

    /** Its engine. */
    public Engine engine() {
        return engine;
    }

    /** The agent that runs; null while none does. */
    public @Nullable AgentProcess process() {
        return process;
    }

    // --- the agent's process

    /** Starts an agent process. */
    public void start() {
        start(false);
    }

    /** Starts an agent process; one that knows that the last has ended, as the holder of its lock file does, says so. */
    public void start(boolean knowsTheLast) {
        if (process != null) {
            throw new IllegalStateException("an agent of node " + name() + " runs");
        }
        String processId = nextProcessId();
        Machine machine = new Machine(
                new Machine.Parts(world.oracle(), world.tally(), () -> mapped, disk, world.store(), name()), spec.hostBlocks(),
                world.settings().agent().bounceBlocks());
        SimSink sink = new SimSink(sender(processId), () -> world.agentWallMs(this), world.settings().outbox(), machine::emitted);
        AgentInput.Registration registration = new AgentInput.Registration(
                name(), List.of(layout()), digest(), world.oracle().blockBytes(), spec.hostBlocks(), spec.diskBlocks());
        AgentCore core = new AgentCore(
                world.settings().agent(), registration, new Ports(machine, machine, machine.disk(), new SimReplies(engine::receive), sink,
                        world.settings().peers() ? Optional.of(machine.peers()) : Optional.empty()));
        process = new AgentProcess(processId, core, machine, sink, knowsTheLast ? spokenFor : null);
        process.nextCommand = world.log().commands(aggregate()).size();
        process.nextDecision = world.log().decisions(world.log().partitionOf(aggregate())).size();
        ask(process);
        if (spec.diskBlocks() > 0) {
            on(new AgentInput.DiskFound(found(), true));
        }
    }

    private String nextProcessId() {
        return name() + "-" + ++processes;
    }

    private String sender(String processId) {
        return "agent/" + name() + "/" + processId;
    }

    private List<FoundOnDisk> found() {
        List<FoundOnDisk> found = new ArrayList<>();
        disk.all().forEach(one -> found.add(
                new FoundOnDisk(one.namespace(), one.block(), one.generation(), one.crc32c(), world.oracle().blockBytes())));
        return found;
    }

    private void ask(AgentProcess asking) {
        asking.asksAtMs = Long.MAX_VALUE;
        asking.accepted = false;
        askAs(asking.processId, asking.sink, asking.spokenFor);
    }

    private void askAs(String processId, SimSink sink, @Nullable String replaces) {
        List<TierCapacity> tiers = new ArrayList<>();
        tiers.add(new TierCapacity(Tier.HOST, spec.hostBlocks(), world.oracle().blockBytes()));
        if (spec.diskBlocks() > 0) {
            tiers.add(new TierCapacity(Tier.DISK, spec.diskBlocks(), world.oracle().blockBytes()));
        }
        sink.append(aggregate(), "", e -> new AgentRegistering(
                e, name(), processId, "1", tiers, List.of(layout()), digest(), 1, world.settings().ranks(), Map.of(), digest(), replaces,
                world.settings().peers() ? name() + ":1" : null, false));
    }

    private Layout layout() {
        boolean replicated = world.settings().replicated();
        LayoutKind kind = replicated ? LayoutKind.MLA : LayoutKind.ATTENTION;
        return new Layout(
                "all", kind, Oracle.LAYERS, world.settings().blockTokens(), Oracle.PART_BYTES, 1, "bf16", replicated);
    }

    private static Bytes digest() {
        return Bytes.ofHex("5a".repeat(32));
    }

    /** The process dies: host and units are gone, what its producer has not sent is lost, the disk stays as it was left. */
    public void kill(Machine.Fate fateOfDiskWrites) {
        AgentProcess dying = process;
        if (dying != null) {
            process = null; // it receives nothing any more
            world.peers().readerDied(dying.machine);
            dying.machine.die(fateOfDiskWrites);
            paused = false;
            unheard.clear();
            engine.receive(new AgentReply.SessionLost(engine.session()));
        }
    }

    /** Takes what the producer has not sent yet out of it: lost with the process, or delivered after its death. */
    public List<Event> takeUnsent() {
        List<Event> unsent = new ArrayList<>();
        AgentProcess running = process;
        for (Event event = next(running); event != null; event = next(running)) {
            unsent.add(event);
        }
        return unsent;
    }

    private static @Nullable Event next(@Nullable AgentProcess of) {
        return of == null ? null : of.sink.next();
    }

    /** The process pauses and receives nothing; when it resumes it receives all of it at once, and time has passed. */
    public void pause(boolean on) {
        paused = on && process != null;
        while (!paused && !unheard.isEmpty()) {
            on(unheard.removeFirst());
        }
    }

    /** True while the process stands still. */
    public boolean paused() {
        return paused;
    }

    /** The machine's monotonic clock jumps ahead. */
    public void jumpAhead(long ms) {
        clockAheadMs += ms;
    }

    /** How far the machine's monotonic clock is ahead. */
    long clockAheadMs() {
        return clockAheadMs;
    }

    /** A second process asks to speak for the node; it is another one each time, and says nothing more. */
    public void intrude(int which) {
        SimSink sink = new SimSink(sender("intruder-" + which), () -> world.agentWallMs(this), world.settings().outbox(), event -> {});
        askAs("intruder-" + which, sink, null);
        world.append(Objects.requireNonNull(sink.next()));
    }

    /** The engine process dies; its agent sees the session end. */
    public void vanishEngine(boolean orderly) {
        String session = engine.session();
        engine.vanish();
        if (!session.isEmpty()) {
            on(new AgentInput.SessionClosed(session, orderly));
        }
    }

    /** Gives the agent an input, if there is one that runs. */
    public void on(AgentInput input) {
        AgentProcess running = process;
        if (paused) {
            unheard.add(input);
        } else if (running != null) {
            if (input instanceof AgentInput.BuffersRegistered) {
                mapped = handedOver;
            }
            world.agentInput(running, input);
            running.on(input, world.agentNowMs(this));
            world.agentStepped(running);
        }
    }

    /** Ends the process when it has nothing more to do; true when it did. */
    public boolean endIfOver() {
        AgentProcess running = process;
        if (paused || running == null || !running.isOver() || running.sink.waiting() > 0) {
            return false;
        }
        kill(Machine.WELL);
        return true;
    }

    // --- the log

    /** The next event of the producer reaches the log; false when there is none. */
    public boolean sendEvent() {
        Event event = paused ? null : next(process);
        if (event == null) {
            return false;
        }
        world.append(event);
        return true;
    }

    /** The process sends an event that its core has not emitted; false when there is no process. */
    public boolean say(Function<Envelope, Event> event) {
        AgentProcess running = process;
        if (running != null) {
            running.sink.append(aggregate(), "", event);
        }
        return running != null;
    }

    /** Events that the producer has not sent. */
    public int unsent() {
        return process == null ? 0 : process.sink.waiting();
    }

    /** Events after the first {@code kept} that were not sent are lost. */
    public void loseEventsAfter(int kept) {
        if (process != null) {
            process.sink.lose(kept);
        }
    }

    /**
     * The producer of {@code running} gives up, as one does whose events cannot be delivered or whose buffer is full; from here on nothing that the
     * process says reaches the log. What had not been sent; null when there is nothing to lose.
     */
    public @Nullable List<Event> loseLog(AgentProcess running) {
        if (running != process || running.sink.isLost()) {
            return null;
        }
        List<Event> unsent = takeUnsent();
        running.sink.giveUp();
        return unsent;
    }

    /** The core of {@code running} receives that the log is lost. */
    public void noticeLoss(AgentProcess running) {
        if (running == process) {
            running.lostLog = true;
            on(new AgentInput.LogLost());
        }
    }

    /** The command that the agent reads next; null when there is none. */
    public @Nullable Command nextCommand() {
        AgentProcess running = process;
        List<Command> commands = world.log().commands(aggregate());
        return running == null || running.nextCommand >= commands.size() ? null : commands.get(running.nextCommand);
    }

    /** Reads the next command; false when there is none. */
    public boolean readCommand() {
        Command command = skipCommand();
        if (command == null) {
            return false;
        }
        world.deliver(this, command);
        return true;
    }

    /** The next command is not delivered now, and perhaps never; null when there is none. */
    public @Nullable Command skipCommand() {
        AgentProcess running = process;
        List<Command> commands = world.log().commands(aggregate());
        return paused || running == null || running.nextCommand >= commands.size() ? null : commands.get(running.nextCommand++);
    }

    /** One of the last completions comes once more; false when there was none. */
    public boolean repeatCompletion(int which) {
        AgentProcess running = process;
        if (running == null || running.completions.isEmpty()) {
            return false;
        }
        on(running.completions.get(which % running.completions.size()));
        return true;
    }

    /** The oldest unit with an unknown outcome is idle now; false when there is none. */
    public boolean settleDoubtful() {
        AgentProcess running = process;
        if (running == null || running.machine.doubtful().isEmpty()) {
            return false;
        }
        on(running.machine.settle(running.machine.doubtful().getFirst()));
        return true;
    }

    /** Looks for the answer to the registration; false when there is none. */
    public boolean readAnswer() {
        AgentProcess running = process;
        if (paused || running == null) {
            return false;
        }
        if (running.registersAgain()) {
            if (running.lostLog) {
                running.processId = nextProcessId();
                running.sink.begin(sender(running.processId));
                running.lostLog = false;
            }
            running.sink.incarnation(0);
            running.nextCommand = world.log().commands(aggregate()).size();
            running.nextDecision = world.log().decisions(world.log().partitionOf(aggregate())).size();
            running.lookedUp = false;
            ask(running);
            return true;
        }
        if (world.nowMs() >= running.asksAtMs) {
            ask(running);
            return true;
        }
        List<Fact> decisions = world.log().decisions(world.log().partitionOf(aggregate()));
        boolean found = false;
        while (!found && running.nextDecision < decisions.size()) {
            found = answer(running, decisions.get(running.nextDecision++));
        }
        return found;
    }

    private boolean answer(AgentProcess running, Fact decision) {
        if (decision instanceof AgentAccepted accepted && accepted.processId().equals(running.processId)) {
            if (running.status().incarnation() == 0) {
                running.sink.incarnation(accepted.newIncarnation());
                running.accepted = true;
                running.spokenFor = running.processId;
                spokenFor = running.processId;
                running.asksAtMs = Long.MAX_VALUE; // a repeat of an earlier request was accepted before it would ask again
                on(new AgentInput.Registered(accepted.newIncarnation(), accepted.commandSequence(), accepted.policy(), accepted.sessionMs()));
            }
            return true;
        }
        if (decision instanceof AgentRefused no && no.processId().equals(running.processId) && running.status().incarnation() == 0) {
            running.refused = no.reason() != RefusalReason.DUPLICATE_NODE;
            running.asksAtMs = world.nowMs() + ASK_AGAIN_MS;
            return true;
        }
        return false;
    }

    /** Once the log has the content of the disk, reports to the agent which of it the store has; true when it did. */
    public boolean lookUp() {
        AgentProcess running = process;
        if (paused || running == null || running.lookedUp || spec.diskBlocks() == 0 || !running.status().diskOpen()) {
            return false;
        }
        running.lookedUp = true;
        Map<String, List<Block>> seen = new LinkedHashMap<>();
        for (Medium.Held one : disk.all()) {
            if (world.store().holds(one.namespace(), one.block().key())) {
                seen.computeIfAbsent(one.namespace(), any -> new ArrayList<>()).add(one.block());
            }
        }
        seen.forEach((namespace, blocks) -> on(new AgentInput.SeenInStore(namespace, blocks)));
        return true;
    }

    /** When the agent or its registration wants to be looked at. */
    long nextDeadlineMs() {
        AgentProcess running = process;
        return paused || running == null ? Long.MAX_VALUE : Math.min(running.core.nextDeadlineMs() - world.agentSkewMs(this), running.asksAtMs);
    }

    /** What is due already takes no time: an agent says what it has found on its disk in steps, and is woken for each. */
    boolean wake() {
        boolean due = nextDeadlineMs() <= world.nowMs();
        if (due) {
            on(new AgentInput.TimePassed());
        }
        return due;
    }

    /** Ends a unit and tells the agent. */
    public void end(Unit unit, Machine.Fate fate) {
        AgentProcess running = process;
        if (running != null) {
            boolean ofPeers = unit.kind() == Unit.Kind.PEER_READ || unit.kind() == Unit.Kind.FIND;
            AgentInput ended = ofPeers ? world.peers().end(this, running.machine, unit, fate) : running.machine.end(unit, fate);
            if (ended == null) {
                return; // it goes on
            }
            running.completions.add(ended);
            if (running.completions.size() > 32) {
                running.completions.removeFirst();
            }
            on(ended);
        }
    }

    // --- the link of the engine

    private long call(LongFunction<AgentInput> input) {
        long call = ++calls;
        on(input.apply(call));
        return call;
    }

    private static AgentInput.Attempt of(Attempt attempt) {
        return new AgentInput.Attempt(attempt.session(), attempt.request(), attempt.number());
    }

    private static List<DeviceBlock> of(List<PageBlock> blocks) {
        return blocks.stream().map(block -> new DeviceBlock(block.index(), block.key(), block.page(), block.generation())).toList();
    }

    @Override
    public boolean isUp() {
        return process != null && !process.isOver();
    }

    @Override
    public long open(String session) {
        return call(c -> new AgentInput.SessionOpened(c, session, instance()));
    }

    @Override
    public long register(String session, int pages) {
        handedOver = engine.memory();
        return call(c -> new AgentInput.BuffersRegistered(c, session, pages, world.oracle().blockBytes(), digest(), Map.of()));
    }

    @Override
    public long submit(Attempt attempt, Prompt prompt, List<PageBlock> onDevice, boolean reuseEligible) {
        return call(c -> new AgentInput.Submitted(c, of(attempt), prompt.namespace(), prompt.keys(), prompt.tokens(), prompt.blockTokens(),
                onDevice.size(), of(onDevice), true, reuseEligible, spec.engine().prefillNsPerToken(), null));
    }

    @Override
    public long load(Attempt attempt, String namespace, String lease, List<PageBlock> blocks) {
        return call(c -> new AgentInput.LoadCalled(c, of(attempt), namespace, lease, of(blocks)));
    }

    @Override
    public long read(String session, String namespace, List<PageBlock> blocks, long waitMs) {
        return call(c -> new AgentInput.ReadCalled(c, session, namespace, of(blocks), waitMs));
    }

    @Override
    public long exist(String session, Prompt prompt) {
        return call(c -> new AgentInput.ExistCalled(c, session, prompt.namespace(), prompt.keys()));
    }

    @Override
    public long reserve(String session, String namespace, List<Bytes> keys, long leaseMs) {
        return call(c -> new AgentInput.ReserveCalled(c, session, namespace, keys, leaseMs));
    }

    @Override
    public long giveUp(String session, String lease) {
        return call(c -> new AgentInput.LeaseReleased(c, session, lease));
    }

    @Override
    public void gone(long call, Attempt attempt, List<Integer> pages) {
        on(new AgentInput.CallGone(call, of(attempt), pages));
    }

    @Override
    public long prefilled(Attempt attempt, int deviceBlocks, int loadedBlocks, int computedBlocks) {
        return call(c -> new AgentInput.Prefilled(c, of(attempt), deviceBlocks, loadedBlocks, computedBlocks));
    }

    @Override
    public long sealed(Attempt attempt, String namespace, Bytes root, List<PageBlock> blocks) {
        return call(c -> new AgentInput.Sealed(c, of(attempt), namespace, root, blocks.getFirst().parent(), of(blocks)));
    }

    @Override
    public long save(Attempt attempt, String namespace, List<PageBlock> blocks) {
        return call(c -> new AgentInput.SaveCalled(c, of(attempt), namespace, of(blocks)));
    }

    @Override
    public long finished(Attempt attempt, String reason, int generatedTokens) {
        return call(c -> new AgentInput.Finished(c, of(attempt), RequestReason.valueOf(reason), generatedTokens));
    }

    @Override
    public long cancelled(Attempt attempt) {
        return call(c -> new AgentInput.Cancelled(c, of(attempt)));
    }

    @Override
    public long evicted(String session, String namespace, List<PageBlock> blocks) {
        return call(c -> new AgentInput.DeviceEvicted(c, session, namespace, blocks.stream()
                .map(block -> new AgentInput.EvictedBlock(block.index(), block.key(), block.parent(), block.page(), block.generation()))
                .toList()));
    }
}
