/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.peer.PeerChoice;
import io.tierlog.agent.core.port.PeerTransfers.PeerHolder;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerSource;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Disk, another node or store to host for a waiting request, each block from the nearest source. Blocks that the disk or the other node fails to
 * give are read from the store. At the end the contiguous run from the first block on serves, leased to the request if it still waits; the other
 * pages are freed, and so are pages that arrive after a cancel.
 */
public final class Prefetch extends Fetch {
    private final Requester requester;
    private final PeerChoice peers;
    private final @Nullable PeerHolder holder;
    /** Blocks to read from the other node; of these the ones that came, and the ones that failed. */
    private final int peerBlocks;
    private int received;
    private int notReceived;
    private boolean refused;
    private boolean closed;

    /** The attempt that a prefetch is for. */
    public interface Requester {
        /** The block of that index serves on the host now; it came from {@code tier}. */
        void fetched(int index, Tier tier);

        /** True when the engine waits for this prefetch. */
        boolean awaits(TransferSession prefetch);

        /** What arrived is pinned for the attempt under this name. */
        void leased(String lease);

        /** The prefetch has ended; {@code whole} when each of its blocks serves. */
        void ended(TransferSession prefetch, boolean whole);
    }

    public Prefetch(
            AgentContext context, HostFill fill, PeerChoice peers, Requester requester, PrefetchBlocks command, List<BlockTransfer> items) {
        super(context, fill, new Order(command.operation(), command.header().command(), command.namespace(), command.lease(),
                command.leaseMs()), items);
        this.peers = peers;
        PeerSource peer = command.peer();
        this.peerBlocks = (int) items.stream().filter(BlockTransfer::isFromPeer).count();
        this.holder = peer == null || peerBlocks == 0 ? null : new PeerHolder(peer.node(), peer.address(), command.operation());
        this.requester = requester;
    }

    @Override
    public OperationKind kind() {
        return OperationKind.PREFETCH;
    }

    @Override
    TransferPort stream(BlockTransfer item) {
        if (item.placement() != null) {
            return TransferPort.DISK;
        }
        return item.isFromPeer() ? TransferPort.PEER : TransferPort.STORE;
    }

    @Override
    void send(long unit, List<BlockTransfer> batch) {
        fill.begin(batch);
        PeerHolder from = holder;
        TransferPort stream = stream(batch.getFirst());
        if (stream == TransferPort.DISK) {
            readDisk(unit, batch);
        } else if (stream == TransferPort.PEER && from != null) {
            context.ports().peers().orElseThrow().transfers().read(
                    unit, from, namespace, batch.stream().map(item -> new PeerPage(item.block.key(), item.requirePage().number())).toList());
        } else {
            context.ports().store().read(
                    unit, namespace, batch.stream().map(item -> new PageObject(item.block.key(), item.requirePage().number(), 0)).toList());
        }
    }

    @Override
    void arrived(BlockTransfer item, UnitResult result) {
        DiskPlacement copy = item.placement();
        if (copy != null && !isKnown(copy, result)) {
            failed(item, OperationReason.CHECKSUM); // not the placement that the log has
            return;
        }
        context.counters().increment(AgentCounter.FETCHED_BLOCKS);
        Tier tier = copy != null ? Tier.DISK : item.isFromPeer() ? Tier.HOST : Tier.STORE;
        context.counters().add(AgentCounter.FETCHED_FROM_DISK, tier == Tier.DISK ? 1 : 0);
        context.counters().add(AgentCounter.FETCHED_FROM_PEERS, tier == Tier.HOST ? 1 : 0);
        item.arrived(result.crc32c(), tier);
        received += tier == Tier.HOST ? 1 : 0;
        closePeerRead(peerBlocks - received - notReceived == 0 && notReceived > 0);
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        DiskPlacement copy = item.placement();
        if (copy != null && !isUseless()) {
            fallBack(item, copy, why);
            return;
        }
        PeerHolder from = holder;
        if (item.isFromPeer() && from != null && !isUseless()) {
            context.counters().increment(AgentCounter.PEER_READS_FALLEN_BACK);
            refusedBy(from, why);
            item.notFromPeer();
            again(item);
            notReceived++;
            closePeerRead(peerBlocks - received - notReceived == 0);
            return;
        }
        if (why == OperationReason.CHECKSUM) {
            context.counters().increment(AgentCounter.CHECKSUM_FAILURES);
        }
        item.failed(why);
    }

    /** Once for a fetch, and not for what has failed on this side. */
    private void refusedBy(PeerHolder from, OperationReason why) {
        if (!refused && why != OperationReason.QUEUE_FULL && why != OperationReason.CANCELLED) {
            refused = true;
            peers.refused(from.node());
        }
    }

    /** Closes the peer read lease early when this fetch reads no more from the other node and has not read all of it. */
    private void closePeerRead(boolean over) {
        PeerHolder from = holder;
        if (over && from != null && !closed && received < peerBlocks) {
            closed = true;
            context.append("node/" + from.node(), cause, e -> new PeerReadCancelled(e, operation, context.registration().node()));
        }
    }

    /** The disk does not give the block: it is read from the store. A copy that is not what it should be leaves the disk. */
    private void fallBack(BlockTransfer item, DiskPlacement copy, OperationReason why) {
        condemnIfWrong(copy, why);
        context.counters().increment(AgentCounter.DISK_READS_FALLEN_BACK);
        item.on((DiskPlacement) null);
        again(item);
    }

    @Override
    void end() {
        int run = doneRun();
        for (int i = 0; i < items.size(); i++) {
            BlockTransfer item = items.get(i);
            if (item.ownsPage() && i < run) {
                fill.publish(item, operation, item.from() == Tier.STORE);
                requester.fetched(item.block.index(), item.from());
            } else if (item.ownsPage()) {
                if (item.done()) {
                    item.failed(OperationReason.PREFIX_GONE);
                }
                fill.discard(item);
            }
        }
        boolean leased = run > 0 && requester.awaits(this);
        if (leased) {
            keepLeased(items.subList(0, run));
            requester.leased(lease());
        }
        unpin();
        closePeerRead(true);
        reportEnd(run, leased);
        PeerHolder from = holder;
        if (from != null) {
            peers.readEnded(from.node());
        }
        requester.ended(this, run == items.size());
    }

    private void reportEnd(int run, boolean leased) {
        List<BlockResult> results = resultsOnHost();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        reportEnd(
                results,
                run > 0,
                e -> new PrefetchDone(e, operation, leased ? lease() : null, namespace, results, bytes, micros),
                e -> new PrefetchFailed(e, operation, why, namespace, results));
    }
}
