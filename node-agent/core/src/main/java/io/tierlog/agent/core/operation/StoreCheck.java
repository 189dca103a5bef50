/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The first half of a drop that relies on the store: probes the store for each block, in bounded units, then hands on which of them it lacks. Pins
 * nothing and takes nothing: what is dropped is checked in the step in which the last answer comes.
 *
 * <p>A probe counts blocks up to the first gap, so the blocks behind a gap are probed again: one probe more for each block that the store lacks.
 */
public final class StoreCheck extends TransferSession {
    /** Result of a block behind the first gap of a probe. */
    static final OperationReason NOT_REACHED = OperationReason.NEVER_STARTED;

    private final Tier tier;
    private final Consumer<Map<Bytes, OperationReason>> then;

    /** {@code then} receives why the store cannot be relied on, by key: NOT_IN_STORE or STORE_UNAVAILABLE. It is not called after a cancel. */
    public StoreCheck(AgentContext context, DropBlocks command, Consumer<Map<Bytes, OperationReason>> then) {
        super(context, command.operation(), command.header().command(), command.namespace(), items(command), State.RUNNING);
        this.tier = command.tier();
        this.then = then;
    }

    private static List<BlockTransfer> items(DropBlocks command) {
        List<BlockTransfer> items = new ArrayList<>(command.blocks().size());
        command.blocks().forEach(block -> items.add(new BlockTransfer(block.block(), -1, block.generation())));
        return items;
    }

    @Override
    public OperationKind kind() {
        return OperationKind.DROP;
    }

    @Override
    TransferPort stream(BlockTransfer item) {
        return TransferPort.STORE;
    }

    @Override
    void send(long unit, List<BlockTransfer> batch) {
        context.ports().store().probe(unit, namespace, batch.stream().map(item -> item.block.key()).toList());
    }

    @Override
    void arrived(BlockTransfer item, UnitResult result) {
        item.alreadyThere(0);
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        if (why == NOT_REACHED && !cancelling()) {
            again(item);
        } else {
            item.failed(why);
        }
    }

    @Override
    void unknown(BlockTransfer item, Quarantine.Case held) {
        throw new IllegalStateException("A probe has an answer: " + item.block);
    }

    @Override
    void end() {
        reportMissing();
        if (cancelling()) {
            List<BlockResult> stay = items.stream()
                    .map(item -> new BlockResult(item.block, BlockStatus.FAILED,
                            item.done() ? OperationReason.CANCELLED : item.reason(), -1, item.generation, 0, Tier.UNKNOWN))
                    .toList();
            reportEnd(
                    stay,
                    false,
                    e -> new DropDone(e, operation, tier, namespace, stay),
                    e -> new DropFailed(e, operation, tier, OperationReason.CANCELLED, namespace, stay));
            return;
        }
        Map<Bytes, OperationReason> lacking = new LinkedHashMap<>();
        items.stream().filter(item -> !item.done()).forEach(item -> lacking.put(item.block.key(), item.reason()));
        then.accept(lacking);
    }

    /** Reports to the shards of the store what it does not hold; the host pages of these blocks are no longer evicted before last copies. */
    private void reportMissing() {
        Map<Integer, List<PagedBlock>> missing = new TreeMap<>();
        Map<Bytes, Bytes> roots = new LinkedHashMap<>();
        for (BlockTransfer item : items) {
            if (item.reason() == OperationReason.NOT_IN_STORE) {
                context.pages().serving(namespace, item.block.key()).ifPresent(page -> context.pages().markHeldInStore(page, false));
                for (int shard : shards(item.block, root(item.block, roots))) {
                    missing.computeIfAbsent(shard, any -> new ArrayList<>()).add(new PagedBlock(item.block, -1, 0, 0));
                }
            }
        }
        missing.forEach((shard, blocks) ->
                context.append("store/" + shard, cause, e -> new BlocksMissing(e, context.registration().node(), namespace, blocks)));
    }

    /** Where an object may be on record: the shard of its prompt, and that of its own key, for copies that knew no prompt. */
    private Set<Integer> shards(Block block, Bytes root) {
        int most = context.limits().storeShards();
        Set<Integer> shards = new LinkedHashSet<>();
        shards.add(StoreShard.of(namespace, block.key(), most));
        if (!root.isEmpty()) {
            shards.add(StoreShard.of(namespace, root, most));
        }
        return shards;
    }

    /** The key of block 0 of the block's prompt, by way of the blocks before it that are on this node; empty where one is not. */
    private Bytes root(Block block, Map<Bytes, Bytes> roots) {
        List<Bytes> path = new ArrayList<>();
        Block at = block;
        Bytes known = roots.get(at.key());
        while (known == null && at != null) {
            path.add(at.key());
            known = at.index() == 0 ? at.key() : roots.get(at.parent());
            at = at.index() == 0 ? null : find(at.parent());
        }
        Bytes root = known == null ? Bytes.EMPTY : known;
        path.forEach(key -> roots.put(key, root));
        return root;
    }

    private @Nullable Block find(Bytes key) {
        Block onHost = context.pages().serving(namespace, key).map(page -> page.paged().block()).orElse(null);
        return onHost != null ? onHost : context.disk().serving(namespace, key).map(DiskPlacement::block).orElse(null);
    }
}
