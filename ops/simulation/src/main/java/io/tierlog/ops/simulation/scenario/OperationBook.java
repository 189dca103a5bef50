/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The operations of a scenario in order of issue, as the controller decided them, and the loads that agents report. For one thread. */
final class OperationBook implements World.Watcher {
    private record Operation(Of of, String node, List<Integer> indexes, List<String> blocks, String request, String state, String reason) {
        Operation become(String next, String why) {
            return new Operation(of, node, indexes, blocks, request, next, why);
        }
    }

    /** What an operation does: its kind, its tiers, and what led to it where that is known. */
    private record Of(String kind, Tier source, Tier target, @Nullable MoveCause cause) {}

    private final Labels labels;
    private final SequencedMap<String, Operation> operations = new LinkedHashMap<>();
    private final Set<String> fresh = new LinkedHashSet<>();
    private final Set<String> changed = new LinkedHashSet<>();
    /** True while issued operations are not counted. */
    private boolean hidden;

    OperationBook(Labels labels) {
        this.labels = labels;
    }

    /** From here on nothing that is issued is listed, or everything is again. */
    void hide(boolean now) {
        hidden = now;
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        decided.facts().forEach(this::note);
    }

    private void note(Fact fact) {
        switch (fact) {
            case OperationIssued f -> {
                if (!hidden) {
                    String request = f.request();
                    issued(f.operation(), new Operation(
                            new Of(f.kind().name(), f.from(), f.to(), f.move()), node(f.envelope().aggregate()), indexes(f.blocks()),
                            f.blocks().stream().map(block -> labels.of(f.namespace(), block.key())).toList(), request == null ? "" : request,
                            OperationState.ISSUED.name(), ""));
                }
            }
            case OperationOverdue f -> become(f.operation(), OperationState.OVERDUE, "");
            case OperationEnded f -> become(f.operation(), f.state(), f.reason().name());
            default -> {}
        }
    }

    /** One that is decided again after its transaction was undone is the same one. */
    private void issued(String id, Operation operation) {
        if (operations.put(id, operation) == null) {
            fresh.add(id);
            changed.add(id);
        }
    }

    private void become(String id, OperationState state, String reason) {
        if (operations.computeIfPresent(id, (same, o) -> o.become(state.name(), reason)) != null) {
            changed.add(id);
        }
    }

    @Override
    public void appended(int partition, long offset, Event event) {
        switch (event) {
            case LoadBackDone e -> load(event, e.operation(), e.request(), e.blocks(), OperationState.DONE);
            case LoadBackFailed e -> load(event, e.operation(), e.request(), e.blocks(), OperationState.FAILED);
            default -> {}
        }
    }

    private void load(Event event, String operation, String request, List<BlockResult> results, OperationState state) {
        List<Integer> indexes = results.stream().filter(r -> r.status() != BlockStatus.UNKNOWN).map(r -> r.block().index()).toList();
        issued(operation, new Operation(
                new Of("LOAD_BACK", Tier.HOST, Tier.DEVICE, null), node(event.envelope().aggregate()), indexes, List.of(), request, state.name(),
                ""));
    }

    private static String node(String aggregate) {
        return aggregate.substring(aggregate.indexOf('/') + 1);
    }

    private static List<Integer> indexes(List<Block> blocks) {
        return blocks.stream().map(Block::index).toList();
    }

    /** Those issued since the last {@link #forget}. */
    ArrayNode issued() {
        return list(fresh);
    }

    /** Those issued or changed since the last {@link #forget}. */
    ArrayNode changed() {
        return list(changed);
    }

    private ArrayNode list(Set<String> which) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        operations.forEach((id, o) -> {
            if (which.contains(id)) {
                ObjectNode one = list.addObject().put("kind", o.of.kind).put("node", o.node);
                ArrayNode indexes = one.putArray("indexes");
                o.indexes.forEach(indexes::add);
                ArrayNode blocks = one.putArray("blocks");
                o.blocks.forEach(blocks::add);
                one.put("source", o.of.source.name()).put("target", o.of.target.name());
                MoveCause cause = o.of.cause;
                if (cause != null) {
                    one.put("trigger", cause.trigger().name()).put("group", cause.group()).put("retention", cause.retention().name());
                    one.put("level", cause.level()).put("threshold", cause.threshold());
                }
                one.put("state", o.state).put("reason", o.reason);
                if (!o.request.isEmpty()) {
                    one.put("request", o.request);
                }
            }
        });
        return list;
    }

    /** What was issued so far is not listed again, unless it changes. */
    void forget() {
        fresh.clear();
        changed.clear();
    }
}
