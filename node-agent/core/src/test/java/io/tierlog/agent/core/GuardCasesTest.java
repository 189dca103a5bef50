/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.WaitExpired;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Guards that no other case shows: without one of them, its test here fails and no other does. Blocks of 2 tokens. */
class GuardCasesTest {
    private final Prompt prompt = Prompt.range(2, 1, 11);

    private static List<BlockResult> onHost(World world, Prompt prompt, int... pages) {
        world.compute("warm" + pages[0], prompt, 0, pages);
        world.releasePins(writtenBack(world, "warm" + pages[0], prompt, pages));
        return world.seen.last(WriteBackDone.class).blocks();
    }

    private static String writtenBack(World world, String request, Prompt prompt, int... pages) {
        String operation = world.writeBack(request, prompt, 0, pages);
        world.endAll(Kind.SAVE);
        return operation;
    }

    /** A2: nothing is written back for a request that was rejected, so what it has sealed need not wait for a command. */
    @Test
    void a2WhatARejectedRequestHasSealedIsReleasedAtOnce() {
        World world = World.running(31, 31);
        world.submitted("r", prompt);
        world.prefilled("r");
        world.seal("r", prompt, 0, 3, 4);
        world.on(new AgentInput.Finished(world.call(), World.attempt("r"), RequestReason.KV_BUDGET, 0));

        assertEquals(List.of(3, 4), world.seen.releasedPages("r"));
        world.assertAtRest();
    }

    /** A4c: two units of 2 blocks are under way; block 1 fails, blocks 2 and 3 land afterwards: without block 1 they are of no use. */
    @Test
    void a4WhatLandsBehindAFaultDoesNotCount() {
        World world = World.running(31, 31, AgentLimits.defaults().with(new AgentLimits.Units(2, 4, 4, 4, 4)));
        Prompt four = Prompt.range(2, 1, 9);
        onHost(world, four, 0, 1, 2, 3);
        world.submit("r", four, 0);
        long load = world.load("r", four, 0, 10, 11, 12, 13);
        assertEquals(2, world.ports.of(Kind.LOAD).size());
        world.end(Kind.LOAD, 1, OperationReason.DEVICE_FAULT);
        world.endAll(Kind.LOAD);

        assertEquals(new RecordedOutput.Loaded(1, "DEVICE_FAULT"), world.seen.reply(load, RecordedOutput.Loaded.class));
        LoadBackDone done = world.seen.event(LoadBackDone.class);
        assertEquals(List.of(0), done.blocks().stream().filter(b -> b.status() == BlockStatus.ARRIVED).map(b -> b.block().index()).toList());
    }

    /** A7: as many bytes a block, otherwise laid out. */
    @Test
    void a7AnEngineWithAnotherLayoutIsRefused() {
        World world = new World(31, 31, AgentLimits.defaults());
        world.on(new AgentInput.SessionOpened(world.call(), "s", "e"));
        long wrong = world.call();
        world.on(new AgentInput.BuffersRegistered(wrong, "s", 31, FakePorts.BLOCK_BYTES, Bytes.copyOf(new byte[32]), Map.of()));

        assertEquals(Refusal.LAYOUT_MISMATCH, world.refused(wrong).refusal());
    }

    /** B1: the right place, under the right block, but not the block of the prompt. */
    @Test
    void b1ABlockWithAnotherKeyIsNotFetched() {
        World world = World.running(31, 31);
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        PrefetchBlocks good = world.prefetchCommand("r", prompt, 0, 2);
        Block foreign = new Block(1, Prompt.range(2, 51, 61).keys().getFirst(), prompt.keys().getFirst());
        world.command(new PrefetchBlocks(good.envelope(), good.header(), good.operation(), good.lease(), good.leaseMs(), "r", 1, "m",
                prompt.root(), List.of(prompt.block(0), foreign), good.sources(), List.of(), null));

        assertEquals(OperationReason.UNSUPPORTED, world.seen.event(CommandRefused.class).reason());
    }

