/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.FakePorts.Unit;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.RefuseSave;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.SaveRequested;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * One process of a node: a controller that reads the events and sends commands, rightly and wrongly, and ports whose units end in any legal way. The
 * next process finds the disk as this one left it.
 */
final class RandomWalk {
    private static final int KEPT = 64;

    final World world;
    private final Random random;
    private final WalkingEngine engine;
    private final List<Command> sent = new ArrayList<>();
    private final List<AgentInput> completions = new ArrayList<>();
    private final List<Unit> doubtful = new ArrayList<>();
    private final Map<String, RequestSubmitted> submitted = new HashMap<>();
    private final Map<String, List<BlocksSealed>> sealed = new HashMap<>();
    private final Map<String, List<Integer>> destinations = new HashMap<>();
    private final Map<String, Event> ends = new HashMap<>();
    private final List<BlockResult> placed = new ArrayList<>();
    private final DiskBook book;
    private final int hostPages;
    private final int diskBlocks;
    private int eventsRead;
    private boolean resting;
    /** From the end of an epoch until the next begins. */
    private boolean lost;

    RandomWalk(long seed) {
        this(new Random(seed), World.Past.none());
    }

    private RandomWalk(Random random, World.Past past) {
        this.random = random;
        AgentLimits limits = AgentLimits.defaults()
                .with(new AgentLimits.Units(1 + random.nextInt(3), 2, 2, 2, 2))
                .with(new AgentLimits.Disk(2, 2, 1 + random.nextInt(4)))
                .with(new AgentLimits.Bounds(64, 5, 10, 64, 100_000))
                .withBounceBlocks(random.nextInt(5));
        hostPages = random.nextInt(12) == 0 ? 0 : 6 + random.nextInt(20);
        diskBlocks = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(24);
        if (diskBlocks % 2 == 0) {
            // Shorter than the jumps of time: store and disk end units too late now and then.
            AgentLimits.Times usual = limits.times();
            limits = limits.with(new AgentLimits.Times(
                    usual.prefetchWaitMs(), usual.writeBackWaitMs(), usual.writeBackPatienceMs(), usual.heartbeatMs(), 1_000, usual.probeMs()));
        }
        switch (hostPages % 4) { // prompts have up to 6 blocks
            case 1 -> limits = limits.with(limits.bounds().withKeysPerRequest(4));
            case 2 -> limits = limits.with(limits.bounds().withKeysPerRecord(3));
            case 3 -> limits = limits.with(new AgentLimits.Bounds(64, 5, 10, 5, 3, 2, 100_000));
            default -> {}
        }
        world = new World(WalkingEngine.pages(), hostPages, diskBlocks, limits, past);
        engine = new WalkingEngine(world, random);
        book = new DiskBook(world);
    }

    void run(int steps) {
        live(steps);
        comeToRest();
    }

    /** Goes on for so long and is killed: nothing comes to rest, and what was being written has come down or not. */
    RandomWalk killedAfter(int steps) {
        live(steps);
        for (Unit unit : world.ports.of(Kind.DISK_WRITE)) {
            if (random.nextBoolean()) {
                world.ports.disk.lies.clear();
            }
            world.ports.end(unit, random.nextInt(unit.size() + 1), OperationReason.IO); // not reported
        }
        world.ports.disk.full = false;
        return new RandomWalk(random, world.past());
    }

    private void live(int steps) {
        int learnt = random.nextInt(steps / 4 + 1);
        engine.connect();
        List<AgentInput.FoundOnDisk> found = world.ports.disk.found();
        for (int i = 0; i < steps; i++) {
            if (i == learnt) {
                world.register();
            }
            if (i == learnt / 2 && diskBlocks > 0) {
                int half = found.size() / 2;
                world.on(new AgentInput.DiskFound(found.subList(0, half), false));
                world.on(new AgentInput.DiskFound(found.subList(half, found.size()), true));
            }
            if (random.nextInt(10) == 0) {
                registerAgain();
            }
            step();
            checkEvents();
        }
    }

    private void step() {
        int choice = random.nextInt(100);
        if (choice < 15) {
            engine.submit();
        } else if (choice < 44) {
            engine.step();
        } else if (choice < 69) {
            endUnit();
        } else if (choice < 80) {
            world.advance(random.nextInt(20));
        } else if (choice < 88) {
            disturbCommands();
        } else if (choice < 92 && !completions.isEmpty()) {
            world.on(completions.get(random.nextInt(completions.size()))); // late or repeated
        } else if (choice < 95) {
            switch (random.nextInt(3)) {
                case 0 -> engine.reserve();
                case 1 -> engine.read();
                default -> engine.save();
            }
        } else if (choice < 96) {
            settleDoubtful();
        } else if (choice < 97) {
            world.advance(random.nextInt(4_000));
        } else {
            rare();
        }
    }

