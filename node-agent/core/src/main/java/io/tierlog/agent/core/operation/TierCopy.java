/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.agent.core.page.PageState;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.StoreFull;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A copy to a colder tier: from the device or the host to the disk or the store, or from the disk to the store. It pins the source under its name
 * until it ends. Blocks that are on the target by then serve there, cancelled or not; the others have no placement there.
 *
 * <p>Blocks on the host move straight to the target. Blocks on the device or the disk move in two legs, through a bounce page:
 *
 * <pre>
 *   PENDING --page taken--> IN_FLIGHT (first leg) --> PENDING, carried --> IN_FLIGHT (second leg) --> SETTLED, page given back
 * </pre>
 *
 * <p>A block continues with one such page, so sessions that wait for pages wait for blocks that have all they need.
 */
public final class TierCopy extends TransferSession {
    private final Tier source;
    private final Tier target;
    private final Bytes root;
    private final PageOwner owner;
    private boolean engineGone;
    private boolean mismatched;

    /** {@code owner} is the attempt that sealed the blocks, when they are on the device. */
    public TierCopy(AgentContext context, CopyBlocks command, PageOwner owner, List<BlockTransfer> items) {
        super(context, command.operation(), command.header().command(), command.namespace(), items, State.RUNNING);
        this.source = command.source();
        this.target = command.target();
        CopyOrigin origin = command.origin();
        this.root = origin == null ? Bytes.EMPTY : origin.root();
        this.owner = owner;
    }

    @Override
    public OperationKind kind() {
        return OperationKind.COPY;
    }

    public PageOwner owner() {
        return owner;
    }

    public boolean fromDevice() {
        return source == Tier.DEVICE;
    }

    // --- legs and the pages between them

    /** Whether the block is in a host page, its own or a bounce page, so that only the copy to the target is left. */
    private boolean isCarried(BlockTransfer item) {
        return source == Tier.HOST || item.isCarried();
    }

    private int hostPage(BlockTransfer item) {
        return source == Tier.HOST ? item.requirePage().number() : item.through();
    }

    private int crc32c(BlockTransfer item) {
        return source == Tier.HOST ? item.requirePage().crc32c() : item.carriedCrc32c();
    }

    /** True when what it would send next is a save from the device. */
    boolean savesNext() {
        return fromDevice() && !isCarried(nextPending());
    }

    @Override
    boolean ready() {
        return isCarried(nextPending()) || context.bounce().free() > 0;
    }

    @Override
    boolean takeFor(BlockTransfer item) {
        if (isCarried(item)) {
            return true;
        }
        OptionalInt page = context.bounce().take(operation);
        page.ifPresent(item::goesThrough);
        return page.isPresent();
    }

    /** Half of the pages in one unit, so that some are written on while others are read into. */
    @Override
    int unitBlocks(int most) {
        return isCarried(nextPending()) ? most : Math.clamp(context.bounce().capacity() / 2, 1, most);
    }

    private void giveBack(BlockTransfer item) {
        if (item.isThrough()) {
            context.bounce().give(operation, item.leavesThrough());
        }
    }

    @Override
    public void failPending(OperationReason why) {
        super.failPending(why);
        items.stream().filter(item -> item.state() == BlockTransfer.State.SETTLED).forEach(this::giveBack);
    }

    /** The device pages are gone. Blocks in bounce pages are whole and continue. */
    void engineGone() {
        engineGone = true;
        for (BlockTransfer item : items) {
            if (item.state() == BlockTransfer.State.PENDING && !isCarried(item)) {
                item.failed(OperationReason.ENGINE_GONE);
            }
        }
    }

    // --- units

    @Override
    TransferPort stream(BlockTransfer item) {
        if (isCarried(item)) {
            return target == Tier.DISK ? TransferPort.DISK : TransferPort.STORE;
        }
        return fromDevice() ? TransferPort.DEVICE : TransferPort.DISK;
    }

    @Override
    void send(long unit, List<BlockTransfer> batch) {
        if (!isCarried(batch.getFirst()) && fromDevice()) {
            context.ports().device().save(unit, batch.stream().map(item -> new PageCopy(item.devicePage, item.through(), 0)).toList());
        } else if (!isCarried(batch.getFirst())) {
            context.ports().disk().read(unit, namespace, batch.stream()
                    .map(item -> new PageRead(item.block.key(), item.requirePlacement().generation(), item.through()))
                    .toList());
        } else if (target == Tier.DISK) {
            batch.forEach(item -> context.disk().index().write(item.requirePlacement()));
            context.ports().disk().write(unit, namespace, batch.stream().map(this::write).toList());
        } else {
            context.ports().store().write(unit, namespace, batch.stream()
                    .map(item -> new PageObject(item.block.key(), hostPage(item), crc32c(item)))
                    .toList());
        }
    }

