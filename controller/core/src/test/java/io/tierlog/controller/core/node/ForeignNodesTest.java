/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.event.EngineViewChanged;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.state.PlacementRow;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Engines that a bridge listens to: their blocks are on record, published and withdrawn, and nothing else is decided about them. */
class ForeignNodesTest {
    private static final Bytes KEY = Bytes.ofHex("8000000000000001");

    private final World w = new World();
    private final Agent bridge = new Agent("ext-pod-dp0", "b-1", 0);

    private void register() {
        w.input(bridge.registeringForeign());
        bridge.incarnation = w.node(bridge).incarnation();
    }

    private @Nullable PlacementRow row(Tier tier) {
        return w.tables.get(Rows.PLACEMENTS, new RowKey.Placement(bridge.aggregate(), Namespaces.digest(Agent.NAMESPACE), tier, KEY));
    }

    private List<PlacementFeed.Publication> published() {
        return w.last.facts().stream().flatMap(fact -> PlacementFeed.of(fact).stream()).toList();
    }

    private NodeEpoch epoch() {
        return w.last.facts().stream().flatMap(fact -> PlacementFeed.epoch(fact).stream()).findFirst().orElseThrow().epoch();
    }

    private void refused(RefusalReason reason) {
        assertEquals(reason, assertInstanceOf(Outcome.Refused.class, w.last.outcome()).reason());
    }

    @Test
    void blocksOfEveryTierArePublishedAndWithdrawn() {
        register();
        for (Tier tier : List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE)) {
            w.input(bridge.engineStored(tier, Agent.engineBlock(KEY, -1, 5)));
            assertEquals(List.of("node/ext-pod-dp0/" + tier), published().stream().map(PlacementFeed.Publication::location).toList());
            assertNotNull(row(tier));
            w.input(bridge.evicted(tier, RemovalReason.ENGINE_EVICTED, List.of(Agent.engineBlock(KEY, -1, 5))));
            assertNull(published().getFirst().placement());
            assertNull(row(tier));
            BlocksRemoved removed = assertInstanceOf(BlocksRemoved.class, w.last.facts().getFirst());
            assertEquals(0, removed.lastCopiesLost(), "Tierlog had no copy to lose");
        }
        assertEquals(List.of(), w.commands);
    }

    @Test
    void theEndOfTheEngineWithdrawsAll() {
        register();
        w.input(bridge.engineStored(Tier.DEVICE, Agent.engineBlock(KEY, 0, 1)));
        w.input(bridge.engineStored(Tier.HOST, Agent.engineBlock(KEY, 0, 1)));
        w.input(bridge.stopping());
        assertEquals(2, published().stream().filter(one -> one.placement() == null).count());
        assertEquals(false, epoch().alive());
    }

    @Test
    void aLostViewIsPublishedWithTheEpoch() {
        register();
        w.input(new EngineViewChanged(bridge.envelope(), 1, List.of(Agent.NAMESPACE), "batches 3 to 4 are lost", 3, 4));
        assertEquals(List.of(Agent.NAMESPACE), epoch().unknownNamespaces());
        assertEquals(1, epoch().view());
        w.input(new EngineViewChanged(bridge.envelope(), 2, List.of(), "", -1, -1));
        assertEquals(List.of(), epoch().unknownNamespaces());
        assertEquals(2, epoch().view());
    }

    @Test
    void nothingThatNeedsAnAgentIsDoneThere() {
        register();
        w.input(bridge.sealed("r", 1, List.of(new PagedBlock(new Block(0, KEY, Bytes.EMPTY), 1, 1, 0))));
        refused(RefusalReason.CONFIGURATION_MISMATCH);
        w.input(new NodeDrainRequested(new Envelope(bridge.aggregate(), "operator/o", 0, 1, 0, 0, null, null, null), "d1", true, null));
        refused(RefusalReason.MIGRATION_INVALID);
        for (int i = 0; i < 5; i++) {
            w.input(bridge.engineStored(Tier.HOST, Agent.engineBlock(Bytes.ofHex("800000000000000" + i), i, 1)));
            w.tick();
        }
        assertEquals(List.of(), w.commands, "no watermark is reached where there is no capacity");
    }

    @Test
    void anAgentIsNoBridgeAndABridgeNoAgent() {
        Agent agent = w.register("a", 10);
        w.input(agent.engineStored(Tier.DEVICE, Agent.engineBlock(KEY, 0, 1)));
        refused(RefusalReason.CONFIGURATION_MISMATCH);
        w.input(new Agent("a", "b-2", 0).registeringForeign());
        refused(RefusalReason.DUPLICATE_NODE);
    }

    @Test
    void invalidBlocksAreRefused() {
        register();
        for (PagedBlock block : List.of(
                new PagedBlock(new Block(0, KEY, Bytes.EMPTY), 3, 1, 0),
                new PagedBlock(new Block(1, KEY, KEY), -1, 1, 0),
                new PagedBlock(new Block(-2, KEY, Bytes.EMPTY), -1, 1, 0),
                new PagedBlock(new Block(0, Bytes.ofHex("01"), Bytes.EMPTY), -1, 1, 0))) {
            w.input(bridge.engineStored(Tier.DEVICE, block));
            refused(RefusalReason.OVER_LIMIT);
        }
        w.input(bridge.engineStored(Tier.UNKNOWN, Agent.engineBlock(KEY, 0, 1)));
        refused(RefusalReason.OVER_LIMIT);
    }
}