    private void rare() {
        switch (random.nextInt(10)) {
            case 0 -> engine.vanish();
            case 1 -> world.ports.storeReachable = !world.ports.storeReachable;
            case 2 -> rot();
            case 3 -> world.seen.congested = random.nextInt(3) == 0;
            case 4 -> spoilTheDisk();
            case 5, 6, 8 -> loseSources();
            case 7 -> lose();
            default -> engine.connect();
        }
        if (random.nextInt(3) > 0) {
            engine.connect();
        }
    }

    /** The controller declares the process lost. */
    private void lose() {
        if (world.core.status().onTheLog()) {
            checkEvents();
            book.forget();
            destinations.clear(); // its operations end without a report
            lost = true;
            world.command(new FenceAgent(world.envelope(), new CommandHeader("lost", 0), 0));
        }
    }

    /** The lost process is accepted again, with all that serves on its host. */
    private void registerAgain() {
        if (!lost || world.core.status().phase() != AgentPhase.UNREGISTERED) {
            return;
        }
        lost = false;
        int before = world.seen.events.size();
        world.registerAgain();
        long reported = world.seen.events.stream().skip(before)
                .mapToLong(event -> event instanceof BlocksRecovered e && e.tier() == Tier.HOST ? e.blocks().size() : 0).sum();
        assertEquals(world.core.status().usage().getFirst().servingBlocks(), reported, "the next heartbeat counts them");
    }

    /** Copies on the disk rot that have been read and are being written to the store; another copy will find out. */
    private void loseSources() {
        List<Bytes> onTheirWay = world.ports.of(Kind.WRITE).stream()
                .flatMap(unit -> unit.objects().stream())
                .filter(object -> object.hostPage() >= hostPages)
                .map(StoreTransfers.PageObject::key)
                .toList();
        List<PagedBlock> copies = book.deepestFirst().stream().filter(copy -> onTheirWay.contains(copy.block().key())).toList();
        if (!copies.isEmpty()) {
            copies.forEach(copy -> world.ports.disk.rot("m", copy.block().key()));
            send(new CopyBlocks(world.envelope(), world.header(), world.operation(), Tier.DISK, Tier.STORE, "m", copies, null));
        }
    }

    private void spoilTheDisk() {
        FakeDisk disk = world.ports.disk;
        switch (random.nextInt(4)) {
            case 0 -> disk.full = !disk.full;
            case 1 -> disk.lies.add(FakeDisk.Lie.LOST);
            case 2 -> disk.lies.add(FakeDisk.Lie.TORN);
            default -> disk.rotOldest();
        }
    }

    private void rot() {
        if (world.ports.host.length == 0) {
            return;
        }
        int page = random.nextInt(world.ports.host.length);
        boolean busy = world.ports.units.stream()
                .anyMatch(unit -> unit.kind() == Kind.LOAD || unit.kind() == Kind.WRITE || unit.kind() == Kind.DISK_WRITE);
        if (!busy) {
            world.ports.host[page][3] ^= 1;
        }
    }

    // --- ports

    /** Ends a unit: of the device the oldest of its direction, of store and disk any. */
    private void endUnit() {
        if (world.ports.units.isEmpty()) {
            return;
        }
        Unit chosen = world.ports.units.get(random.nextInt(world.ports.units.size()));
        Unit unit = chosen.kind() == Kind.LOAD || chosen.kind() == Kind.SAVE ? world.ports.of(chosen.kind()).getFirst() : chosen;
        if (unit.kind() == Kind.PROBE) {
            deliver(world.ports.endProbe(unit));
            return;
        }
        int how = random.nextInt(12);
        int arrive = how < 9 ? unit.size() : random.nextInt(unit.size() + 1);
        OperationReason why = how == 11 ? OperationReason.UNKNOWN : OperationReason.IO;
        if (how == 11 && arrive < unit.size()) {
            doubtful.add(unit);
        }
        AgentInput ended = world.ports.end(unit, arrive, why);
        if (random.nextInt(40) == 0) {
            doubtful.add(unit);
            ended = miscounted(unit, ended);
        }
        deliver(ended);
    }

