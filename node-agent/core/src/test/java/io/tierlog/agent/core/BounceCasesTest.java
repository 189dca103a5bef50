/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.FakePorts.Unit;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The agent's own pages when they are few, none, in doubt, or rotten; and ports that answer for other blocks than they were asked for. */
class BounceCasesTest {
    private static List<OperationReason> reasons(List<BlockResult> results) {
        return results.stream().map(BlockResult::reason).toList();
    }

    // --- few and none

    @Test
    void twoSessionsGoThroughOnePageInTheirOrder() {
        CopyWorld c = CopyWorld.withDisk(3, 1);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3));
        c.copy(Tier.DISK, Tier.STORE, c.disk(2, 1));
        List<Bytes> written = new ArrayList<>();
        while (!c.world.ports.units.isEmpty()) {
            Unit unit = c.world.ports.units.getFirst();
            assertEquals(1, c.world.ports.units.size(), "there is one page");
            assertEquals(List.of(c.firstBounce()), CopyWorld.pages(unit));
            assertEquals(0, c.bounce().free());
            unit.objects().forEach(object -> written.add(object.key()));
            c.world.on(c.world.ports.end(unit, 1, OperationReason.IO));
        }
        assertEquals(List.of(4, 3, 2, 1), written.stream().map(c.prompt.keys()::indexOf).toList());
        assertEquals(2, c.world.seen.events(CopyDone.class).size());
        c.world.assertAtRest();
    }

    @Test
    void whatNeedsNoPageDoesNotWaitForOne() {
        CopyWorld c = new CopyWorld(8, 1);
        List<PagedBlock> host = c.onHost();
        c.world.compute("r", c.prompt, 0, 10, 11, 12, 13, 14);
        c.copy(Tier.DEVICE, Tier.STORE, List.of(c.world.paged(c.prompt, 4, 14), c.world.paged(c.prompt, 3, 13)));
        c.world.releaseRequest("r");
        c.copy(Tier.HOST, Tier.DISK, host);
        assertEquals(1, c.world.ports.of(Kind.SAVE).size());
        c.world.endAll(Kind.DISK_WRITE);
        assertEquals(Tier.HOST, c.world.seen.event(CopyDone.class).source());
        c.endBoth(Kind.SAVE, Kind.WRITE);
        assertEquals(Tier.DEVICE, c.world.seen.last(CopyDone.class).source());
        c.world.assertAtRest();
    }

    @Test
    void copiesHaveOneUnitInTheStreamOfSaves() {
        CopyWorld c = new CopyWorld(8, 8);
        c.onDevice();
        c.copy(Tier.DEVICE, Tier.STORE, c.device(4, 3));
        c.copy(Tier.DEVICE, Tier.STORE, c.device(2, 1));
        assertEquals(1, c.world.ports.of(Kind.SAVE).size());
        c.world.writeBack("r", c.prompt, 0, 0);
        assertEquals(2, c.world.ports.of(Kind.SAVE).size(), "write-backs have theirs");
        c.world.settle();
        assertEquals(2, c.world.seen.events(CopyDone.class).size());
    }

    @Test
    void anAgentWithoutBouncePagesRefusesCopiesThatNeedThem() {
        CopyWorld c = CopyWorld.withDisk(8, 0);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        c.copy(Tier.DEVICE, Tier.STORE, c.onDevice());
        assertEquals(
                List.of(OperationReason.UNSUPPORTED, OperationReason.UNSUPPORTED),
                c.world.seen.events(CommandRefused.class).stream().map(CommandRefused::reason).toList());
        assertEquals(List.of(), c.world.ports.units);
        assertThrows(IllegalArgumentException.class, () -> AgentLimits.defaults().withBounceBlocks(-1));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void aFullDiskGivesThePagesBack(int pages) {
        CopyWorld c = new CopyWorld(0, pages);
        c.world.ports.disk.full = true;
        c.copy(Tier.DEVICE, Tier.DISK, c.onDevice());
        c.endBoth(Kind.SAVE, Kind.DISK_WRITE);
        assertEquals(OperationReason.NO_ROOM, c.world.seen.event(CopyFailed.class).reason());
        assertEquals(List.of(20L, pages), List.of(c.world.disk().freeBlocks(), c.bounce().free()));
        assertEquals(5, c.world.seen.releasedPages("r").size());
        c.world.assertAtRest();
    }

    // --- in doubt

    @Test
    void aPageThatADiskMayStillWriteToIsKeptUntilItIsIdle() {
        CopyWorld c = CopyWorld.withDisk(3, 2);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        Unit doubtful = c.world.ports.only(Kind.DISK_READ);
        c.world.end(Kind.DISK_READ, 0, OperationReason.UNKNOWN);
        assertEquals(OperationReason.IO, c.world.seen.event(CopyFailed.class).reason());
        assertEquals(new AgentStatus.Bounce(2, 1, 1), c.bounce());
        c.copy(Tier.DISK, Tier.STORE, c.disk(3, 2));
        while (!c.world.ports.units.isEmpty()) {
            assertFalse(CopyWorld.pages(c.world.ports.units.getFirst()).contains(CopyWorld.pages(doubtful).getFirst()), "I2");
            c.world.on(c.world.ports.end(c.world.ports.units.getFirst(), 1, OperationReason.IO));
        }
        assertEquals(2, c.world.seen.event(CopyDone.class).blocks().size());
        c.world.on(FakePorts.input(doubtful, List.of(FakePorts.failed(OperationReason.IO))));
        assertEquals(new AgentStatus.Bounce(2, 2, 0), c.bounce());
        assertEquals(1, c.world.core.status().count(AgentCounter.BOUNCE_PAGES_QUARANTINED));
        c.world.assertAtRest();
    }

    @Test
    void aPageThatTheStoreMayStillReadIsKeptAndNotReportedAsStored() {
        CopyWorld c = CopyWorld.withDisk(3, 1);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        c.world.endAll(Kind.DISK_READ);
        Unit doubtful = c.world.ports.only(Kind.WRITE);
        c.world.end(Kind.WRITE, 0, OperationReason.UNKNOWN);
        assertEquals(OperationReason.IO, c.world.seen.event(CopyFailed.class).reason());
        assertEquals(List.of(), c.world.seen.events(BlocksStored.class));
        assertEquals(new AgentStatus.Bounce(1, 0, 1), c.bounce());
        c.world.on(FakePorts.input(doubtful, List.of(FakePorts.failed(OperationReason.IO))));
        assertEquals(1, c.bounce().free());
    }

    @Test
    void aLaterSaveOfWhateverOperationEndsTheDoubt() {
        CopyWorld c = new CopyWorld(8, 4);
        c.onDevice();
        c.copy(Tier.DEVICE, Tier.DISK, c.device(4));
        c.world.end(Kind.SAVE, 0, OperationReason.UNKNOWN);
        assertEquals(OperationReason.DEVICE_FAULT, c.world.seen.event(CopyFailed.class).reason());
        assertEquals(List.of(1, List.of()), List.of(c.bounce().quarantined(), c.world.seen.releasedPages("r")), "it may still be read");
        c.world.writeBack("r", c.prompt, 0, 0);
        c.world.endAll(Kind.SAVE);
        assertEquals(0, c.bounce().quarantined());
        assertTrue(c.world.seen.releasedPages("r").contains(4));
    }

    @Test
    void whenAllPagesAreInDoubtNoCopyWaitsForThem() {
        CopyWorld c = CopyWorld.withDisk(3, 1);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3));
        c.copy(Tier.DISK, Tier.STORE, c.disk(2));
        Unit doubtful = c.world.ports.only(Kind.DISK_READ);
        c.world.end(Kind.DISK_READ, 0, OperationReason.UNKNOWN);
        List<CopyFailed> failed = c.world.seen.events(CopyFailed.class);
        assertEquals(
                List.of(List.of(OperationReason.IO, OperationReason.NO_ROOM), List.of(OperationReason.NO_ROOM)),
                failed.stream().map(one -> reasons(one.blocks())).toList());
        c.copy(Tier.DISK, Tier.STORE, c.disk(2));
        assertEquals(OperationReason.NO_ROOM, c.world.seen.last(CopyFailed.class).reason());
        c.world.on(FakePorts.input(doubtful, List.of(FakePorts.failed(OperationReason.IO))));
        c.copy(Tier.DISK, Tier.STORE, c.disk(2));
        c.endBoth(Kind.DISK_READ, Kind.WRITE);
        assertTrue(c.stored(2));
        c.world.assertAtRest();
    }

    @Test
    void aPageThatRotsBetweenTheLegsIsNotWrittenAndTheSourceIsAsGoodAsBefore() {
        CopyWorld c = CopyWorld.withDisk(3, 1);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        c.world.endAll(Kind.DISK_READ);
        c.world.ports.host[c.firstBounce()][3] ^= 1;
        c.world.endAll(Kind.WRITE);
        assertEquals(OperationReason.CHECKSUM, c.world.seen.event(CopyFailed.class).reason());
        assertFalse(c.stored(4));
        assertEquals(List.of(), c.world.seen.events(BlocksEvicted.class));
        assertEquals(List.of(5L, 1), List.of(c.world.disk().servingBlocks(), c.bounce().free()));
    }

    // --- other blocks than asked for

    /** How the units of a pair go, and which of them miscounts. */
    @ParameterizedTest
    @CsvSource({
        "DEVICE, DISK, SAVE", "DEVICE, DISK, DISK_WRITE", "DEVICE, STORE, WRITE", "HOST, DISK, DISK_WRITE", "HOST, STORE, WRITE",
        "DISK, STORE, DISK_READ", "DISK, STORE, WRITE"
    })
    void aPortThatMiscountsEndsTheWholeCopyAndTheSourcesServe(Tier source, Tier target, Kind miscounts) {
        for (boolean more : new boolean[] {false, true}) {
            AgentLimits pairs = AgentLimits.defaults().with(new AgentLimits.Units(2, 4, 4, 2, 4)).with(new AgentLimits.Disk(1, 1, 10));
            CopyWorld c = new CopyWorld(8, pairs, source == Tier.DISK ? 5 : 0);
            List<PagedBlock> blocks = switch (source) {
                case DEVICE -> c.onDevice();
                case HOST -> c.onHost();
                default -> c.disk(4, 3, 2, 1, 0);
            };
            c.copy(source, target, blocks); // units of two blocks, one at a time
            int units = 0;
            while (c.world.ports.of(miscounts).isEmpty() || units < 1) { // at least two blocks end well before
                units += c.world.ports.units.getFirst().kind() == miscounts ? 1 : 0;
                c.world.on(c.world.ports.end(c.world.ports.units.getFirst(), 2, OperationReason.IO));
            }
            Unit wrong = c.miscount(miscounts, more);
            c.world.settle();
            CopyFailed failed = c.world.seen.event(CopyFailed.class);
            assertEquals(OperationReason.COPY_RESULT_MISMATCH, failed.reason());
            assertEquals(5, failed.blocks().size());
            assertTrue(failed.blocks().stream().allMatch(block -> block.status() == BlockStatus.FAILED && block.generation() == 0), failed::toString);
            assertEquals(List.of(), c.world.seen.events(BlocksStored.class));
            assertEquals(List.of(), c.world.seen.events(BlocksEvicted.class));
            assertEquals(source == Tier.DISK ? 5 : 0, c.world.ports.disk.size(), "what was written there has been dropped");
            assertEquals(source == Tier.HOST ? 5 : 0, c.world.serving());
            c.world.on(FakePorts.input(wrong, wrongIsIdle(wrong)));
            c.world.settle();
            assertEquals(1, c.world.core.status().count(AgentCounter.COPY_RESULT_MISMATCHES));
            c.world.assertAtRest();
        }
    }

    private static List<AgentInput.UnitResult> wrongIsIdle(Unit unit) {
        return java.util.Collections.nCopies(unit.size(), FakePorts.failed(OperationReason.IO));
    }

    @Test
    void aDiskThatAnswersForAnotherBlockEndsTheWholeCopy() {
        CopyWorld c = new CopyWorld(0, 4);
        c.copy(Tier.DEVICE, Tier.DISK, c.onDevice().subList(0, 2));
        c.world.releaseRequest("r");
        c.world.endAll(Kind.SAVE);
        Unit write = c.world.ports.only(Kind.DISK_WRITE);
        List<AgentInput.UnitResult> results = CopyWorld.results(c.world.ports.end(write, 2, OperationReason.IO));
        c.world.on(FakePorts.input(write, results.reversed()));
        assertEquals(
                List.of(OperationReason.COPY_RESULT_MISMATCH, OperationReason.COPY_RESULT_MISMATCH),
                reasons(c.world.seen.event(CopyFailed.class).blocks()));
        c.world.endAll(Kind.DISK_DROP);
        assertEquals(List.of(0, 20L), List.of(c.world.ports.disk.size(), c.world.disk().freeBlocks()));
        c.world.assertAtRest();
    }

    @Test
    void anImpossibleResultOfAWriteFailsTheCopy() {
        CopyWorld c = CopyWorld.withDisk(3, 4);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3));
        Unit read = c.world.ports.only(Kind.DISK_READ);
        AgentInput.UnitResult good = CopyWorld.results(c.world.ports.end(read, 2, OperationReason.IO)).getFirst();
        c.world.on(FakePorts.input(read, List.of(good, new AgentInput.UnitResult(BlockStatus.GONE, OperationReason.COMPLETED, 0, 4))));
        assertEquals(
                List.of(OperationReason.COPY_RESULT_MISMATCH, OperationReason.COPY_RESULT_MISMATCH),
                reasons(c.world.seen.event(CopyFailed.class).blocks()), "the first waited for its second leg");
        assertEquals(5, c.world.disk().servingBlocks());
        c.world.assertAtRest();
    }
}
