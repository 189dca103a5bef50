/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.disk.DiskCopy;
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
 * Disk to host ahead of requests. Of each chain what arrived down to its first hole serves at the end, leased to nobody but the lease, which yields
 * when a request has no room otherwise, and as cold as can be; the rest goes back. What is not on the disk as the controller knows it fails: there is
 * no other source. For the core's one thread.
 */
final class Promote extends Fetch {
    Promote(Desk desk, HostFill fill, Order order, List<Item> items) {
        super(desk, fill, order, items);
    }

    @Override
    OperationKind kind() {
        return OperationKind.PROMOTE;
    }

    @Override
    Stream stream(Item item) {
        return Stream.DISK;
    }

    @Override
    void send(long unit, List<Item> batch) {
        fill.begin(batch);
        readDisk(unit, batch);
    }

    @Override
    void arrived(Item item, UnitResult result) {
        if (!isKnown(item.requireCopy(), result)) {
            failed(item, OperationReason.CHECKSUM); // not the copy that the log knows
            return;
        }
        desk.counters.increment(AgentCounter.PROMOTED_BLOCKS);
        item.arrived(result.crc32c(), Tier.DISK);
    }

    @Override
    void failed(Item item, OperationReason why) {
        DiskCopy copy = item.copy();
        if (copy != null && !isUseless()) {
            condemnIfWrong(copy, why);
        }
        item.failed(why);
    }

    @Override
    void end() {
        List<Item> kept = new ArrayList<>(items.size());
        List<Integer> awaited = new ArrayList<>();
        Set<Bytes> missing = new LinkedHashSet<>();
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
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
            desk.pages.yieldPins(lease());
        }
        letGo();
        tellEnd(!kept.isEmpty(), awaited);
    }

    private void publish(Item item) {
        if (item.ownsPage()) {
            fill.publish(item, operation, false);
            desk.pages.cool(item.requirePage());
        }
    }

    private void giveBack(Item item) {
        if (item.ownsPage()) {
            if (item.done()) {
                item.failed(OperationReason.PREFIX_GONE);
            }
            fill.discard(item);
        }
    }

    private void tellEnd(boolean done, List<Integer> awaited) {
        List<BlockResult> results = resultsOnHost();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        tellEnd(
                results,
                done,
                e -> new PromoteDone(e, operation, lease(), namespace, results, awaited, bytes, micros),
                e -> new PromoteFailed(e, operation, why, namespace, results));
    }
}
