/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.disk.DiskCopy;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * To a colder tier: from the device or the host to the disk or the store, or from the disk to the store. The source is pinned under its name
 * until it ends, and by it no longer; what is down by then serves on the target, cancelled or not, and what is not has no copy.
 *
 * <p>What comes from the host goes straight to the target. What comes from the device or the disk moves twice, through a page of the agent's own:
 *
 * <pre>
 *   PENDING --page taken--> IN_FLIGHT (first leg) --> PENDING, carried --> IN_FLIGHT (second leg) --> SETTLED, page given back
 * </pre>
 *
 * <p>A block goes on with one such page, so sessions that wait for pages wait for blocks that have all they need.
 */
final class Copy extends Session {
    private final Tier source;
    private final Tier target;
    private final Bytes root;
    private final PageOwner owner;
    private boolean engineGone;
    private boolean mismatched;

    /** {@code owner} is who sealed the blocks, when they are on the device. */
    Copy(Desk desk, CopyBlocks command, PageOwner owner, List<Item> items) {
        super(desk, command.operation(), command.header().command(), command.namespace(), items, State.RUNNING);
        this.source = command.source();
        this.target = command.target();
        CopyOrigin origin = command.origin();
        this.root = origin == null ? Bytes.EMPTY : origin.root();
        this.owner = owner;
    }

    @Override
    OperationKind kind() {
        return OperationKind.COPY;
    }

    PageOwner owner() {
        return owner;
    }

    boolean fromDevice() {
        return source == Tier.DEVICE;
    }

    // --- legs and the pages between them

    /** Whether the block stands in a host page, its own or the agent's, so that only the way to the target is left. */
    private boolean isCarried(Item item) {
        return source == Tier.HOST || item.isCarried();
    }

    private int hostPage(Item item) {
        return source == Tier.HOST ? item.requirePage().number() : item.through();
    }

    private int crc32c(Item item) {
        return source == Tier.HOST ? item.requirePage().crc32c() : item.carriedCrc32c();
    }

    /** True when what it would send next is a save from the device. */
    boolean savesNext() {
        return fromDevice() && !isCarried(nextPending());
    }

    @Override
    boolean ready() {
        return isCarried(nextPending()) || desk.bounce.free() > 0;
    }

    @Override
    boolean takeFor(Item item) {
        if (isCarried(item)) {
            return true;
        }
        OptionalInt page = desk.bounce.take(operation);
        page.ifPresent(item::goesThrough);
        return page.isPresent();
    }

    /** Half of the pages in one unit, so that some are written on while others are read into. */
    @Override
    int unitBlocks(int most) {
        return isCarried(nextPending()) ? most : Math.clamp(desk.bounce.capacity() / 2, 1, most);
    }

    private void giveBack(Item item) {
        if (item.isThrough()) {
            desk.bounce.give(operation, item.leavesThrough());
        }
    }

    @Override
    void failPending(OperationReason why) {
        super.failPending(why);
        items.stream().filter(item -> item.state() == Item.State.SETTLED).forEach(this::giveBack);
    }

    /** The device pages are gone. What stands in the agent's own pages is whole and goes on. */
    void engineGone() {
        engineGone = true;
        for (Item item : items) {
            if (item.state() == Item.State.PENDING && !isCarried(item)) {
                item.failed(OperationReason.ENGINE_GONE);
            }
        }
    }

    // --- units

    @Override
    Stream stream(Item item) {
        if (isCarried(item)) {
            return target == Tier.DISK ? Stream.DISK : Stream.STORE;
        }
        return fromDevice() ? Stream.DEVICE : Stream.DISK;
    }

    @Override
    void send(long unit, List<Item> batch) {
        if (!isCarried(batch.getFirst()) && fromDevice()) {
            desk.ports.device().save(unit, batch.stream().map(item -> new PageCopy(item.devicePage, item.through(), 0)).toList());
        } else if (!isCarried(batch.getFirst())) {
            desk.ports.disk().read(unit, namespace, batch.stream()
                    .map(item -> new PageRead(item.block.key(), item.requireCopy().generation(), item.through()))
                    .toList());
        } else if (target == Tier.DISK) {
            batch.forEach(item -> desk.disk.index.write(item.requireCopy()));
            desk.ports.disk().write(unit, namespace, batch.stream().map(this::write).toList());
        } else {
            desk.ports.store().write(unit, namespace, batch.stream()
                    .map(item -> new PageObject(item.block.key(), hostPage(item), crc32c(item)))
                    .toList());
        }
    }

