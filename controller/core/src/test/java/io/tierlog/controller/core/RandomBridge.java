/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.EngineViewChanged;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.state.NodeRow;
import java.util.List;
import java.util.Random;

/** What a bridge tells of an engine, drawn from a seed: it registers, blocks come and go, its view is lost or whole, it ends. */
final class RandomBridge {
    private static final int BLOCKS = 8;

    private final Random random;
    private final World w;
    private final Agent bridge = new Agent("ext-e-dp0", "b-1", 0);
    private int count;

    RandomBridge(Random random, World w) {
        this.random = random;
        this.w = w;
    }

    /** The next event; the one after a registration has the incarnation that was given. */
    Event next() {
        NodeRow row = w.tables.get(Rows.NODES, new RowKey.Aggregate(bridge.aggregate()));
        if (row == null || !row.alive()) {
            return bridge.registeringForeign();
        }
        bridge.incarnation = row.incarnation();
        Tier tier = List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE).get(random.nextInt(4));
        int index = random.nextInt(BLOCKS) - 1;
        PagedBlock block = Agent.engineBlock(Bytes.ofHex("%016x".formatted(index + 2)), index, ++count);
        return switch (random.nextInt(8)) {
            case 0 -> bridge.stopping();
            case 1 -> new EngineViewChanged(bridge.envelope(), count, random.nextBoolean() ? List.of() : List.of(Agent.NAMESPACE), "", -1, -1);
            case 2, 3 -> bridge.evicted(tier, RemovalReason.ENGINE_EVICTED, List.of(block));
            case 4 -> new NodeDrainRequested(new Envelope(bridge.aggregate(), "operator/o", 0, 0, 0, 0, null, null, null), "d" + count, true, null);
            default -> bridge.engineStored(tier, block);
        };
    }
}
