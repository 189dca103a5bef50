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
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The core against a slow and obvious model of it, on random histories. A failure names the seed. */
class ModelTest {
    private static final int STEPS = 2_500;
    private static final String AGAIN =
            "mvn -pl controller/core -am test -Dtest=ModelTest -Dsurefire.failIfNoSpecifiedTests=false -Dtierlog.seed=";

    private RecencyModel recency = new RecencyModel(false);
    private @Nullable RandomHistory history;
    private List<Block> expectedFetch = List.of();
    private boolean submitting;
    private int checkedFacts;
    private int fetches;

    /** Eight seeds, or those that the command line asks for. */
    static LongStream seeds() {
        long first = Long.getLong("tierlog.seed", 100);
        return LongStream.range(first, first + Long.getLong("tierlog.seeds", Long.getLong("tierlog.seed") == null ? 8 : 1));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theCoreDoesWhatTheModelSays(long seed) {
        // Every other history has its drops answered at once, so that the order of leaving can be told to the block.
        RandomHistory h = new RandomHistory(seed, this::before, this::after);
        if (seed % 2 == 0) {
            h.answeringDropsAtOnce();
            recency = new RecencyModel(true);
        }
        history = h;
        try {
            h.run(STEPS);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("after " + h.world().log.size() + " inputs of seed " + seed + " (again: " + AGAIN + seed + "): "
                    + e.getMessage(), e);
        }
        assertTrue(recency.drops > 5, () -> "drops in seed " + seed + ": " + recency.drops);
        assertTrue(fetches > 5, () -> "fetches in seed " + seed + ": " + fetches);
    }

    private void before(World w, Event event) {
        submitting = event instanceof RequestSubmitted;
        expectedFetch = event instanceof RequestSubmitted e ? fetch(w, e) : List.of();
    }

    private void after() {
        RandomHistory h = Objects.requireNonNull(history);
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
    }

    /** What should be fetched, block by block, as one would explain it. */
    private static List<Block> fetch(World w, RequestSubmitted e) {
        int threshold = Objects.requireNonNull(w.tables.get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policy()
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
        var node = Objects.requireNonNull(w.tables.get(Rows.NODES, new RowKey.Aggregate(aggregate)));
        return row != null && Evolve.isCurrent(node, Tier.HOST, row) && row.state() == CopyState.SERVING;
    }

    /** Between inputs no tier stands at its high mark without relief, nor below its low mark in relief. */
    private static void levels(RandomHistory h) {
        var policy = Objects.requireNonNull(h.tables().get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policy();
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
}