    private PageWrite write(Item item) {
        return new PageWrite(item.block.key(), item.block.index(), item.block.parent(), root, hostPage(item), crc32c(item));
    }

    @Override
    void arrived(Item item, UnitResult result) {
        if (isCarried(item)) {
            written(item, result);
        } else {
            carried(item, result);
        }
    }

    /** The first leg is done: the bytes stand in the agent's own page. */
    private void carried(Item item, UnitResult result) {
        DiskCopy copy = item.copy();
        if (result.status() != BlockStatus.ARRIVED) {
            mismatch();
            failed(item, OperationReason.COPY_RESULT_MISMATCH);
        } else if (source == Tier.DISK && copy != null && result.generation() != copy.generation()) {
            failed(item, OperationReason.STALE_GENERATION);
        } else if (source == Tier.DISK && copy != null && result.crc32c() != copy.crc32c()) {
            failed(item, OperationReason.CHECKSUM); // not the copy that the log knows
        } else if (cancelling() || engineGone) {
            item.failed(engineGone ? OperationReason.ENGINE_GONE : OperationReason.CANCELLED);
            giveBack(item);
        } else {
            desk.counters.increment(AgentCounter.BOUNCED_BLOCKS);
            item.carried(result.crc32c());
            again(item);
        }
    }

    /** The bytes are on the target, or the target has had the block before. */
    private void written(Item item, UnitResult result) {
        boolean written = result.status() == BlockStatus.ARRIVED;
        boolean answers = written ? result.crc32c() == crc32c(item) : result.status() == BlockStatus.ALREADY_THERE;
        if (!answers || (target == Tier.DISK && result.generation() < 1)) {
            mismatch(); // it speaks of another block
            failed(item, OperationReason.COPY_RESULT_MISMATCH);
            return;
        }
        item.copied(result.generation());
        if (written) {
            desk.counters.increment(target == Tier.DISK ? AgentCounter.COPIED_BLOCKS : AgentCounter.COPIED_TO_STORE);
            item.arrived(result.crc32c(), source);
        } else {
            item.alreadyThere(target == Tier.DISK ? result.crc32c() : crc32c(item));
        }
        giveBack(item);
    }

    /** The port answers for other blocks than it was asked for: nothing of what this operation wrote is believed, and the sources serve on. */
    void mismatch() {
        if (!mismatched) {
            mismatched = true;
            desk.counters.increment(AgentCounter.COPY_RESULT_MISMATCHES);
            useless(OperationReason.COPY_RESULT_MISMATCH);
            failPending(OperationReason.COPY_RESULT_MISMATCH);
        }
    }

    @Override
    void failed(Item item, OperationReason why) {
        OperationReason said = why;
        if (!isCarried(item) && source == Tier.DISK && !isUseless()) {
            said = notRead(item.requireCopy(), why);
        } else if (why == OperationReason.CHECKSUM && source == Tier.HOST) {
            desk.condemn(item.requirePage());
        } else if (why == OperationReason.CHECKSUM) {
            desk.counters.increment(AgentCounter.CHECKSUM_FAILURES); // of a page of the agent's own: the source is as good as before
        }
        item.failed(said);
        giveBack(item);
    }

    /** Why the disk has not given the block. A copy that is not what it should be leaves the disk; of another one the source is lost. */
    private OperationReason notRead(DiskCopy copy, OperationReason why) {
        return switch (why) {
            case CHECKSUM, UNSUPPORTED -> {
                desk.disk.condemn(copy);
                yield why;
            }
            case NOT_FOUND, STALE_GENERATION -> {
                desk.disk.condemn(copy);
                yield OperationReason.SOURCE_LOST;
            }
            default -> why; // the disk may do better another time
        };
    }