    /** B1: the host has the key as block 1 of another prompt; that is not block 0 of this one. */
    @Test
    void b1APageOfAnotherIndexIsNotOffered() {
        World world = World.running(31, 31);
        Bytes key = prompt.keys().getFirst();
        Prompt second = new Prompt("m", 2, 5, List.of(Prompt.range(2, 51, 52).root(), key));
        onHost(world, second, 0, 1);

        assertEquals(List.of(), world.offered(world.submitted("r", new Prompt("m", 2, 3, List.of(key)))).sources());
    }

    /** B2: two pages, one of which comes free. It is not enough for the first in line, and the second may not have it before. */
    @Test
    void b2NoWriteBackOvertakesTheQueue() {
        World world = World.running(31, 2);
        Prompt one = Prompt.of(2, 1, 2);
        Prompt two = Prompt.of(2, 11, 12);
        Prompt wide = Prompt.of(2, 21, 22, 23, 24);
        Prompt late = Prompt.of(2, 31, 32);
        world.compute("r1", one, 0, 0);
        String first = writtenBack(world, "r1", one, 0);
        world.compute("r2", two, 0, 1);
        writtenBack(world, "r2", two, 1);
        world.compute("r3", wide, 0, 2, 3);
        world.writeBack("r3", wide, 0, 2, 3);
        world.releasePins(first);
        world.compute("r4", late, 0, 4);
        world.writeBack("r4", late, 0, 4);

        assertEquals(List.of(), world.ports.of(Kind.SAVE), "r3 waits for two pages, r4 for r3");
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
    }

    /** B5: block 0 has come meanwhile and has no pin; the other page is pinned. Block 1 may not push out what it builds on. */
    @Test
    void b5WhatServesByThenIsNotEvictedForTheRest() {
        World world = World.running(31, 2);
        world.compute("warm", prompt, 0, 0);
        world.ports.put(prompt, 0, 2);
        world.submitted("r", prompt);
        world.releasePins(writtenBack(world, "warm", prompt, 0));
        Prompt other = Prompt.of(2, 51, 52);
        world.compute("other", other, 0, 1);
        writtenBack(world, "other", other, 1);
        world.prefetch("r", prompt, 0, 2);

        assertEquals(OperationReason.NO_ROOM, world.seen.event(CommandRefused.class).reason());
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
        assertEquals(2, world.serving());
    }

    /** C6: the same operation under a higher number is no second one. */
    @Test
    void c6AnOperationBeginsOnceUnderAnyNumber() {
        World world = World.running(31, 31);
        world.compute("r", prompt, 0, 0, 1);
        WriteBackBlocks command = world.writeBackCommand("r", prompt, List.of(world.paged(prompt, 0, 0), world.paged(prompt, 1, 1)));
        world.command(command);
        world.command(new WriteBackBlocks(command.envelope(), world.header(), command.operation(), command.request(), command.attempt(),
                command.namespace(), command.root(), command.blocks(), command.pinMs()));
        world.endAll(Kind.SAVE);

        assertEquals(1, world.seen.events(OperationStarted.class).size());
        assertEquals(1, world.seen.events(WriteBackDone.class).size());
    }

