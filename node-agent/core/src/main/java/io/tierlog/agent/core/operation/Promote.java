/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Disk to host ahead of requests. Of each chain the blocks down to the first one that did not arrive serve at the end, leased, and first in eviction
 * order; the lease yields when a request finds too few pages. The other pages are freed. A block whose placement on the disk is not the one that the
 * controller has fails: there is no other source. For the core's one thread.
 */
public final class Promote extends Fetch {
    public Promote(AgentContext context, HostFill fill, Order order, List<BlockTransfer> items) {
        super(context, fill, order, items);
    }

    @Override
    public OperationKind kind() {
        return OperationKind.PROMOTE;
    }

    @Override
    TransferPort stream(BlockTransfer item) {
        return TransferPort.DISK;
    }

    @Override
    void send(long unit, List<BlockTransfer> batch) {
        fill.begin(batch);
        readDisk(unit, batch);
    }

    @Override
    void arrived(BlockTransfer item, UnitResult result) {
        if (!isKnown(item.requirePlacement(), result)) {
            failed(item, OperationReason.CHECKSUM); // not the placement that the log has
            return;
        }
        context.counters().increment(AgentCounter.PROMOTED_BLOCKS);
        item.arrived(result.crc32c(), Tier.DISK);
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        DiskPlacement copy = item.placement();
        if (copy != null && !isUseless()) {
            condemnIfWrong(copy, why);
        }
        item.failed(why);
    }

    @Override
    void end() {
        List<BlockTransfer> kept = new ArrayList<>(items.size());
        List<Integer> awaited = new ArrayList<>();
        Set<Bytes> missing = new LinkedHashSet<>();
        for (int i = 0; i < items.size(); i++) {
            BlockTransfer item = items.get(i);
            if (item.done() && !(item.ownsPage() && missing.contains(item.block.parent()))) {
                boolean waited = item.ownsPage() && fill.isAwaited(item);
                publish(item);
                kept.add(item);
                if (waited) {
                    awaited.add(i);
                }
            } else {
                missing.add(item.block.key());
                giveBack(item);
            }
        }
        // A cancel is answered without the lease, which ends with it: what had arrived before serves as cold as can be.
        if (!kept.isEmpty() && !cancelling()) {
            keepLeased(kept);
            context.pages().yieldPins(lease());
        }
        unpin();
        reportEnd(!kept.isEmpty(), awaited);
    }

    private void publish(BlockTransfer item) {
        if (item.ownsPage()) {
            fill.publish(item, operation, false);
            context.pages().cool(item.requirePage());
        }
    }

    private void giveBack(BlockTransfer item) {
        if (item.ownsPage()) {
            if (item.done()) {
                item.failed(OperationReason.PREFIX_GONE);
            }
            fill.discard(item);
        }
    }

    private void reportEnd(boolean done, List<Integer> awaited) {
        List<BlockResult> results = resultsOnHost();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        reportEnd(
                results,
                done,
                e -> new PromoteDone(e, operation, lease(), namespace, results, awaited, bytes, micros),
                e -> new PromoteFailed(e, operation, why, namespace, results));
    }
}