    private PageWrite write(BlockTransfer item) {
        return new PageWrite(item.block.key(), item.block.index(), item.block.parent(), root, hostPage(item), crc32c(item));
    }

    @Override
    void arrived(BlockTransfer item, UnitResult result) {
        if (isCarried(item)) {
            written(item, result);
        } else {
            carried(item, result);
        }
    }

    /** The first leg is done: the bytes stand in the agent's own page. */
    private void carried(BlockTransfer item, UnitResult result) {
        DiskPlacement copy = item.placement();
        if (result.status() != BlockStatus.ARRIVED) {
            mismatch();
            failed(item, OperationReason.COPY_RESULT_MISMATCH);
        } else if (source == Tier.DISK && copy != null && result.generation() != copy.generation()) {
            failed(item, OperationReason.STALE_GENERATION);
        } else if (source == Tier.DISK && copy != null && result.crc32c() != copy.crc32c()) {
            failed(item, OperationReason.CHECKSUM); // not the placement that the log has
        } else if (cancelling() || engineGone) {
            item.failed(engineGone ? OperationReason.ENGINE_GONE : OperationReason.CANCELLED);
            giveBack(item);
        } else {
            context.counters().increment(AgentCounter.BOUNCED_BLOCKS);
            item.carried(result.crc32c());
            again(item);
        }
    }

    /** The bytes are on the target, or the target has had the block before. */
    private void written(BlockTransfer item, UnitResult result) {
        boolean written = result.status() == BlockStatus.ARRIVED;
        boolean answers = written ? result.crc32c() == crc32c(item) : result.status() == BlockStatus.ALREADY_THERE;
        if (!answers || (target == Tier.DISK && result.generation() < 1)) {
            mismatch(); // it speaks of another block
            failed(item, OperationReason.COPY_RESULT_MISMATCH);
            return;
        }
        item.written(result.generation());
        if (written) {
            context.counters().increment(target == Tier.DISK ? AgentCounter.COPIED_BLOCKS : AgentCounter.COPIED_TO_STORE);
            item.arrived(result.crc32c(), source);
        } else {
            item.alreadyThere(target == Tier.DISK ? result.crc32c() : crc32c(item));
        }
        giveBack(item);
    }

    /** The port answered for other blocks than requested: no result of this operation counts, and the sources stay. */
    void mismatch() {
        if (!mismatched) {
            mismatched = true;
            context.counters().increment(AgentCounter.COPY_RESULT_MISMATCHES);
            useless(OperationReason.COPY_RESULT_MISMATCH);
            failPending(OperationReason.COPY_RESULT_MISMATCH);
        }
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        OperationReason reason = why;
        if (!isCarried(item) && source == Tier.DISK && !isUseless()) {
            reason = notRead(item.requirePlacement(), why);
        } else if (why == OperationReason.CHECKSUM && source == Tier.HOST) {
            context.condemn(item.requirePage());
        } else if (why == OperationReason.CHECKSUM) {
            context.counters().increment(AgentCounter.CHECKSUM_FAILURES); // of a page of the agent's own: the source is as good as before
        }
        item.failed(reason);
        giveBack(item);
    }

    /** Why the disk has not given the block. A copy that is not what it should be leaves the disk; of another one the source is lost. */
    private OperationReason notRead(DiskPlacement copy, OperationReason why) {
        return switch (why) {
            case CHECKSUM, UNSUPPORTED -> {
                context.disk().condemn(copy);
                yield why;
            }
            case NOT_FOUND, STALE_GENERATION -> {
                context.disk().condemn(copy);
                yield OperationReason.SOURCE_LOST;
            }
            default -> why; // the disk may do better another time
        };
    }

    @Override
    void unknown(BlockTransfer item, Quarantine.Case held) {
        boolean saving = fromDevice() && !isCarried(item);
        item.failed(mismatched ? OperationReason.COPY_RESULT_MISMATCH : held.reason());
        if (source == Tier.HOST) {
            held.keepSource(item.requirePage());
        }
        if (source == Tier.DISK && !isCarried(item)) {
            held.keepSource(item.requirePlacement());
        }
        if (saving) {
            held.keepDevice(item.devicePage, owner);
        }
        if (item.isThrough()) {
            held.keepBounce(operation, item.leavesThrough());
        }
        // A unit that its port has ended, for other blocks, is idle: what it has written is dropped at the end.
        if (isCarried(item) && target == Tier.DISK && held.reason() != OperationReason.COPY_RESULT_MISMATCH) {
            item.placementHandedOver();
            held.keepCopy(item.requirePlacement());
        }
    }