    /** The port names fewer or more results than it was asked for. */
    private AgentInput miscounted(Unit unit, AgentInput ended) {
        List<UnitResult> results = switch (ended) {
            case AgentInput.CopiesEnded e -> e.results();
            case AgentInput.StoreUnitEnded e -> e.results();
            case AgentInput.DiskUnitEnded e -> e.results();
            default -> throw new IllegalArgumentException("no unit of blocks: " + ended);
        };
        List<UnitResult> wrong = new ArrayList<>(results);
        if (random.nextBoolean()) {
            wrong.removeLast();
        } else {
            wrong.add(results.getFirst());
        }
        return FakePorts.input(unit, wrong);
    }

    private void deliver(AgentInput completion) {
        world.on(completion);
        completions.add(completion);
        if (completions.size() > KEPT) {
            completions.removeFirst();
        }
    }

    private void settleDoubtful() {
        if (!doubtful.isEmpty()) {
            Unit unit = doubtful.removeFirst();
            world.on(FakePorts.input(
                    unit, IntStream.range(0, unit.size()).mapToObj(i -> FakePorts.failed(OperationReason.DEVICE_FAULT)).toList()));
        }
    }

    // --- the controller

    private void checkEvents() {
        for (; eventsRead < world.seen.events.size(); eventsRead++) {
            Event event = world.seen.events.get(eventsRead);
            if (event instanceof OperationStarted started) {
                destinations.put(started.operation(), started.pages().stream().map(PagedBlock::page).toList());
            }
            operationEnded(event).ifPresent(operation -> checkEnd(operation, event));
            book.on(event);
            // What a read asks for may be ignored: promotions come anyway, see disturbTheDisk.
            if (!resting && !(event instanceof PromotionRequested) && random.nextInt(10) > 0) {
                answer(event);
            }
        }
        if (!lost) {
            book.check();
        }
    }

    /** One terminal event for an operation; a repeat is equal. */
    private void checkEnd(String operation, Event event) {
        Event before = ends.putIfAbsent(operation, event);
        if (before != null) {
            assertEquals(content(before), content(event), () -> "two ends of " + operation);
        }
    }

    private static String content(Event event) {
        return event.toString().replace(event.envelope().toString(), "");
    }

    private static Optional<String> operationEnded(Event event) {
        return switch (event) {
            case WriteBackDone e -> Optional.of(e.operation());
            case WriteBackFailed e -> Optional.of(e.operation());
            case PrefetchDone e -> Optional.of(e.operation());
            case PrefetchFailed e -> Optional.of(e.operation());
            case PromoteDone e -> Optional.of(e.operation());
            case PromoteFailed e -> Optional.of(e.operation());
            case BackUpDone e -> Optional.of(e.operation());
            case BackUpFailed e -> Optional.of(e.operation());
            case CopyDone e -> Optional.of(e.operation());
            case CopyFailed e -> Optional.of(e.operation());
            case DropDone e -> Optional.of(e.operation());
            case DropFailed e -> Optional.of(e.operation());
            case OperationCancelled e -> Optional.of(e.operation());
            case CommandRefused e -> e.reason() == OperationReason.STALE_COMMAND ? Optional.empty() : Optional.ofNullable(e.operation());
            default -> Optional.empty();
        };
    }

    private void answer(Event event) {
        switch (event) {
            case RequestSubmitted e -> onSubmitted(e);
            case BlocksSealed e -> {
                sealed.computeIfAbsent(e.request() + "/" + e.attempt(), any -> new ArrayList<>()).add(e);
                switch (random.nextInt(6)) {
                    case 0 -> send(writeBack(e.request(), e.attempt(), List.of(e)));
                    case 1 -> send(copyFromDevice(e, e.blocks()));
                    default -> { }
                }
            }
            case RequestFinished e -> onFinished(e);
            case WriteBackDone e -> onWrittenBack(e);
            case SaveRequested e -> onSave(e);
            default -> { }
        }
    }

