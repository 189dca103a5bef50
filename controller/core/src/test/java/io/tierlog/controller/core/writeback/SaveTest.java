/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.writeback;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.RefuseSave;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.state.PlacementState;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Blocks that an engine wants on the host now: 4 blocks sealed in pages 50 to 53, policy WRITE_BACK, 31 host pages. */
class SaveTest {
    private final World w = new World();
    private final List<Bytes> p = Agent.path("p", 4);
    private final List<PagedBlock> sealed = Agent.paged(p, 0, 4, 50);
    private Agent a = new Agent("a", "a-1", 31);

    @BeforeEach
    void seal() {
        a = w.register("a", 31);
        w.input(a.submit("r", p).answered().event());
        w.input(a.prefilled("r", 1));
        w.input(a.sealed("r", 1, sealed));
        assertEquals(List.of(), w.commands(WriteBackBlocks.class), "the policy waits for the end");
    }

    private void assertRefusal(List<Block> blocks, OperationReason why) {
        RefuseSave refusal = w.command(RefuseSave.class);
        assertEquals(List.of("a/save/1/1", blocks, why), List.of(refusal.save(), refusal.blocks(), refusal.reason()));
    }

    @Test
    void whatIsSavedIsWrittenBackAtOnceAndNotAgainAtTheEnd() {
        w.input(a.save("r", 1, sealed));
        WriteBackBlocks command = w.command(WriteBackBlocks.class);
        assertEquals(List.of("r", 1, sealed, p.getFirst()), List.of(command.request(), command.attempt(), command.blocks(), command.root()));
        assertEquals(List.of(), w.commands(RefuseSave.class));
        assertEquals(PlacementState.WRITING, w.state(a, Tier.HOST, p.get(3)));

        w.input(new WriteBackDone(a.envelope(), command.operation(), Agent.NAMESPACE, Agent.arrived(Agent.blocks(p, 0, 4), 0), 1, 1));
        assertEquals(command.operation(), w.command(BackUpBlocks.class).releases(), "what is saved is backed up as ever");
        w.input(a.finished("r", 1));
        assertEquals("r", w.command(ReleaseRequest.class).request());
    }

    @Test
    void whatIsThereOrOnItsWayIsRefusedOnRecord() {
        w.input(a.save("r", 1, sealed.subList(0, 2)));
        assertRefused(RefusalReason.REPEATED, w.input(a.save("r", 1, sealed)));
        assertEquals(sealed.subList(2, 4), w.command(WriteBackBlocks.class).blocks());
        assertRefusal(Agent.blocks(p, 0, 2), OperationReason.ALREADY_THERE);

        assertRefused(RefusalReason.REPEATED, w.input(a.save("r", 1, sealed)));
        assertEquals(List.of(), w.commands(WriteBackBlocks.class));
        assertRefusal(Agent.blocks(p, 0, 4), OperationReason.ALREADY_THERE);
    }

    @Test
    void anUnknownOrEndedAttemptSavesNothing() {
        assertRefused(RefusalReason.REQUEST_UNKNOWN, w.input(a.save("other", 1, sealed)));
        assertRefusal(Agent.blocks(p, 0, 4), OperationReason.NOT_SERVING);
        assertRefused(RefusalReason.REQUEST_UNKNOWN, w.input(a.save("r", 2, sealed)));
        assertRefusal(Agent.blocks(p, 0, 4), OperationReason.NOT_SERVING);
        w.input(a.cancelled("r", 1));
        assertRefused(RefusalReason.REQUEST_ENDED, w.input(a.save("r", 1, sealed)));
        assertRefusal(Agent.blocks(p, 0, 4), OperationReason.NOT_SERVING);
        assertEquals(0, w.host(a).usedBlocks());
    }

    @Test
    void aWishThatDoesNotHoldIsRefused() {
        List<PagedBlock> wrong = List.of(new PagedBlock(new Block(0, Bytes.wrapUnshared(new byte[7]), Bytes.EMPTY), 50, 1, 0));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(a.save("r", 1, wrong)));
        assertRefusal(List.of(wrong.getFirst().block()), OperationReason.UNSUPPORTED);
    }
}
