/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.FakePorts.Unit;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.CommandReceived;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.Registration;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.agent.core.port.PeerPorts;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One agent core between a scripted engine and a scripted controller. After every input the core's tables are checked. Whatever a unit moves
 * is real bytes, so content can be compared.
 */
final class World {
    static final Bytes DIGEST = Bytes.ofHex("aa".repeat(32));
    static final String SESSION = "s1";
    static final long OPERATIONS_PER_LIFE = 1_000_000;

    final FakePorts ports;
    final RecordedOutput seen = new RecordedOutput();
    final AgentCore core;
    long nowMs = 1_000;
    /** What the engine says computing a token costs, in nanoseconds; 0 when it does not say so. */
    long prefillNsPerToken;
    private final Map<Integer, Long> generations = new HashMap<>();
    private final Map<String, Long> submits = new HashMap<>();
    private long incarnation;
    private @Nullable Long sessionMs;
    private long calls;
    private long commands;
    private long operations;

    /** One process of a node; {@code past} outlives the process. */
    World(int devicePages, int hostPages, int diskBlocks, AgentLimits limits, Past past) {
        this(devicePages, hostPages, diskBlocks, limits, past, Optional.empty());
    }

    /** The same of an agent that has peers. */
    World(int devicePages, int hostPages, int diskBlocks, AgentLimits limits, Past past, Optional<FakePeers> peers) {
        ports = new FakePorts(devicePages, hostPages + limits.bounceBlocks(), past.store(), past.disk());
        incarnation = past.lives() + 1;
        seen.incarnation = incarnation;
        operations = past.lives() * OPERATIONS_PER_LIFE;
        core = new AgentCore(
                limits,
                new Registration("a", List.of(), DIGEST, FakePorts.BLOCK_BYTES, hostPages, diskBlocks),
                new Ports(ports, ports, ports.diskPort, seen, seen, peers.map(p -> new PeerPorts(p, p, p))));
    }

    World(int devicePages, int hostPages, AgentLimits limits) {
        this(devicePages, hostPages, 0, limits, Past.none());
    }

    /** What earlier processes of the node have left. */
    record Past(long lives, Map<String, byte[]> store, FakeDisk disk) {
        static Past none() {
            return new Past(0, new HashMap<>(), new FakeDisk());
        }
    }

    /** What the next process of the node begins with. */
    Past past() {
        return new Past(incarnation, ports.store, ports.disk);
    }

    /** On the log, with one engine and a disk whose content is on the log too. */
    static World withDisk(int hostPages, int diskBlocks, Past past) {
        return withDisk(hostPages, diskBlocks, AgentLimits.defaults(), past);
    }

    static World withDisk(int hostPages, int diskBlocks, AgentLimits limits, Past past) {
        World world = new World(31, hostPages, diskBlocks, limits, past);
        world.on(new AgentInput.DiskFound(past.disk().found(), true));
        world.register();
        world.attach();
        return world;
    }

    static World withDisk(int hostPages, int diskBlocks) {
        return withDisk(hostPages, diskBlocks, Past.none());
    }

    /** On the log, with one engine whose pool has that many pages. */
    static World running(int devicePages, int hostPages) {
        return running(devicePages, hostPages, AgentLimits.defaults());
    }

    static World running(int devicePages, int hostPages, AgentLimits limits) {
        World world = new World(devicePages, hostPages, limits);
        world.register();
        world.attach();
        return world;
    }

    void on(AgentInput input) {
        core.on(input, nowMs);
        core.check();
        for (TierUsage use : core.status().usage()) {
            assertEquals(
                    use.capacityBlocks(),
                    use.freeBlocks() + use.reservedBlocks() + use.fillingBlocks() + use.servingBlocks() + use.leavingBlocks()
                            + use.quarantinedBlocks(),
                    () -> "I4: " + use);
        }
    }

    /** The controller takes silence for so long before it declares the node lost. */
    World withSession(long ms) {
        sessionMs = ms;
        return this;
    }