    @Override
    void unknown(Item item, Quarantine.Case held) {
        boolean saving = fromDevice() && !isCarried(item);
        item.failed(mismatched ? OperationReason.COPY_RESULT_MISMATCH : saving ? OperationReason.DEVICE_FAULT : OperationReason.IO);
        if (source == Tier.HOST) {
            held.keepSource(item.requirePage());
        }
        if (saving) {
            held.keepDevice(item.devicePage, owner);
        }
        if (item.isThrough()) {
            held.keepBounce(operation, item.leavesThrough());
        }
        if (isCarried(item) && target == Tier.DISK && !mismatched) {
            item.copyHandedOver();
            held.keepCopy(item.requireCopy());
        }
    }

    // --- the end

    @Override
    void end() {
        for (Item item : items) {
            if (item.done() && mismatched) {
                item.failed(OperationReason.COPY_RESULT_MISMATCH);
            } else if (item.done() && hasMoved(item) && !sourceServes(item)) {
                desk.counters.increment(AgentCounter.COPY_SOURCES_LOST);
                item.failed(OperationReason.SOURCE_LOST);
            }
        }
        items.stream().filter(item -> target == Tier.DISK).forEach(this::endOnDisk);
        items.stream().filter(item -> target == Tier.STORE && source == Tier.HOST && item.done())
                .forEach(item -> desk.pages.markHeldInStore(item.requirePage()));
        desk.pages.unpinAll(operation);
        desk.disk.index.unpinAll(operation);
        if (fromDevice()) {
            WriteBacks.tellFailed(desk, owner, items, firstFailure());
            desk.released(desk.device.unpinAll(operation));
        }
        tellEnd();
        tellStore();
    }

    /** Whether this operation had to do with its bytes; what the disk served from the start it has not touched. */
    private boolean hasMoved(Item item) {
        return target == Tier.STORE || item.ownsCopy();
    }

    /** Whether the block that was copied still is what it was. What has left the device needs it no longer. */
    private boolean sourceServes(Item item) {
        return switch (source) {
            case HOST -> item.requirePage().state() == PageState.SERVING && item.requirePage().generation() == item.pageGeneration();
            case DISK -> item.requireCopy().state() == DiskState.SERVING;
            case DEVICE, STORE, UNKNOWN -> true;
        };
    }

    private void endOnDisk(Item item) {
        if (item.ownsCopy() && item.done()) {
            desk.disk.publish(item.requireCopy(), item.copiedGeneration(), item.crc32c());
        } else if (item.ownsCopy() && mayBeDown(item)) {
            desk.disk.index.quarantine(item.requireCopy());
            desk.disk.knownIdle(item.requireCopy());
        } else if (item.ownsCopy()) {
            desk.disk.index.remove(item.requireCopy());
        } else if (item.done() && item.requireCopy().state() != DiskState.SERVING) {
            item.failed(OperationReason.NOT_SERVING); // it was there when this began, and has left since
        }
    }

    /** Whether bytes of a copy that does not count may be on the disk. What the disk itself says has failed is not held there. */
    private boolean mayBeDown(Item item) {
        boolean disowned = mismatched || item.reason() == OperationReason.SOURCE_LOST;
        return disowned && item.requireCopy().state() == DiskState.WRITING;
    }

    private void tellEnd() {
        List<BlockResult> results = items.stream().map(item -> target == Tier.DISK ? item.onDisk() : item.inStore()).toList();
        long bytes = mismatched ? 0 : movedBytes();
        long micros = durationMicros();
        OperationReason why = mismatched ? OperationReason.COPY_RESULT_MISMATCH : firstFailure();
        tellEnd(
                results,
                anyDone(),
                e -> new CopyDone(e, operation, source, target, namespace, results, bytes, micros),
                e -> new CopyFailed(e, operation, source, target, why, namespace, results));
    }

    /** The shard of the prompt hears of what is in the store; without its root, that of each block's own key. */
    private void tellStore() {
        Map<Integer, List<PagedBlock>> stored = new LinkedHashMap<>();
        for (Item item : items) {
            if (target == Tier.STORE && item.status() == BlockStatus.ARRIVED) {
                int shard = StoreShard.of(namespace, root.isEmpty() ? item.block.key() : root, desk.limits.storeShards());
                stored.computeIfAbsent(shard, any -> new ArrayList<>()).add(new PagedBlock(item.block, -1, 0, item.crc32c()));
            }
        }
        stored.forEach((shard, blocks) ->
                desk.tell("store/" + shard, cause, e -> new BlocksStored(e, desk.registration.node(), namespace, blocks)));
    }
}