    // --- the end

    @Override
    void end() {
        for (BlockTransfer item : items) {
            if (item.done() && mismatched) {
                item.failed(OperationReason.COPY_RESULT_MISMATCH);
            } else if (item.done() && hasMoved(item) && !sourceServes(item)) {
                context.counters().increment(AgentCounter.COPY_SOURCES_LOST);
                item.failed(OperationReason.SOURCE_LOST);
            }
        }
        items.stream().filter(item -> target == Tier.DISK).forEach(this::endOnDisk);
        items.stream().filter(item -> target == Tier.STORE && source == Tier.HOST && item.done())
                .forEach(item -> context.pages().markHeldInStore(item.requirePage(), true));
        context.pages().unpinAll(operation);
        context.disk().index().unpinAll(operation);
        if (fromDevice()) {
            noticeFailed(owner, firstFailure());
            context.noticeReleased(context.device().unpinAll(operation));
        }
        reportEnd();
        reportStored();
    }

    /** Whether this operation had to do with its bytes; what the disk served from the start it has not touched. */
    private boolean hasMoved(BlockTransfer item) {
        return target == Tier.STORE || item.ownsPlacement();
    }

    /** Whether the source still holds the block that was copied. A block that has left the device needs it no more. */
    private boolean sourceServes(BlockTransfer item) {
        return switch (source) {
            case HOST -> item.requirePage().state() == PageState.SERVING && item.requirePage().generation() == item.pageGeneration();
            case DISK -> item.requirePlacement().state() == DiskState.SERVING;
            case DEVICE, STORE, UNKNOWN -> true;
        };
    }

    private void endOnDisk(BlockTransfer item) {
        if (item.ownsPlacement() && item.done()) {
            context.disk().publish(item.requirePlacement(), item.writtenGeneration(), item.crc32c());
        } else if (item.ownsPlacement() && mayBeDown(item)) {
            context.disk().index().quarantine(item.requirePlacement());
            context.disk().markIdle(item.requirePlacement());
        } else if (item.ownsPlacement()) {
            context.disk().index().remove(item.requirePlacement());
        } else if (item.done() && item.requirePlacement().state() != DiskState.SERVING) {
            item.failed(OperationReason.NOT_SERVING); // it was there when this began, and has left since
        }
    }

    /** Whether bytes of a placement that does not count may be on the disk. Where the disk reports a failure, it holds none. */
    private boolean mayBeDown(BlockTransfer item) {
        boolean disowned = mismatched || item.reason() == OperationReason.SOURCE_LOST;
        return disowned && item.requirePlacement().state() == DiskState.WRITING;
    }

    private void reportEnd() {
        List<BlockResult> results = items.stream().map(item -> target == Tier.DISK ? item.onDisk() : item.inStore()).toList();
        long bytes = mismatched ? 0 : movedBytes();
        long micros = durationMicros();
        OperationReason why = mismatched ? OperationReason.COPY_RESULT_MISMATCH : firstFailure();
        reportEnd(
                results,
                anyDone(),
                e -> new CopyDone(e, operation, source, target, namespace, results, bytes, micros),
                e -> new CopyFailed(e, operation, source, target, why, namespace, results));
    }

    /**
     * Reports to the store's shard of the prompt what the store holds now, by this copy or before, and that it has no space for the rest; without a
     * root, to that of each block's key.
     */
    private void reportStored() {
        Map<Integer, List<PagedBlock>> stored = new LinkedHashMap<>();
        Map<Integer, Integer> refused = new LinkedHashMap<>();
        for (BlockTransfer item : items) {
            boolean full = item.reason() == OperationReason.NO_ROOM;
            if (target == Tier.STORE && (item.done() || full)) {
                int shard = StoreShard.of(namespace, root.isEmpty() ? item.block.key() : root, context.limits().storeShards());
                if (full) {
                    refused.merge(shard, 1, Integer::sum);
                } else {
                    stored.computeIfAbsent(shard, any -> new ArrayList<>())
                            .add(new PagedBlock(item.block, -1, item.writtenGeneration(), item.crc32c()));
                }
            }
        }
        stored.forEach((shard, blocks) ->
                context.append("store/" + shard, cause, e -> new BlocksStored(e, context.registration().node(), namespace, blocks)));
        refused.forEach((shard, blocks) ->
                context.append("store/" + shard, cause, e -> new StoreFull(e, context.registration().node(), blocks)));
    }
}