    /** C10: the host's copy has gone, so the disk's is the last that this agent can answer for. */
    @Test
    void c10TheDiskDoesNotRelyOnAHostThatHasNone() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world, prompt, 0, 1, 2, 3, 4);
        world.copy(prompt, host.reversed());
        world.endAll(Kind.DISK_WRITE);
        BlockResult copy = world.seen.last(CopyDone.class).blocks().getFirst();
        assertEquals(4, copy.block().index());
        world.command(world.dropCommand(prompt, List.of(host.getLast()), Tier.DISK));
        assertEquals(1, world.seen.events(DropDone.class).size());
        world.command(world.diskDropCommand(prompt, List.of(new PagedBlock(copy.block(), -1, copy.generation(), 0)), Tier.HOST));

        assertEquals(OperationReason.LAST_COPY, world.seen.last(DropFailed.class).reason());
        assertEquals(5, world.disk().servingBlocks());
    }

    /** C12: a clock that went back and forth has not waited: 200 ms are 200 ms. */
    @Test
    void c12AClockThatGoesBackShortensNoWait() {
        World world = World.running(31, 31);
        world.ports.put(prompt, 0, 5);
        world.nowMs += 50_000;
        world.on(new AgentInput.TimePassed());
        world.nowMs -= 50_000;
        world.submitted("r", prompt);
        world.nowMs += 50_100;
        world.on(new AgentInput.TimePassed());
        assertEquals(List.of(), world.seen.events(WaitExpired.class));
        world.advance(100);
        assertTrue(world.seen.event(WaitExpired.class).waitedMs() >= 200);
    }

    /** I2: two units of 2 blocks and one of 1; the first ends without saying how, and is known idle while the others still move. */
    @Test
    void aDestinationIsNotReusedBeforeItsOperationHasEnded() {
        World world = World.running(31, 31, AgentLimits.defaults().with(new AgentLimits.Units(2, 1, 1, 2, 1)));
        world.compute("r", prompt, 0, 0, 1, 2, 3, 4);
        world.writeBack("r", prompt, 0, 0, 1, 2, 3, 4);
        world.end(Kind.SAVE, 0, OperationReason.UNKNOWN);
        world.end(Kind.SAVE, Integer.MAX_VALUE); // later in the same stream: the first is idle too
        assertEquals(List.of(), world.seen.events(WriteBackFailed.class));
        assertEquals(List.of(2L, 26L), List.of(world.core.status().usage().getFirst().quarantinedBlocks(), world.free()));

        world.endAll(Kind.SAVE);
        assertEquals(3, world.seen.event(WriteBackFailed.class).blocks().stream().filter(b -> b.reason() == OperationReason.PREFIX_GONE).count());
        assertEquals(List.of(0L, 31L), List.of(world.core.status().usage().getFirst().quarantinedBlocks(), world.free()));
    }

    /** I2 on the disk: what the disk contradicts itself about, or is known idle of, is not dropped while its operation is under way. */
    @Test
    void aFailedPlacementIsNotReusedBeforeItsOperationHasEnded() {
        AgentLimits limits = AgentLimits.defaults().with(new AgentLimits.Units(1, 1, 1, 1, 1)).with(new AgentLimits.Disk(3, 1, 10));
        World world = new World(31, 31, 20, limits, World.Past.none());
        world.on(new AgentInput.DiskFound(List.of(), true));
        world.register();
        world.attach();
        world.copy(prompt, onHost(world, prompt, 0, 1, 2, 3, 4).reversed());
        List<FakePorts.Unit> units = List.copyOf(world.ports.of(Kind.DISK_WRITE));
        assertEquals(3, units.size());
        world.on(world.ports.end(units.get(1), 0, OperationReason.UNKNOWN));
        world.on(FakePorts.input(units.get(1), List.of(FakePorts.failed(OperationReason.IO)))); // known idle
        world.ports.end(units.get(0), 1, OperationReason.IO);
        world.on(FakePorts.input(units.get(0), List.of(new AgentInput.UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, 77, 9))));
        assertEquals(List.of(1L, 0L), List.of(world.disk().quarantinedBlocks(), world.disk().leavingBlocks()));
        assertEquals(List.of(), world.ports.of(Kind.DISK_DROP));

        world.endAll(Kind.DISK_WRITE);
        assertEquals(OperationReason.COPY_RESULT_MISMATCH, world.seen.event(CopyFailed.class).reason());
        assertEquals(List.of(0L, 4L), List.of(world.disk().quarantinedBlocks(), world.disk().leavingBlocks()), "what was begun");
        world.endAll(Kind.DISK_DROP);
        assertEquals(List.of(0L, 20L), List.of(world.disk().servingBlocks(), world.disk().freeBlocks()));
    }

    // --- A7

    /** {plain, adapter} x {offload off, on} x {prefix cache on, off}. */
    static List<Map<String, String>> a7Configurations() {
        List<Map<String, String>> all = new ArrayList<>();
        for (String adapter : List.of("", "a")) {
            for (String offload : List.of("off", "on")) {
                for (String cache : List.of("on", "off")) {
                    all.add(Map.of("adapter", adapter, "kv-offload", offload, "prefix-cache", cache));
                }
            }
        }
        return all;
    }

    private static long attach(World world, String session, Map<String, String> configuration) {
        world.on(new AgentInput.SessionOpened(world.call(), session, "engine-1"));
        return register(world, session, configuration);
    }

    private static long register(World world, String session, Map<String, String> configuration) {
        long call = world.call();
        world.on(new AgentInput.BuffersRegistered(call, session, 31, FakePorts.BLOCK_BYTES, World.DIGEST, configuration));
        return call;
    }

    /** A7: an engine that comes before its agent is on the log, after it, or again, is reported to the log with all its options. */
    @ParameterizedTest
    @MethodSource("a7Configurations")
    void a7NoOptionIsLostOnAnyStartPath(Map<String, String> configuration) {
        World before = new World(31, 31, AgentLimits.defaults());
        attach(before, "s1", configuration);
        assertEquals(List.of(), before.seen.events(EngineAttached.class));
        before.register();
        assertEquals(configuration, before.seen.event(EngineAttached.class).configuration());

        World after = new World(31, 31, AgentLimits.defaults());
        after.register();
        attach(after, "s1", configuration);
        assertEquals(configuration, after.seen.event(EngineAttached.class).configuration());

        World again = new World(31, 31, AgentLimits.defaults());
        again.register();
        attach(again, "s1", Map.of("adapter", "another"));
        again.on(new AgentInput.SessionClosed("s1", true));
        attach(again, "s2", configuration);
        assertEquals(configuration, again.seen.last(EngineAttached.class).configuration());
    }

    /** A7: a pool that is registered twice is registered once; with other options it is refused and not half taken over. */
    @ParameterizedTest
    @MethodSource("a7Configurations")
    void a7TheSameSessionCannotChangeItsOptions(Map<String, String> configuration) {
        World world = new World(31, 31, AgentLimits.defaults());
        world.register();
        attach(world, "s1", configuration);
        for (Map<String, String> other : a7Configurations()) {
            long call = register(world, "s1", other);
            if (other.equals(configuration)) {
                assertEquals(new RecordedOutput.Done(), world.seen.reply(call, RecordedOutput.Done.class));
            } else {
                assertEquals(Refusal.BAD_ARGUMENT, world.seen.reply(call, RecordedOutput.Refused.class).refusal());
            }
        }
        assertEquals(configuration, world.seen.event(EngineAttached.class).configuration());
    }

    // --- C7

    /**
     * C7: what moves to the disk and off the host is a copy and a drop that relies on it. The drop is refused for a pin, and comes late once more
     * when the pin has ended and the journal forgot it; so does the copy: nothing leaves, nothing is written.
     */
    @Test
    void c7ALateMoveIsNeverRun() {
        AgentLimits forgetful = AgentLimits.defaults().with(new AgentLimits.Bounds(64, 64, 64, 64, 2));
        World world = new World(31, 31, 20, forgetful, World.Past.none());
        world.on(new AgentInput.DiskFound(List.of(), true));
        world.register();
        world.attach();
        world.compute("warm", prompt, 0, 0, 1, 2, 3, 4);
        String writeBack = writtenBack(world, "warm", prompt, 0, 1, 2, 3, 4);
        BlockResult deepest = world.seen.last(WriteBackDone.class).blocks().getLast();
        CopyBlocks copy = world.copyCommand(prompt, List.of(deepest));
        world.command(copy);
        world.endAll(Kind.DISK_WRITE);
        DropBlocks drop = world.dropCommand(prompt, List.of(deepest), Tier.DISK);
        world.command(drop);
        assertEquals(OperationReason.PINNED, world.seen.event(DropFailed.class).reason());

        world.releasePins(writeBack);
        world.dropSeen(world.dropCommand(prompt, List.of(), Tier.STORE));
        world.dropSeen(world.dropCommand(prompt, List.of(), Tier.STORE));
        int said = world.seen.events(CommandRefused.class).size();
        world.command(drop);
        world.command(copy);
        List<CommandRefused> refused = world.seen.events(CommandRefused.class);
        assertEquals(List.of(OperationReason.STALE_COMMAND, OperationReason.STALE_COMMAND),
                refused.subList(said, refused.size()).stream().map(CommandRefused::reason).toList());
        assertEquals(List.of(26L, 1L), List.of(world.free(), world.disk().servingBlocks()));
        assertEquals(List.of(), world.ports.of(Kind.DISK_WRITE));
        assertEquals(1, world.seen.events(CopyDone.class).size());
    }
}
