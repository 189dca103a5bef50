/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.CopyState;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The core against a slow and obvious model of it, on random histories. A failure names the seed. */
class ModelTest {
    private static final int STEPS = 2_500;

    private RecencyModel recency = new RecencyModel();
    private @Nullable RandomHistory history;
    private List<Block> expectedFetch = List.of();
    private boolean submitting;
    private int checkedFacts;
    private int fetches;

    @ParameterizedTest
    @ValueSource(longs = {100, 101, 102, 103, 104, 105, 106, 107})
    void theCoreDoesWhatTheModelSays(long seed) {
        RandomHistory h = new RandomHistory(seed, this::before, this::after);
        history = h;
        try {
            h.run(STEPS);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("seed " + seed + " after " + h.world().log.size() + " inputs: " + e.getMessage(), e);
        }
        java.util.Map<String, Integer> kinds = new java.util.TreeMap<>();
        h.world().facts.forEach(f -> kinds.merge(
                f.getClass().getSimpleName() + (f instanceof io.tierlog.schemas.decision.InputRefused r ? r.reason() : ""), 1, Integer::sum));
        System.out.println("STATS " + kinds);
        assertTrue(recency.drops > 20, () -> "drops in seed " + seed + ": " + recency.drops);
        assertTrue(fetches > 20, () -> "fetches in seed " + seed + ": " + fetches);
    }

    private void before(World w, Event event) {
        submitting = event instanceof RequestSubmitted;
        expectedFetch = event instanceof RequestSubmitted e ? fetch(w, e) : List.of();
    }

    private void after() {
        RandomHistory h = java.util.Objects.requireNonNull(history);
        World w = h.world();
        for (; checkedFacts < w.facts.size(); checkedFacts++) {
            recency.evolve(w.facts.get(checkedFacts));
        }
        Outcome outcome = w.last.outcome();
        if (submitting && outcome.equals(Outcome.APPLIED)) {
            List<OperationIssued> issued = w.facts(OperationIssued.class).stream().filter(f -> f.kind() == OperationKind.PREFETCH).toList();
            assertEquals(expectedFetch, issued.isEmpty() ? List.of() : issued.getFirst().blocks());
            fetches += issued.size();
        }
        levels(h);
        writeBacks(h);
    }

    /** What should be fetched, block by block, as one would explain it. */
    private static List<Block> fetch(World w, RequestSubmitted e) {
        int threshold = java.util.Objects.requireNonNull(w.tables.get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policy()
                .prefetchThresholdBlocks();
        List<Block> fetch = new ArrayList<>();
        for (int i = e.deviceBlocks(); i < Math.min(e.keys().size(), (e.promptTokens() - 1) / 2); i++) {
            boolean host = serves(w, e.envelope().aggregate(), e.keys().get(i));
            boolean store = i >= e.storeFrom() && i < e.storeFrom() + e.storeBlocks();
            if (!host && !store) {
                break;
            }
            if (!host) {
                fetch.add(Agent.block(e.keys(), i));
            }
        }
        return e.answered() || !e.reuseEligible() || fetch.size() <= threshold ? List.of() : fetch;
    }

    private static boolean serves(World w, String aggregate, Bytes key) {
        PlacementRow row = w.tables.get(Rows.PLACEMENTS, new RowKey.Copy(aggregate, Namespaces.digest(Agent.NAMESPACE), Tier.HOST, key));
        var node = java.util.Objects.requireNonNull(w.tables.get(Rows.NODES, new RowKey.Aggregate(aggregate)));
        return row != null && Evolve.isCurrent(node, Tier.HOST, row) && row.state() == CopyState.SERVING;
    }

    /** Between inputs no tier stands at its high mark without relief, nor below its low mark in relief. */
    private static void levels(RandomHistory h) {
        var policy = java.util.Objects.requireNonNull(h.tables().get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policy();
        String subject = h.world().log.getLast() instanceof Input.Recorded r ? r.event().envelope().aggregate() : "";
        h.tables().rows(Rows.NODES).forEach((key, node) -> {
            for (TierRow tier : node.tiers()) {
                if (key.aggregate().equals(subject) && node.alive() && tier.tier() == Tier.HOST && tier.capacityBlocks() > 0) {
                    long standing = tier.usedBlocks() - tier.leavingBlocks();
                    double share = (double) standing / tier.capacityBlocks();
                    assertTrue(tier.inRelief() || share < policy.hostHighMark() + 1e-9, () -> "full without relief: " + tier);
                    assertTrue(!tier.inRelief() || share >= policy.hostLowMark() - 1e-9, () -> "relief without need: " + tier);
                }
            }
        });
    }

    /** No block is being written back twice. */
    private static void writeBacks(RandomHistory h) {
        Set<String> writing = new HashSet<>();
        h.tables().rows(Rows.OPERATIONS).forEach((key, row) -> {
            if (row.kind() == OperationKind.WRITE_BACK && EvolveOperations.isUnfinished(row.state()) && isCurrent(h, key.aggregate(), row)) {
                row.blocks().forEach(b -> assertTrue(writing.add(key.aggregate() + b.key()), () -> "written back twice: " + b));
            }
        });
    }

    private static boolean isCurrent(RandomHistory h, String aggregate, OperationRow row) {
        var node = java.util.Objects.requireNonNull(h.tables().rows(Rows.NODES).get(new RowKey.Aggregate(aggregate)));
        return node.alive() && node.incarnation() == row.incarnation();
    }
}