    private void onSubmitted(RequestSubmitted e) {
        submitted.put(e.request() + "/" + e.attempt(), e);
        if (e.answered()) {
            return;
        }
        Prompt prompt = new Prompt("m", e.blockTokens(), e.promptTokens(), e.keys());
        boolean all = random.nextInt(5) == 0;
        List<Block> wanted = IntStream.range(e.deviceBlocks(), e.storeFrom() + e.storeBlocks())
                .filter(index -> all || !e.hostIndexes().contains(index))
                .mapToObj(prompt::block)
                .toList();
        List<Tier> sources = wanted.stream()
                .map(block -> e.diskIndexes().contains(block.index()) == (random.nextInt(8) > 0) ? Tier.DISK : Tier.STORE)
                .toList();
        if (random.nextInt(6) == 0) {
            world.resume(e.request(), RequestReason.BELOW_THRESHOLD);
        } else {
            String operation = world.operation();
            var header = world.header();
            send(new PrefetchBlocks(
                    world.envelope(), header, operation, "lease-" + operation, 1 + random.nextInt(3_000), e.request(), e.attempt(), "m",
                    prompt.root(), wanted, sources, List.of(), null));
        }
    }

    private void onFinished(RequestFinished e) {
        List<BlocksSealed> blocks = sealed.getOrDefault(e.request() + "/" + e.attempt(), List.of());
        if (blocks.isEmpty() || random.nextInt(6) == 0) {
            var header = world.header();
            send(new ReleaseRequest(world.envelope(), header, e.request(), e.attempt()));
        } else if (random.nextInt(10) > 0) {
            if (random.nextInt(3) == 0) { // what is marked goes first
                List<PagedBlock> first = blocks.getFirst().blocks();
                send(copyFromDevice(blocks.getFirst(), first.subList(0, 1 + random.nextInt(first.size()))));
            }
            send(writeBack(e.request(), e.attempt(), blocks));
        }
    }

    private Command copyFromDevice(BlocksSealed e, List<PagedBlock> blocks) {
        Tier target = random.nextBoolean() ? Tier.DISK : Tier.STORE;
        CopyOrigin origin = new CopyOrigin(e.request(), e.attempt(), e.root());
        return new CopyBlocks(world.envelope(), world.header(), world.operation(), Tier.DEVICE, target, "m", blocks.reversed(), origin);
    }

    /** Writes some of it back, and refuses the rest; or some of each, or nothing. */
    private void onSave(SaveRequested e) {
        int cut = random.nextInt(e.blocks().size() + 1);
        if (cut > 0) {
            String operation = world.operation();
            send(new WriteBackBlocks(
                    world.envelope(), world.header(), operation, e.request(), e.attempt(), "m", e.root(), e.blocks().subList(0, cut),
                    1 + random.nextInt(5_000)));
        }
        if (cut < e.blocks().size()) {
            List<Block> rest = e.blocks().subList(cut, e.blocks().size()).stream().map(PagedBlock::block).toList();
            OperationReason why = random.nextBoolean() ? OperationReason.QUEUE_FULL : OperationReason.ALREADY_THERE;
            send(new RefuseSave(world.envelope(), world.header(), e.save(), rest, why));
        }
    }

    private WriteBackBlocks writeBack(String request, int attempt, List<BlocksSealed> blocks) {
        String operation = world.operation();
        var header = world.header();
        return new WriteBackBlocks(
                world.envelope(), header, operation, request, attempt, "m", blocks.getFirst().root(),
                blocks.stream().flatMap(e -> e.blocks().stream()).toList(), 1 + random.nextInt(5_000));
    }

    private void onWrittenBack(WriteBackDone e) {
        List<BlockResult> there = e.blocks().stream().filter(result -> result.page() >= 0).toList();
        placed.addAll(there);
        if (random.nextInt(2) == 0) {
            send(copy(there));
        }
        var header = world.header();
        if (random.nextInt(4) == 0) {
            send(new ReleasePins(world.envelope(), header, e.operation()));
        } else if (random.nextInt(10) > 0) {
            send(new BackUpBlocks(
                    world.envelope(), header, world.operation(), e.operation(), "m", e.blocks().getFirst().block().key(), paged(there)));
        }
    }

    private void send(Command command) {
        sent.add(command);
        if (sent.size() > KEPT) {
            sent.removeFirst();
        }
        if (random.nextInt(12) > 0) { // else it is lost, and may come later
            world.command(command);
        }
    }

