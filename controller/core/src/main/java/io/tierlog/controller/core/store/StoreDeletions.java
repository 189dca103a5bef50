/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.store;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.ShardResults;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.state.DeletionRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The ends of deletions. What is gone counts whichever deletion took it, as long as the object on record has that generation: one that was put again
 * has a higher one and stays. Without state.
 */
public final class StoreDeletions {
    /** Reasons that are about the object and not about the store. */
    private static final Set<OperationReason> OF_ONE_OBJECT = EnumSet.of(OperationReason.IO, OperationReason.CHECKSUM);

    private StoreDeletions() {}

    /** An object, whatever its generation. */
    private record Name(String namespace, Bytes key) {}

    public static void ended(DecisionContext d, ObjectsDeleted e) {
        Envelope about = d.envelope(e.envelope().aggregate(), 0);
        String broken = broken(d, e);
        if (!Aggregates.isStore(about.aggregate())) {
            d.refuse(about, e, RefusalReason.WRONG_AGGREGATE, "This event is about a shard of the store, not " + about.aggregate());
            return;
        }
        if (broken != null) {
            d.refuse(about, e, RefusalReason.OVER_LIMIT, broken);
            return;
        }
        Set<Name> gone = new LinkedHashSet<>();
        OperationReason stays = OperationReason.COMPLETED;
        BlocksTouched first = null;
        for (ShardResults results : e.objects()) {
            List<Block> removed = new ArrayList<>(results.blocks().size());
            for (BlockResult result : results.blocks()) {
                if (isGone(result)) {
                    gone.add(new Name(results.namespace(), result.block().key()));
                    if (isOnRecord(d, about.aggregate(), results.namespace(), result)) {
                        removed.add(result.block());
                    }
                } else if (stays == OperationReason.COMPLETED) {
                    stays = result.reason();
                    boolean touches = d.clock().coreVersion() <= CoreVersion.TOUCHES_WHAT_IS_GONE
                            || isThere(held(d, about.aggregate(), results.namespace(), result.block()));
                    first = touches ? new BlocksTouched(about, Tier.STORE, results.namespace(), List.of(result.block()), d.offset()) : null;
                }
            }
            if (!removed.isEmpty()) {
                d.fact(new BlocksRemoved(about, Tier.STORE, results.namespace(), RemovalReason.WATER_LEVEL, removed, 0));
            }
        }
        DeletionRow row = d.tables().get(Rows.DELETIONS, new RowKey.Aggregate(about.aggregate()));
        if (row != null && row.deletion().equals(e.deletion())) {
            d.fact(end(about, row, gone, stays));
            // A deletion stops at an object that cannot be deleted. As the last in the order it does not stop the next one, too.
            if (first != null && OF_ONE_OBJECT.contains(stays)) {
                d.fact(first);
            }
        } else {
            d.refuse(about, e, RefusalReason.OPERATION_ENDED, "Deletion " + e.deletion() + " is not in flight");
        }
    }

    /** Of the objects on record: what the agent does not name stays. */
    private static DeletionEnded end(Envelope about, DeletionRow row, Set<Name> gone, OperationReason stays) {
        int deleted = 0;
        int objects = 0;
        for (ShardObjects one : row.objects()) {
            objects += one.blocks().size();
            deleted += (int) one.blocks().stream().filter(block -> gone.contains(new Name(one.namespace(), block.block().key()))).count();
        }
        OperationReason reason = deleted == objects ? OperationReason.COMPLETED
                : stays == OperationReason.COMPLETED ? OperationReason.PARTIAL : stays;
        return new DeletionEnded(about, row.deletion(), reason, deleted, objects - deleted);
    }

    /** Whether the generation that was to be deleted is not there any more. */
    private static boolean isGone(BlockResult result) {
        return result.status() == BlockStatus.GONE
                || (result.status() == BlockStatus.FAILED && result.reason() == OperationReason.STALE_GENERATION);
    }

    private static boolean isOnRecord(DecisionContext d, String shard, String namespace, BlockResult result) {
        PlacementRow held = held(d, shard, namespace, result.block());
        return held != null && isThere(held) && held.generation() == result.generation();
    }

    private static boolean isThere(@Nullable PlacementRow held) {
        return held != null && held.state() != PlacementState.ABSENT;
    }

    private static @Nullable PlacementRow held(DecisionContext d, String shard, String namespace, Block block) {
        return d.tables().get(Rows.PLACEMENTS, new RowKey.Placement(shard, Namespaces.digest(namespace), Tier.STORE, block.key()));
    }

    private static @Nullable String broken(DecisionContext d, ObjectsDeleted e) {
        int blocks = e.objects().stream().mapToInt(one -> one.blocks().size()).sum();
        String broken = blocks > d.limits().blocksPerInput() || e.objects().size() > d.limits().blocksPerDecision()
                ? "Invalid event of " + blocks + " blocks: must have at most " + d.limits().blocksPerInput()
                : null;
        for (int i = 0; broken == null && i < e.objects().size(); i++) {
            ShardResults results = e.objects().get(i);
            broken = Checks.blocks(d.limits(), results.namespace(), results.blocks().stream().map(BlockResult::block).toList());
        }
        return broken;
    }
}
