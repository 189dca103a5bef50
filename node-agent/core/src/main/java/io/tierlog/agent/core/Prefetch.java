/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import java.util.List;

/**
 * Disk or store to host for a waiting request, each block from the nearest copy; what the disk fails to give is read from the store. What
 * arrived as a contiguous run from the first block on serves at the end, leased to the request if it still waits; the rest goes back. What
 * lands after a cancel goes back too.
 */
final class Prefetch extends Fetch {
    private final Requests requests;
    private final LiveAttempt attempt;

    Prefetch(Desk desk, HostFill fill, Requests requests, LiveAttempt attempt, PrefetchBlocks command, List<Item> items) {
        super(desk, fill, new Order(command.operation(), command.header().command(), command.namespace(), command.lease(), command.leaseMs()), items);
        this.requests = requests;
        this.attempt = attempt;
    }

    @Override
    OperationKind kind() {
        return OperationKind.PREFETCH;
    }

    @Override
    Stream stream(Item item) {
        return item.copy() == null ? Stream.STORE : Stream.DISK;
    }

    @Override
    void send(long unit, List<Item> batch) {
        fill.begin(batch);
        if (stream(batch.getFirst()) == Stream.DISK) {
            readDisk(unit, batch);
        } else {
            desk.ports.store().read(
                    unit, namespace, batch.stream().map(item -> new PageObject(item.block.key(), item.requirePage().number(), 0)).toList());
        }
    }

    @Override
    void arrived(Item item, UnitResult result) {
        DiskCopy copy = item.copy();
        if (copy != null && !isKnown(copy, result)) {
            failed(item, OperationReason.CHECKSUM); // not the copy that the log knows
            return;
        }
        desk.counters.increment(AgentCounter.FETCHED_BLOCKS);
        desk.counters.add(AgentCounter.FETCHED_FROM_DISK, copy == null ? 0 : 1);
        item.arrived(result.crc32c(), copy == null ? Tier.STORE : Tier.DISK);
    }

    @Override
    void failed(Item item, OperationReason why) {
        DiskCopy copy = item.copy();
        if (copy != null && !isUseless()) {
            fallBack(item, copy, why);
            return;
        }
        if (why == OperationReason.CHECKSUM) {
            desk.counters.increment(AgentCounter.CHECKSUM_FAILURES);
        }
        item.failed(why);
    }

    /** The disk does not give the block: it is read from the store. A copy that is not what it should be leaves the disk. */
    private void fallBack(Item item, DiskCopy copy, OperationReason why) {
        condemnIfWrong(copy, why);
        desk.counters.increment(AgentCounter.DISK_READS_FALLEN_BACK);
        item.on((DiskCopy) null);
        again(item);
    }

    @Override
    void end() {
        int run = doneRun();
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            if (item.ownsPage() && i < run) {
                fill.publish(item, operation, item.from() == Tier.STORE);
                attempt.fetched(item.block.index(), item.from());
            } else if (item.ownsPage()) {
                if (item.done()) {
                    item.failed(OperationReason.PREFIX_GONE);
                }
                fill.discard(item);
            }
        }
        boolean leased = run > 0 && attempt.awaits(this);
        if (leased) {
            keepLeased(items.subList(0, run));
            attempt.leased(lease());
        }
        letGo();
        tellEnd(run, leased);
        requests.fetchEnded(attempt, this, run == items.size());
    }

    private void tellEnd(int run, boolean leased) {
        List<BlockResult> results = resultsOnHost();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        tellEnd(
                results,
                run > 0,
                e -> new PrefetchDone(e, operation, leased ? lease() : null, namespace, results, bytes, micros),
                e -> new PrefetchFailed(e, operation, why, namespace, results));
    }
}