    private void disturbCommands() {
        int choice = random.nextInt(10);
        if (choice < 5 && !sent.isEmpty()) {
            world.command(sent.get(random.nextInt(sent.size()))); // late or repeated
        } else if (choice < 7) {
            int newest = Math.max(1, (int) (sent.size() * 0.2));
            long operation = 1L + random.nextInt(newest + eventsRead / 4 + 1);
            world.cancelOperation("op" + (world.past().lives() * World.OPERATIONS_PER_LIFE - World.OPERATIONS_PER_LIFE + operation),
                    OperationKind.PREFETCH);
        } else if (choice == 7 && !sent.isEmpty()) {
            Envelope wrong = new Envelope("node/a", "controller/0", 999, 1, 0, 0, null, null, null);
            world.command(new ReleasePins(wrong, world.header(), "op1"));
        } else if (!placed.isEmpty() && random.nextBoolean()) {
            dropFromTheHost(placed.get(random.nextInt(placed.size())));
        } else {
            disturbTheDisk();
        }
        if (random.nextInt(20) == 0 && !sent.isEmpty() && sent.getLast() instanceof ReleasePins last) {
            world.command(new ReleasePins(last.envelope(), last.header(), "something else")); // conflict
        }
    }

    private void disturbTheDisk() {
        List<PagedBlock> onDisk = book.deepestFirst();
        if (random.nextBoolean() && !onDisk.isEmpty()) {
            int from = random.nextInt(onDisk.size());
            List<PagedBlock> some = onDisk.subList(from, Math.min(onDisk.size(), from + 1 + random.nextInt(4)));
            if (random.nextInt(3) == 0) {
                String operation = world.operation();
                send(new PromoteBlocks(world.envelope(), world.header(), operation, "lease-" + operation, 1 + random.nextInt(3_000), "m",
                        List.copyOf(some.reversed())));
                return;
            }
            if (random.nextInt(2) == 0) {
                send(new CopyBlocks(
                        world.envelope(), world.header(), world.operation(), Tier.DISK, Tier.STORE, "m", List.copyOf(some), null));
                return;
            }
            Tier relies = List.of(Tier.STORE, Tier.UNKNOWN, Tier.HOST, Tier.DISK).get(random.nextInt(4));
            storeHasPerhaps(relies, some);
            send(new DropBlocks(world.envelope(), world.header(), world.operation(), Tier.DISK, "m", List.copyOf(some), relies));
        } else if (!placed.isEmpty()) {
            send(copy(List.of(placed.get(random.nextInt(placed.size())), placed.getLast())));
        }
    }

    private Command copy(List<BlockResult> some) {
        Tier target = random.nextInt(3) > 0 ? Tier.DISK : Tier.STORE;
        CopyOrigin origin = random.nextBoolean() || some.isEmpty() ? null : new CopyOrigin("", 0, some.getFirst().block().key());
        return new CopyBlocks(world.envelope(), world.header(), world.operation(), Tier.HOST, target, "m", paged(some), origin);
    }

    private void dropFromTheHost(BlockResult one) {
        Tier relies = random.nextBoolean() ? Tier.STORE : Tier.DISK;
        long serving = world.serving();
        storeHasPerhaps(relies, paged(List.of(one)));
        send(new DropBlocks(
                world.envelope(), world.header(), world.operation(), Tier.HOST, "m", paged(List.of(one)), relies));
        if (relies == Tier.DISK && !book.holds(one.block())) {
            assertEquals(serving, world.serving(), () -> "I11: a last copy has left, " + one);
        }
    }

    /** Half of the drops that rely on the store are right: it has the blocks, by another node. */
    private void storeHasPerhaps(Tier relies, List<PagedBlock> blocks) {
        if (relies == Tier.STORE && random.nextBoolean()) {
            blocks.forEach(b -> world.ports.store.put(FakePorts.name("m", b.block().key()), FakePorts.content("m", b.block().key())));
        }
    }

    private static List<PagedBlock> paged(List<BlockResult> some) {
        return some.stream().map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c())).toList();
    }

    // --- rest

    private void comeToRest() {
        resting = true;
        world.seen.congested = false;
        world.ports.disk.full = false;
        engine.connect();
        engine.endAll();
        for (int round = 0; round < 20; round++) {
            while (!doubtful.isEmpty()) {
                settleDoubtful();
            }
            world.settle();
            registerAgain();
            world.advance(5_000);
        }
        checkEvents();
        world.settle();
        world.advance(120_000);
        engine.assertAllReleased();
        world.assertAtRest();
        long serving = world.serving();
        assertEquals(hostPages, world.free() + serving, () -> "pages at rest: " + world.core.status().usage());
        for (String operation : destinations.keySet()) {
            assertTrue(ends.containsKey(operation), () -> operation + " began and never ended");
        }
        assertEquals(0, world.core.status().liveRequests(), "requests");
        if (diskBlocks > 0) {
            assertEquals(diskBlocks, world.disk().freeBlocks() + world.disk().servingBlocks(), () -> "disk at rest: " + world.disk());
        }
    }
}
