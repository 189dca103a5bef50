/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.agent.core.port.PeerTransfers.Lender;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerSource;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.PeerReadGivenUp;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Disk, another node or store to host for a waiting request, each block from the nearest copy; what the disk or the other node fails to give is read
 * from the store. What arrived as a contiguous run from the first block on serves at the end, leased to the request if it still waits; the rest goes
 * back. What lands after a cancel goes back too.
 */
final class Prefetch extends Fetch {
    private final Requests requests;
    private final LiveAttempt attempt;
    private final PeerChoice peers;
    private final @Nullable Lender lender;
    /** Blocks that the other node was to lend; of these what came, and what it did not give. */
    private final int lent;
    private int came;
    private int notGiven;
    private boolean refused;
    private boolean givenUp;

    /** What a fetch works with beside its command. */
    record Rooms(HostFill fill, Requests requests, PeerChoice peers) {}

    Prefetch(Desk desk, Rooms rooms, LiveAttempt attempt, PrefetchBlocks command, List<Item> items) {
        super(desk, rooms.fill(), new Order(command.operation(), command.header().command(), command.namespace(), command.lease(),
                command.leaseMs()), items);
        this.requests = rooms.requests();
        this.peers = rooms.peers();
        PeerSource peer = command.peer();
        this.lent = (int) items.stream().filter(Item::isLent).count();
        this.lender = peer == null || lent == 0 ? null : new Lender(peer.node(), peer.address(), command.operation());
        this.attempt = attempt;
    }

    @Override
    OperationKind kind() {
        return OperationKind.PREFETCH;
    }

    @Override
    Stream stream(Item item) {
        if (item.copy() != null) {
            return Stream.DISK;
        }
        return item.isLent() ? Stream.PEER : Stream.STORE;
    }

    @Override
    void send(long unit, List<Item> batch) {
        fill.begin(batch);
        Lender from = lender;
        Stream stream = stream(batch.getFirst());
        if (stream == Stream.DISK) {
            readDisk(unit, batch);
        } else if (stream == Stream.PEER && from != null) {
            desk.ports.peers().orElseThrow().transfers().read(
                    unit, from, namespace, batch.stream().map(item -> new PeerPage(item.block.key(), item.requirePage().number())).toList());
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
        Tier tier = copy != null ? Tier.DISK : item.isLent() ? Tier.HOST : Tier.STORE;
        desk.counters.add(AgentCounter.FETCHED_FROM_DISK, tier == Tier.DISK ? 1 : 0);
        desk.counters.add(AgentCounter.FETCHED_FROM_PEERS, tier == Tier.HOST ? 1 : 0);
        item.arrived(result.crc32c(), tier);
        came += tier == Tier.HOST ? 1 : 0;
        letLenderGo(lent - came - notGiven == 0 && notGiven > 0);
    }

    @Override
    void failed(Item item, OperationReason why) {
        DiskCopy copy = item.copy();
        if (copy != null && !isUseless()) {
            fallBack(item, copy, why);
            return;
        }
        Lender from = lender;
        if (item.isLent() && from != null && !isUseless()) {
            desk.counters.increment(AgentCounter.PEER_READS_FALLEN_BACK);
            refusedBy(from, why);
            item.notLent();
            again(item);
            notGiven++;
            letLenderGo(lent - came - notGiven == 0);
            return;
        }
        if (why == OperationReason.CHECKSUM) {
            desk.counters.increment(AgentCounter.CHECKSUM_FAILURES);
        }
        item.failed(why);
    }

    /** Once for a fetch, and not for what has failed on this side. */
    private void refusedBy(Lender from, OperationReason why) {
        if (!refused && why != OperationReason.QUEUE_FULL && why != OperationReason.CANCELLED) {
            refused = true;
            peers.refused(from.node());
        }
    }

    /** Nothing more is read from the other node, and not all that it lends was: it need not wait for the end of its grant. */
    private void letLenderGo(boolean over) {
        Lender from = lender;
        if (over && from != null && !givenUp && came < lent) {
            givenUp = true;
            desk.tell("node/" + from.node(), cause, e -> new PeerReadGivenUp(e, operation, desk.registration.node()));
        }
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
        letLenderGo(true);
        tellEnd(run, leased);
        Lender from = lender;
        if (from != null) {
            peers.readEnded(from.node());
        }
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
