/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.world.UndoTables;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.NamespacesExpired;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.SweepAdvanced;
import io.tierlog.schemas.event.Event;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What expires was idle for the time of the policy that was in force when its last use ended, by a book of the committed decisions: no block serves,
 * no operation, lease or peer read is open. No row of it is left then, and an expired node that registers is accepted. For one thread.
 */
final class ExpiryOracle implements World.Watcher {
    /** What an aggregate has that must end before it may expire. */
    private static final class Holder {
        final int partition;
        final Set<String> open = new LinkedHashSet<>();
        final Map<String, Held> namespaces = new LinkedHashMap<>();
        boolean alive;
        /** Log time at which it may expire, when it does not live: the cleanup of its last incarnation was done long enough ago. */
        long expiryMs;

        Holder(int partition) {
            this.partition = partition;
        }

        Held held(String namespace) {
            return namespaces.computeIfAbsent(namespace, any -> new Held());
        }
    }

    /** Blocks of a namespace that serve, when the last of them went, and the shortest time until its expiry of all policies since then. */
    private static final class Held {
        final Set<String> blocks = new LinkedHashSet<>();
        long goneMs;
        long keptMs;
    }

    private final Stage stage;
    private final Map<String, Holder> holders = new LinkedHashMap<>();
    private final Set<String> expired = new LinkedHashSet<>();
    private final Map<Integer, ExpiryPolicy> policies = new LinkedHashMap<>();
    private List<Fact> decided = List.of();

    ExpiryOracle(Stage stage) {
        this.stage = stage;
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult result) {
        decided = result.facts();
    }

    /** Nothing of what has just expired has a row. */
    @Override
    public void touched(int partition, HeapTables state, List<UndoTables.Touched<?, ?>> rows) {
        for (Fact fact : decided) {
            String aggregate = fact.envelope().aggregate();
            if (fact instanceof NodeExpired) {
                Rows.ALL.forEach(table -> state.rows(table).keySet().forEach(key -> require(!isOf((RowKey<?>) key, aggregate), fact,
                        "it has a row: " + table.name() + " " + key)));
            } else if (fact instanceof NamespacesExpired f) {
                f.namespaces().forEach(namespace -> requireNoRow(state, f, Namespaces.digest(namespace)));
            }
        }
    }

    private static boolean isOf(RowKey<?> key, String aggregate) {
        return key.aggregate().equals(aggregate) || (key instanceof RowKey.Timer timer && timer.owner().equals(aggregate));
    }

    private static void requireNoRow(HeapTables state, NamespacesExpired fact, Bytes digest) {
        String aggregate = fact.envelope().aggregate();
        require(state.get(Rows.NAMESPACES, new RowKey.Namespace(aggregate, digest)) == null, fact, "it has its row");
        state.rows(Rows.PLACEMENTS).keySet().forEach(key ->
                require(!key.aggregate().equals(aggregate) || !key.namespace().equals(digest), fact, "it has the placement " + key));
        state.rows(Rows.PROMOTIONS).keySet().forEach(key ->
                require(!key.aggregate().equals(aggregate) || !key.namespace().equals(digest), fact, "it has the promotion " + key));
    }

    private static void require(boolean holds, Fact fact, String what) {
        if (!holds) {
            throw new IllegalStateException("effect, expiry: " + what + "; " + fact);
        }
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        Holder of = holders.computeIfAbsent(fact.envelope().aggregate(), any -> new Holder(partition));
        long timeMs = fact.envelope().timeMs();
        ExpiryPolicy policy = policies.getOrDefault(partition, Policies.expiry(Policies.INITIAL));
        switch (fact) {
            case PolicyAdopted f -> adopted(partition, Policies.expiry(f.policy()));
            case AgentAccepted f -> accepted(of, f.envelope().aggregate());
            case AgentRefused f -> require(!expired.contains(f.envelope().aggregate()) || f.reason() != RefusalReason.DUPLICATE_NODE, f,
                    "a process of an expired node is refused for one that is registered");
            case NodeEnded _ -> {
                // What its agent finds again is placed again; rows of the rest are looked for in the tables.
                of.alive = false;
                of.namespaces.values().forEach(held -> held.blocks.clear());
            }
            case EngineLeft _ -> of.namespaces.values().forEach(held -> held.blocks.removeIf(block -> block.startsWith(Tier.DEVICE + " ")));
            case SweepAdvanced f when f.done() && !of.alive -> of.expiryMs = timeMs + policy.nodesMs();
            case OperationIssued f -> of.open.add(f.operation());
            case OperationEnded f -> of.open.remove(f.operation());
            case LeaseRequested f -> of.open.add("lease " + f.lease());
            case LeaseEnded f -> of.open.remove("lease " + f.lease());
            case PeerReadGranted f -> of.open.add("read " + f.grant());
            case PeerReadClosed f -> of.open.remove("read " + f.grant());
            case BlocksPlaced f -> f.blocks().forEach(paged -> of.held(f.namespace()).blocks.add(f.tier() + " " + paged.block().key()));
            case BlocksRemoved f -> {
                Held held = of.held(f.namespace());
                f.blocks().forEach(block -> held.blocks.remove(f.tier() + " " + block.key()));
                held.goneMs = timeMs;
                held.keptMs = policy.namespacesMs();
            }
            case NamespacesExpired f -> f.namespaces().forEach(namespace -> namespaceExpired(of, f, namespace));
            case NodeExpired f -> nodeExpired(of, f);
            default -> {}
        }
    }

    /** What a block that never served leaves behind, such as one whose write failed, may still go, and then the policy of that moment holds. */
    private void adopted(int partition, ExpiryPolicy policy) {
        policies.put(partition, policy);
        holders.values().stream().filter(of -> of.partition == partition).flatMap(of -> of.namespaces.values().stream())
                .forEach(held -> held.keptMs = Math.min(held.keptMs, policy.namespacesMs()));
    }

    private void accepted(Holder of, String aggregate) {
        of.alive = true;
        if (expired.remove(aggregate)) {
            stage.count(ExpiryCount.NODES_BACK);
        }
    }

    private void namespaceExpired(Holder of, NamespacesExpired fact, String namespace) {
        Held held = of.held(namespace);
        require(held.blocks.isEmpty(), fact, "of " + namespace + " these serve: " + held.blocks);
        require(held.goneMs + held.keptMs <= fact.envelope().timeMs(), fact,
                "the last block of " + namespace + " went at " + held.goneMs + ", less than " + held.keptMs + " ms ago");
        of.namespaces.remove(namespace);
        stage.count(ExpiryCount.NAMESPACES_EXPIRED);
    }

    private void nodeExpired(Holder of, NodeExpired fact) {
        require(!of.alive && of.expiryMs <= fact.envelope().timeMs(), fact, "it is alive, or may expire at " + of.expiryMs);
        require(of.open.isEmpty(), fact, "these go on: " + of.open);
        of.namespaces.forEach((namespace, held) -> require(held.blocks.isEmpty(), fact, "of " + namespace + " these serve: " + held.blocks));
        holders.remove(fact.envelope().aggregate());
        expired.add(fact.envelope().aggregate());
        stage.count(ExpiryCount.NODES_EXPIRED);
    }
}
