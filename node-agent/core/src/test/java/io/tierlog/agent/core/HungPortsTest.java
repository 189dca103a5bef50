/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.FakePorts.Unit;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.port.EngineReplies.StoreAnswer;
import io.tierlog.agent.core.port.PeerFinder.Holder;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerSource;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ports that take a unit and do not end it: the operation ends in time, its pages stay in quarantine, and a late end gives them back. A unit may
 * take a minute, a probe that no request waits for five seconds.
 */
class HungPortsTest {
    private static final long UNIT_MS = AgentLimits.defaults().times().unitMs();
    private static final long PROBE_MS = AgentLimits.defaults().times().probeMs();
    private static final Prompt P = Prompt.range(2, 1, 11); // blocks 0 to 4

    private World world = World.running(31, 31);

    private List<BlockResult> onHost() {
        world.compute("warm", P, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("warm", P, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
        return world.seen.last(WriteBackDone.class).blocks();
    }

    private List<PagedBlock> onDisk() {
        world = World.withDisk(31, 20);
        world.copy(P, onHost().reversed());
        world.endAll(Kind.DISK_WRITE);
        return world.seen.last(CopyDone.class).blocks().stream()
                .map(block -> new PagedBlock(block.block(), block.page(), block.generation(), block.crc32c())).toList();
    }

    private static List<OperationReason> all(OperationReason why) {
        return Collections.nCopies(5, why);
    }

    private static List<OperationReason> reasons(List<BlockResult> blocks) {
        return blocks.stream().map(BlockResult::reason).toList();
    }

    private long quarantined() {
        return world.core.status().usage().getFirst().quarantinedBlocks();
    }

    private long overdue() {
        return world.core.status().count(AgentCounter.UNITS_OVERDUE);
    }

    private void late(Kind kind) {
        List<Unit> hung = world.ports.of(kind);
        hung.forEach(unit -> world.on(kind == Kind.PROBE ? world.ports.endProbe(unit) : world.ports.end(unit, 99, OperationReason.IO)));
        assertTrue(world.core.status().count(AgentCounter.LATE_COMPLETIONS) >= hung.size());
    }

    private void lost() {
        world.command(new FenceAgent(world.envelope(), new CommandHeader("f", 0), 0));
    }

    @Test
    void aReadOfTheStoreEndsInTime() {
        world.ports.put(P, 0, 5);
        world.submitted("r", P);
        world.prefetch("r", P, 0, 5);
        world.advance(UNIT_MS - 1);
        assertEquals(List.of(), world.seen.events(PrefetchFailed.class));
        world.advance(1);
        assertEquals(all(OperationReason.STORE_UNAVAILABLE), reasons(world.seen.event(PrefetchFailed.class).blocks()));
        assertEquals(List.of(0, 5L, 1L),
                List.of(world.core.status().activeOperations(), quarantined(), overdue()));
        late(Kind.READ);
        assertEquals(List.of(0L, 31L), List.of(quarantined(), world.free()));
        world.cancel("r");
        world.assertAtRest();
    }

    /** Of a store that does not answer four units, a fifth gets no pages; when it has answered one, it gets units again. */
    @Test
    void aStoreThatHangsGetsNoMorePages() {
        for (int i = 0; i < 4; i++) {
            Prompt prompt = Prompt.range(2, 101 + 20 * i, 111 + 20 * i);
            world.ports.put(prompt, 0, 5);
            world.submitted("r" + i, prompt);
            world.prefetch("r" + i, prompt, 0, 5);
        }
        world.advance(UNIT_MS);
        world.ports.put(P, 0, 5);
        world.submitted("r", P);
        world.prefetch("r", P, 0, 5);
        assertEquals(List.of(5, 4, 20L), List.of(world.seen.events(PrefetchFailed.class).size(), world.ports.of(Kind.READ).size(), quarantined()));
        assertEquals(all(OperationReason.STORE_UNAVAILABLE), reasons(world.seen.last(PrefetchFailed.class).blocks()));
        world.end(Kind.READ, 5);
        world.submitted("again", P);
        world.prefetch("again", P, 0, 5);
        assertEquals(4, world.ports.of(Kind.READ).size());
        world.on(world.ports.end(world.ports.of(Kind.READ).getLast(), 5, OperationReason.IO));
        assertEquals(1, world.seen.events(PrefetchDone.class).size());
        late(Kind.READ);
        Stream.of("r", "again", "r0", "r1", "r2", "r3").forEach(world::cancel);
        world.advance(70_000);
        world.assertAtRest();
    }

    /** Reads stand behind no write: a store that takes no writes may still give what it has. */
    @Test
    void aStoreWhoseWritesHangIsStillRead() {
        for (int i = 0; i < 4; i++) {
            Prompt prompt = Prompt.range(2, 101 + 20 * i, 111 + 20 * i);
            int page = 5 * i;
            world.compute("warm" + i, prompt, 0, page, page + 1, page + 2, page + 3, page + 4);
            String writeBack = world.writeBack("warm" + i, prompt, 0, page, page + 1, page + 2, page + 3, page + 4);
            world.endAll(Kind.SAVE);
            world.releasePins(writeBack);
            world.backUp(prompt, writeBack);
        }
        world.advance(UNIT_MS);
        assertEquals(List.of(4, 4L), List.of(world.seen.events(BackUpFailed.class).size(), overdue()));
        world.ports.put(P, 0, 5);
        world.submitted("r", P);
        world.prefetch("r", P, 0, 5);
        world.end(Kind.READ, 5);
        assertEquals(1, world.seen.events(PrefetchDone.class).size());
        late(Kind.WRITE);
        world.cancel("r");
        world.advance(70_000);
        world.assertAtRest();
    }

    /** The port may begin the second unit only when it has ended the first. */
    @Test
    void theTimeOfAUnitBeginsAgainWhenOneBeforeItHasEnded() {
        Prompt second = Prompt.range(2, 101, 111);
        world.ports.put(P, 0, 5);
        world.ports.put(second, 0, 5);
        world.submitted("r", P);
        world.prefetch("r", P, 0, 5);
        world.submitted("s", second);
        world.prefetch("s", second, 0, 5);
        world.advance(UNIT_MS - 1);
        world.end(Kind.READ, 5);
        world.advance(UNIT_MS - 1);
        assertEquals(List.of(0, 0L), List.of(world.seen.events(PrefetchFailed.class).size(), overdue()));
        world.advance(1);
        assertEquals(List.of(1, 1L), List.of(world.seen.events(PrefetchFailed.class).size(), overdue()));
        late(Kind.READ);
        world.cancel("r");
        world.cancel("s");
        world.advance(70_000);
        world.assertAtRest();
    }

    @Test
    void aWriteToTheStoreEndsInTimeAndItsPageStaysWhileItMayBeRead() {
        world.compute("warm", P, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("warm", P, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.backUp(P, writeBack);
        world.advance(UNIT_MS);
        world.releasePins(writeBack);
        assertEquals(all(OperationReason.STORE_UNAVAILABLE), reasons(world.seen.event(BackUpFailed.class).blocks()));
        assertEquals(5, world.pins(), "the store may still read them");
        late(Kind.WRITE);
        world.assertAtRest();
    }

    @Test
    void aWriteToTheDiskEndsInTimeAndWhatComesDownLateIsDropped() {
        world = World.withDisk(31, 20);
        world.copy(P, onHost().reversed());
        world.advance(UNIT_MS);
        assertEquals(all(OperationReason.IO), reasons(world.seen.event(CopyFailed.class).blocks()));
        assertEquals(5, world.disk().quarantinedBlocks());
        late(Kind.DISK_WRITE);
        world.endAll(Kind.DISK_DROP);
        assertEquals(20, world.disk().freeBlocks());
        world.assertAtRest();
    }

    /**
     * Of three units that write, the first returns a wrong checksum, so that nothing of the copy counts. The last is overdue, or its outcome is not
     * known: its block is not dropped, and not written again, before the port has ended it.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatMayStillComeDownIsNotDroppedWithACopyThatDoesNotCount(boolean overdue) {
        AgentLimits limits = AgentLimits.defaults().with(new AgentLimits.Units(2, 4, 4, 4, 4)).with(new AgentLimits.Disk(3, 3, 10));
        world = World.withDisk(31, 20, limits, World.Past.none());
        List<BlockResult> host = onHost();
        world.copy(P, host.reversed());
        List<Unit> writes = List.copyOf(world.ports.of(Kind.DISK_WRITE)); // blocks 4 and 3, 2 and 1, 0
        UnitResult wrong = new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, 77, 9);
        world.ports.end(writes.getFirst(), 2, OperationReason.IO);
        world.on(FakePorts.input(writes.getFirst(), List.of(wrong, wrong)));
        world.on(world.ports.end(writes.get(1), 2, OperationReason.IO));
        if (overdue) {
            world.advance(UNIT_MS);
        } else {
            world.on(FakePorts.input(writes.getLast(), List.of(new UnitResult(BlockStatus.UNKNOWN, OperationReason.UNKNOWN, 0))));
        }
        assertEquals(all(OperationReason.COPY_RESULT_MISMATCH), reasons(world.seen.event(CopyFailed.class).blocks()));
        assertEquals(List.of(4L, 1L), List.of(world.disk().leavingBlocks(), world.disk().quarantinedBlocks()));
        world.endAll(Kind.DISK_DROP);
        world.copy(P, host.subList(0, 1));
        assertEquals(OperationReason.NOT_SERVING, world.seen.last(CopyFailed.class).reason());
        world.on(world.ports.end(writes.getLast(), 1, OperationReason.IO));
        world.endAll(Kind.DISK_DROP);
        assertEquals(List.of(20L, 0), List.of(world.disk().freeBlocks(), world.ports.disk.size()));
        world.assertAtRest();
    }

    @Test
    void aReadOfTheDiskEndsInTime() {
        World.Past past = World.Past.none();
        past.disk().put(P, 0, 5);
        world = World.withDisk(31, 20, past);
        world.submitted("r", P);
        PrefetchBlocks c = world.prefetchCommand("r", P, 0, 5);
        world.command(new PrefetchBlocks(c.envelope(), c.header(), c.operation(), c.lease(), c.leaseMs(), c.request(), c.attempt(), c.namespace(),
                c.root(), c.blocks(), Collections.nCopies(5, Tier.DISK), c.buildsOn(), null));
        world.advance(UNIT_MS);
        assertEquals(all(OperationReason.IO), reasons(world.seen.event(PrefetchFailed.class).blocks()));
        assertEquals(5, quarantined());
        late(Kind.DISK_READ);
        world.cancel("r");
        assertEquals(0, quarantined());
        world.assertAtRest();
    }

    @Test
    void aDropFromTheDiskEndsInTimeAndIsRepeatedOnlyWhenTheFirstIsIdle() {
        List<PagedBlock> copies = onDisk();
        world.command(world.diskDropCommand(P, copies, Tier.HOST));
        world.advance(UNIT_MS);
        assertEquals(5, world.seen.event(DropDone.class).blocks().size());
        assertEquals(List.of(1, 0L), List.of(world.ports.of(Kind.DISK_DROP).size(), world.disk().servingBlocks()));
        late(Kind.DISK_DROP);
        world.endAll(Kind.DISK_DROP);
        assertEquals(20, world.disk().freeBlocks());
        world.assertAtRest();
    }

    @Test
    void aDropThatReliesOnTheStoreEndsInTime() {
        List<BlockResult> held = onHost();
        world.command(world.dropCommand(P, held.reversed(), Tier.STORE));
        world.advance(UNIT_MS);
        assertEquals(OperationReason.STORE_UNAVAILABLE, world.seen.event(DropFailed.class).blocks().getFirst().reason());
        assertEquals(5, world.serving());
        late(Kind.PROBE);
        world.assertAtRest();
    }

    @Test
    void aReadFromAnotherNodeEndsInTime() {
        FakePeers peers = new FakePeers();
        world = new World(31, 10, 0, AgentLimits.defaults(), World.Past.none(), Optional.of(peers));
        world.register();
        world.attach();
        world.submitted("r", P);
        world.on(new PeersFound(peers.finds.getFirst().unit(), List.of(new Holder("c", "c:7000", Tier.HOST, 5))));
        PrefetchBlocks c = world.prefetchCommand("r", P, 0, 5);
        world.command(new PrefetchBlocks(c.envelope(), c.header(), c.operation(), c.lease(), c.leaseMs(), c.request(), c.attempt(), c.namespace(),
                c.root(), c.blocks(), Collections.nCopies(5, Tier.HOST), c.buildsOn(), new PeerSource("c", "c:7000")));
        assertEquals(1, peers.reads.size());
        world.advance(UNIT_MS);
        assertEquals(all(OperationReason.IO), reasons(world.seen.event(PrefetchFailed.class).blocks()));
        assertEquals(5, quarantined());
        world.on(new PeerUnitEnded(peers.reads.getFirst().unit(),
                Collections.nCopies(5, new UnitResult(BlockStatus.FAILED, OperationReason.IO, 0))));
        assertEquals(0, quarantined());
        world.cancel("r");
        world.assertAtRest();
    }

    @Test
    void anExistCallIsAnsweredWithoutTheStore() {
        onHost();
        long call = world.exist(P, 0, 5);
        world.advance(PROBE_MS);
        RecordedOutput.Found found = world.seen.reply(call, RecordedOutput.Found.class);
        assertEquals(Collections.nCopies(5, StoreAnswer.UNREACHABLE), found.blocks().stream().map(one -> one.store()).toList());
        assertTrue(found.blocks().getFirst().host());
        late(Kind.PROBE);
    }

    @Test
    void aRejoinDoesNotWaitForUnitsOfTheEndedEpoch() {
        world.ports.put(P, 0, 5);
        world.submitted("r", P);
        world.prefetch("r", P, 0, 5);
        lost();
        assertEquals(List.of(AgentPhase.UNREGISTERED, 5L), List.of(world.core.status().phase(), quarantined()));
        world.registerAgain();
        assertEquals(List.of(), world.seen.events(PrefetchFailed.class));
        late(Kind.READ);
        assertEquals(0, quarantined());
        world.cancel("r");
        world.assertAtRest();
    }

    /** Four units of the ended epoch are left behind before their time is over: the store gets units until it is. */
    @Test
    void whatARejoinLeavesIsOverdueOnlyInTime() {
        for (int i = 0; i < 4; i++) {
            Prompt prompt = Prompt.range(2, 101 + 20 * i, 111 + 20 * i);
            world.ports.put(prompt, 0, 5);
            world.submitted("r" + i, prompt);
            world.prefetch("r" + i, prompt, 0, 5);
        }
        lost();
        world.registerAgain();
        assertEquals(0, overdue());
        world.ports.put(P, 0, 5);
        world.submitted("r", P);
        world.prefetch("r", P, 0, 5);
        assertEquals(List.of(5, 0), List.of(world.ports.of(Kind.READ).size(), world.seen.events(PrefetchFailed.class).size()));
        world.advance(UNIT_MS);
        assertEquals(5, overdue());
        world.submitted("again", P);
        world.prefetch("again", P, 0, 5);
        assertEquals(List.of(5, 2), List.of(world.ports.of(Kind.READ).size(), world.seen.events(PrefetchFailed.class).size()));
        late(Kind.READ);
        assertEquals(0, quarantined());
    }

    /** The store has blocks 0, 1 and 3 of five: these are reported as seen in it, and the two that it was known to have are not. */
    @Test
    void aRejoinReportsWhatTheStoreHasNow() {
        world.compute("warm", P, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("warm", P, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.backUp(P, writeBack);
        world.endAll(Kind.WRITE);
        world.releasePins(writeBack);
        world.ports.store.remove(FakePorts.name(P.namespace(), P.keys().get(2)));
        world.ports.store.remove(FakePorts.name(P.namespace(), P.keys().get(4)));
        lost();
        assertEquals(AgentPhase.REJOINING, world.core.status().phase());
        world.answerProbes();
        world.registerAgain();
        assertEquals(5, world.seen.event(BlocksRecovered.class).blocks().size());
        assertEquals(List.of(P.block(0), P.block(1), P.block(3)), world.seen.event(BlocksSeenStored.class).blocks());
    }

    @Test
    void aRejoinWaitsForAStoreThatHangsNoLongerThanForAProbe() {
        onHost();
        lost();
        world.advance(PROBE_MS - 1);
        assertEquals(AgentPhase.REJOINING, world.core.status().phase());
        world.advance(1);
        assertEquals(AgentPhase.UNREGISTERED, world.core.status().phase());
        world.registerAgain();
        assertEquals(5, world.seen.event(BlocksRecovered.class).blocks().size());
        assertEquals(List.of(), world.seen.events(BlocksSeenStored.class));
        late(Kind.PROBE);
    }

    @Test
    void aRejoinGoesOnAtOnceWhenTheStoreIsNotReachable() {
        onHost();
        world.ports.storeReachable = false;
        lost();
        world.answerProbes();
        assertEquals(AgentPhase.UNREGISTERED, world.core.status().phase());
    }
}