    void register() {
        Policy policy = new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.95, 0.9, true, 100, 30_000, 60_000, 0, true, null, null);
        on(new AgentInput.Registered(incarnation, 0, policy, sessionMs));
    }

    /** The process that was declared lost is accepted once more. */
    void registerAgain() {
        operations = incarnation * OPERATIONS_PER_LIFE;
        seen.incarnation = ++incarnation;
        register();
    }

    void attach() {
        on(new AgentInput.SessionOpened(call(), SESSION, "engine-1"));
        on(new AgentInput.BuffersRegistered(call(), SESSION, ports.device.length, FakePorts.BLOCK_BYTES, DIGEST, Map.of()));
    }

    /** Time passes to each deadline in turn. */
    void advance(long ms) {
        long until = nowMs + ms;
        while (core.nextDeadlineMs() <= until) {
            nowMs = Math.max(nowMs, core.nextDeadlineMs());
            on(new AgentInput.TimePassed());
        }
        nowMs = until;
        on(new AgentInput.TimePassed());
    }

    long call() {
        return ++calls;
    }

    // --- the engine

    static Attempt attempt(String request) {
        return new Attempt(SESSION, request, 1);
    }

    long submit(String request, Prompt prompt, int deviceBlocks) {
        return submit(attempt(request), prompt, deviceBlocks, true);
    }

    long submit(Attempt attempt, Prompt prompt, int deviceBlocks, boolean eligible) {
        long call = call();
        submits.put(attempt.request(), call);
        on(new AgentInput.Submitted(
                call, attempt, prompt.namespace(), prompt.keys(), prompt.tokens(), prompt.blockTokens(), deviceBlocks, List.of(), true, eligible,
                prefillNsPerToken, null));
        return call;
    }

    /** Submits and lets the store answer what it has. */
    long submitted(String request, Prompt prompt) {
        long call = submit(request, prompt, 0);
        answerProbes();
        return call;
    }

    /** The store answers what it is asked, and what it is asked then. */
    void answerProbes() {
        for (List<FakePorts.Unit> asked = ports.of(Kind.PROBE); !asked.isEmpty(); asked = ports.of(Kind.PROBE)) {
            asked.forEach(unit -> on(ports.endProbe(unit)));
        }
    }

    /** A drop that relies on the store, which has the blocks. */
    void dropSeen(DropBlocks drop) {
        drop.blocks().forEach(block -> ports.store.put(
                FakePorts.name(drop.namespace(), block.block().key()), FakePorts.content(drop.namespace(), block.block().key())));
        command(drop);
        answerProbes();
    }

    Offer offered(long call) {
        return seen.reply(call, RecordedOutput.Offered.class).offer();
    }

    long generation(int page) {
        return generations.getOrDefault(page, 0L);
    }

    DeviceBlock at(Prompt prompt, int index, int page) {
        return new DeviceBlock(index, prompt.keys().get(index), page, generation(page));
    }

    /** The lease of the last offer that the engine seen for the request; empty when there was none. */
    String lease(String request) {
        List<RecordedOutput.Ready> notices = seen.notices(RecordedOutput.Ready.class).stream()
                .filter(ready -> ready.request().equals(request)).toList();
        if (!notices.isEmpty()) {
            return notices.getLast().offer().lease();
        }
        return seen.replies.get(submits.getOrDefault(request, 0L)) instanceof RecordedOutput.Offered offered ? offered.offer().lease() : "";
    }

    long load(String request, Prompt prompt, int from, int... pages) {
        return load(attempt(request), lease(request), prompt, from, pages);
    }

    long load(Attempt attempt, String lease, Prompt prompt, int from, int... pages) {
        long call = call();
        List<DeviceBlock> blocks = IntStream.range(0, pages.length).mapToObj(i -> {
            generations.merge(pages[i], 1L, Long::sum);
            return at(prompt, from + i, pages[i]);
        }).toList();
        on(new AgentInput.LoadCalled(call, attempt, prompt.namespace(), lease, blocks));
        return call;
    }

    void assertOnDevice(Prompt prompt, int index, int page) {
        assertArrayEquals(
                FakePorts.content(prompt.namespace(), prompt.keys().get(index)), ports.device[page], "block " + index + " in page " + page);
    }

    long reserve(Prompt prompt, int from, int to) {
        return reserve(SESSION, prompt, from, to, 0);
    }

    long reserve(String session, Prompt prompt, int from, int to, long leaseMs) {
        long call = call();
        on(new AgentInput.ReserveCalled(call, session, prompt.namespace(), prompt.keys().subList(from, to), leaseMs));
        return call;
    }

    long exist(Prompt prompt, int from, int to) {
        long call = call();
        on(new AgentInput.ExistCalled(call, SESSION, prompt.namespace(), prompt.keys().subList(from, to)));
        return call;
    }

    /** Reads blocks {@code from} and so on into these pages, waiting so long; negative for the agent's own time. */
    long read(Prompt prompt, long waitMs, int from, int... pages) {
        long call = call();
        List<DeviceBlock> blocks = IntStream.range(0, pages.length).mapToObj(i -> {
            generations.merge(pages[i], 1L, Long::sum);
            return at(prompt, from + i, pages[i]);
        }).toList();
        on(new AgentInput.ReadCalled(call, SESSION, prompt.namespace(), blocks, waitMs));
        return call;
    }

    /** Gives up a lease. */
    long release(String lease) {
        long call = call();
        on(new AgentInput.LeaseReleased(call, SESSION, lease));
        return call;
    }

    /** The caller of that call is gone. */
    void gone(long call) {
        on(new AgentInput.CallGone(call));
    }

    /** The caller of that Load or Read, which named these pages, is gone. */
    void gone(long call, Attempt attempt, Integer... pages) {
        on(new AgentInput.CallGone(call, attempt, List.of(pages)));
    }

    RecordedOutput.Refused refused(long call) {
        return seen.reply(call, RecordedOutput.Refused.class);
    }

    long prefilled(String request) {
        long call = call();
        on(new AgentInput.Prefilled(call, attempt(request), 0, 0, 0));
        return call;
    }

    /** The engine computes blocks from..to into pages and seals them. */
    long seal(String request, Prompt prompt, int from, int... pages) {
        long call = call();
        List<DeviceBlock> blocks = new ArrayList<>();
        for (int i = 0; i < pages.length; i++) {
            generations.merge(pages[i], 1L, Long::sum);
            ports.device[pages[i]] = FakePorts.content(prompt.namespace(), prompt.keys().get(from + i));
            blocks.add(at(prompt, from + i, pages[i]));
        }
        Bytes parent = from == 0 ? Bytes.EMPTY : prompt.keys().get(from - 1);
        on(new AgentInput.Sealed(call, attempt(request), prompt.namespace(), prompt.root(), parent, blocks));
        return call;
    }

    long save(String request, Prompt prompt, int from, int... pages) {
        long call = call();
        List<DeviceBlock> blocks = IntStream.range(0, pages.length).mapToObj(i -> at(prompt, from + i, pages[i])).toList();
        on(new AgentInput.SaveCalled(call, attempt(request), prompt.namespace(), blocks));
        return call;
    }

    long finish(String request) {
        long call = call();
        on(new AgentInput.Finished(call, attempt(request), RequestReason.COMPLETED, 1));
        return call;
    }

    long cancel(String request) {
        long call = call();
        on(new AgentInput.Cancelled(call, attempt(request)));
        return call;
    }

    /** Submit (nothing below), prefill, seal all whole blocks from {@code from} into {@code pages}, finish. */
    void compute(String request, Prompt prompt, int from, int... pages) {
        submitted(request, prompt);
        prefilled(request);
        if (pages.length > 0) {
            seal(request, prompt, from, pages);
        }
        finish(request);
    }

    // --- the controller

    CommandHeader header() {
        commands++;
        return new CommandHeader("c" + commands, commands);
    }

    Envelope envelope() {
        return new Envelope("node/a", "controller/0", incarnation, commands, 0, 0, null, null, null);
    }

    String operation() {
        return "op" + ++operations;
    }

    void command(Command command) {
        on(new CommandReceived(command));
    }

    PrefetchBlocks prefetchCommand(String request, Prompt prompt, int from, int to, PagedBlock... buildsOn) {
        String operation = operation();
        CommandHeader header = header();
        return new PrefetchBlocks(
                envelope(), header, operation, "lease-" + operation, 60_000, request, 1, prompt.namespace(), prompt.root(),
                prompt.blocks(from, to), Collections.nCopies(to - from, Tier.STORE), List.of(buildsOn), null);
    }

    /** Commands a fetch of blocks from..to-1 and returns the operation. */
    String prefetch(String request, Prompt prompt, int from, int to) {
        PrefetchBlocks command = prefetchCommand(request, prompt, from, to);
        command(command);
        return command.operation();
    }

    PagedBlock paged(Prompt prompt, int index, int page) {
        return new PagedBlock(prompt.block(index), page, generation(page), 0);
    }

    WriteBackBlocks writeBackCommand(String request, Prompt prompt, List<PagedBlock> blocks) {
        String operation = operation();
        CommandHeader header = header();
        return new WriteBackBlocks(
                envelope(), header, operation, request, 1, prompt.namespace(), prompt.root(), blocks, 60_000);
    }

    String writeBack(String request, Prompt prompt, int from, int... pages) {
        List<PagedBlock> blocks = IntStream.range(0, pages.length).mapToObj(i -> paged(prompt, from + i, pages[i])).toList();
        WriteBackBlocks command = writeBackCommand(request, prompt, blocks);
        command(command);
        return command.operation();
    }

    /** Commands the backup of what a write-back brought. */
    String backUp(Prompt prompt, String writeBack) {
        WriteBackDone done = seen.events(WriteBackDone.class).stream()
                .filter(event -> event.operation().equals(writeBack))
                .findFirst()
                .orElseThrow();
        List<PagedBlock> blocks = done.blocks().stream()
                .filter(result -> result.page() >= 0)
                .map(result -> new PagedBlock(result.block(), result.page(), result.generation(), result.crc32c()))
                .toList();
        String operation = operation();
        CommandHeader header = header();
        command(new BackUpBlocks(envelope(), header, operation, writeBack, prompt.namespace(), prompt.root(), blocks));
        return operation;
    }

    DropBlocks dropCommand(Prompt prompt, List<BlockResult> blocks, Tier reliesOn) {
        String operation = operation();
        CommandHeader header = header();
        return new DropBlocks(
                envelope(), header, operation, Tier.HOST, prompt.namespace(),
                blocks.stream().map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c())).toList(), reliesOn);
    }

    DropBlocks diskDropCommand(Prompt prompt, List<PagedBlock> copies, Tier reliesOn) {
        String operation = operation();
        CommandHeader header = header();
        return new DropBlocks(envelope(), header, operation, Tier.DISK, prompt.namespace(), copies, reliesOn);
    }

    CopyBlocks copyCommand(Prompt prompt, List<BlockResult> blocks) {
        String operation = operation();
        CommandHeader header = header();
        return new CopyBlocks(
                envelope(), header, operation, Tier.HOST, Tier.DISK, prompt.namespace(),
                blocks.stream().map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c())).toList(), null);
    }

    /** A copy between any two tiers; of blocks of that request when they are on the device. */
    CopyBlocks copyCommand(Prompt prompt, Tier source, Tier target, List<PagedBlock> blocks, @Nullable CopyOrigin origin) {
        String operation = operation();
        CommandHeader header = header();
        return new CopyBlocks(envelope(), header, operation, source, target, prompt.namespace(), blocks, origin);
    }

    /** Commands copies to the disk and returns the operation. */
    String copy(Prompt prompt, List<BlockResult> blocks) {
        CopyBlocks command = copyCommand(prompt, blocks);
        command(command);
        return command.operation();
    }

    void releasePins(String pin) {
        CommandHeader header = header();
        command(new ReleasePins(envelope(), header, pin));
    }

    void releaseRequest(String request) {
        CommandHeader header = header();
        command(new ReleaseRequest(envelope(), header, request, 1));
    }

    void resume(String request, RequestReason reason) {
        CommandHeader header = header();
        command(new ResumeRequest(envelope(), header, request, 1, reason));
    }

    void cancelOperation(String operation, OperationKind kind) {
        CommandHeader header = header();
        command(new CancelOperation(envelope(), header, operation, kind));
    }

    // --- units

    /** Ends the oldest unit of that kind: the first blocks arrive, the rest fail with IO. */
    void end(Kind kind, int arrive) {
        end(kind, arrive, OperationReason.IO);
    }

    void end(Kind kind, int arrive, OperationReason why) {
        Unit unit = ports.of(kind).getFirst();
        on(ports.end(unit, arrive, why));
    }

    /** Ends units of that kind well until there is none. */
    void endAll(Kind kind) {
        while (!ports.of(kind).isEmpty()) {
            end(kind, Integer.MAX_VALUE);
        }
    }

    void settle() {
        while (!ports.units.isEmpty()) {
            Unit unit = ports.units.getFirst();
            on(unit.kind() == Kind.PROBE ? ports.endProbe(unit) : ports.end(unit, Integer.MAX_VALUE, OperationReason.IO));
        }
    }

    // --- looking

    long free() {
        return core.status().usage().getFirst().freeBlocks();
    }

    /** Use of the disk. */
    TierUsage disk() {
        return core.status().usage().getLast();
    }

    long pins() {
        return core.status().usage().getFirst().pinCount();
    }

    long serving() {
        return core.status().usage().getFirst().servingBlocks();
    }

    void assertAtRest() {
        assertEquals(0, pins(), "host pins");
        assertEquals(0, core.disk().pinCount(), "pins on disk");
        assertEquals(0, core.status().devicePins(), "device pins");
        assertEquals(0, core.status().activeOperations(), "operations");
        AgentStatus.Bounce bounce = core.status().bounce();
        assertEquals(bounce.pages(), bounce.free(), () -> "pages of the agent's own: " + bounce);
        assertEquals(0, core.status().waitingRequests(), "waiting");
    }
}
