/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.port.StoreTransfers.StoredObject;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.ShardResults;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.event.ObjectsDeleted;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Deletes objects of the shared store, one deletion at a time for each shard, one unit after the other: what is extended goes after what extends it,
 * and nothing goes behind an object that stays. Pins nothing: the generation protects what was put meanwhile, and a read under way ends well or with
 * NOT_FOUND. A deletion that finds another one of its shard is not run; the controller ends it when its time is over. For the core's one thread.
 */
public final class ObjectDeletions {
    private final AgentContext context;
    private final Map<String, Deletion> running = new LinkedHashMap<>();
    private final Map<Long, Deletion> units = new LinkedHashMap<>();

    /** How far a deletion is. */
    private static final class Deletion {
        private final DeleteObjects command;
        private final List<List<BlockResult>> results = new ArrayList<>();
        private @Nullable OperationReason stopped;

        Deletion(DeleteObjects command) {
            this.command = command;
        }

        /** The objects of the namespace that it is at, and those before it. */
        int at() {
            return results.size() - 1;
        }
    }

    public ObjectDeletions(AgentContext context) {
        this.context = context;
    }

    /** Begins a deletion. */
    public void run(DeleteObjects command) {
        boolean taken = context.takesWork() && running.size() < context.limits().storeShards() && !running.containsKey(command.shard());
        if (!taken) {
            context.counters().increment(AgentCounter.COMMANDS_IGNORED);
            return;
        }
        context.counters().increment(AgentCounter.COMMANDS_RUN);
        Deletion deletion = new Deletion(command);
        running.put(command.shard(), deletion);
        next(deletion);
    }

    /** A unit of the store has ended; false when it is none of these. */
    public boolean unitEnded(StoreUnitEnded in) {
        Deletion deletion = units.remove(in.unit());
        if (deletion == null) {
            return false;
        }
        ShardObjects objects = deletion.command.objects().get(deletion.at());
        List<BlockResult> results = deletion.results.getLast();
        for (UnitResult result : in.results()) {
            took(deletion, objects.namespace(), objects.blocks().get(results.size()), result);
        }
        next(deletion);
        return true;
    }

    private void took(Deletion deletion, String namespace, PagedBlock object, UnitResult result) {
        boolean absent = result.reason() == OperationReason.NOT_FOUND;
        boolean gone = result.status() == BlockStatus.GONE || absent;
        OperationReason why = gone ? absent ? OperationReason.NOT_FOUND : OperationReason.COMPLETED : result.reason();
        if (gone) {
            context.counters().add(AgentCounter.DELETED_OBJECTS, absent ? 0 : 1);
            context.pages().serving(namespace, object.block().key()).ifPresent(page -> context.pages().markHeldInStore(page, false));
        } else if (why != OperationReason.STALE_GENERATION && deletion.stopped == null) {
            deletion.stopped = why;
        }
        deletion.results.getLast().add(result(object, gone ? BlockStatus.GONE : BlockStatus.FAILED, why));
    }

    private static BlockResult result(PagedBlock object, BlockStatus status, OperationReason why) {
        return new BlockResult(object.block(), status, why, -1, object.generation(), 0, Tier.UNKNOWN);
    }

    /** Hands the next objects to the store, or reports the end. */
    private void next(Deletion deletion) {
        List<ShardObjects> all = deletion.command.objects();
        while (deletion.at() < 0 || deletion.results.getLast().size() == all.get(deletion.at()).blocks().size()) {
            if (deletion.results.size() == all.size()) {
                end(deletion);
                return;
            }
            deletion.results.add(new ArrayList<>());
        }
        ShardObjects objects = all.get(deletion.at());
        int from = deletion.results.getLast().size();
        OperationReason stopped = deletion.stopped;
        if (stopped != null) {
            objects.blocks().subList(from, objects.blocks().size())
                    .forEach(object -> deletion.results.getLast().add(result(object, BlockStatus.FAILED, stopped)));
            next(deletion);
            return;
        }
        int to = Math.min(objects.blocks().size(), from + context.limits().units().blocks());
        long unit = context.nextUnit();
        units.put(unit, deletion);
        context.ports().store().delete(unit, objects.namespace(), objects.blocks().subList(from, to).stream()
                .map(object -> new StoredObject(object.block().key(), object.generation())).toList());
    }

    private void end(Deletion deletion) {
        DeleteObjects command = deletion.command;
        running.remove(command.shard());
        List<ShardResults> results = new ArrayList<>(command.objects().size());
        for (int i = 0; i < command.objects().size(); i++) {
            results.add(new ShardResults(command.objects().get(i).namespace(), deletion.results.get(i)));
        }
        if (context.phase() != AgentPhase.STOPPED) {
            context.append(command.shard(), command.header().command(),
                    e -> new ObjectsDeleted(e, context.registration().node(), command.deletion(), results));
        }
    }
}
