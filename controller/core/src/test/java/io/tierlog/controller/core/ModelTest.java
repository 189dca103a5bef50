/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.TierRow;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The core against a slow and obvious model of it, on random histories. A failure names the seed. */
class ModelTest {
    private static final int STEPS = 6_000;
    private static final String AGAIN =
            "mvn -pl controller/core -am test -Dtest=ModelTest -Dsurefire.failIfNoSpecifiedTests=false -Dtierlog.seed=";

    private RecencyModel recency = new RecencyModel(false);
    private @Nullable RandomHistory history;
    private Map<Block, Tier> expectedFetch = Map.of();
    private boolean submitting;
    private int checkedFacts;
    private int fetches;
    private int fromDisk;

    /** Eight seeds, or those from the command line. */
    static LongStream seeds() {
        long first = Long.getLong("tierlog.seed", 100);
        return LongStream.range(first, first + Long.getLong("tierlog.seeds", Long.getLong("tierlog.seed") == null ? 8 : 1));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theCoreDoesWhatTheModelSays(long seed) {
        // Every other history has its drops and copies answered at once, so that the eviction order is known exactly, block by block.
        RandomHistory h = new RandomHistory(seed, this::before, this::after).plain();
        if (seed % 2 == 0) {
            h.answeringReliefAtOnce();
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
        assertTrue(recency.copies > 5 && recency.drained + fromDisk > 2, () -> "copies, drops from disk, blocks fetched from it in seed "
                + seed + ": " + recency.copies + ", " + recency.drained + ", " + fromDisk);
    }

    private void before(World w, Event event) {
        submitting = event instanceof RequestSubmitted;
        expectedFetch = event instanceof RequestSubmitted e ? fetch(w, e) : Map.of();
    }

    private void after() {
        RandomHistory h = Objects.requireNonNull(history);
        World w = h.world();
        recency.evolve(w.facts.subList(checkedFacts, w.facts.size()));
        checkedFacts = w.facts.size();
        Outcome outcome = w.last.outcome();
        if (submitting && outcome.equals(Outcome.APPLIED)) {
            List<OperationIssued> issued = w.facts(OperationIssued.class).stream().filter(f -> f.kind() == OperationKind.PREFETCH).toList();
            assertEquals(List.copyOf(expectedFetch.keySet()), issued.isEmpty() ? List.of() : issued.getFirst().blocks());
            w.commands(PrefetchBlocks.class).forEach(c -> assertEquals(List.copyOf(expectedFetch.values()), c.sources()));
            fetches += issued.size();
            fromDisk += Collections.frequency(List.copyOf(expectedFetch.values()), Tier.DISK);
        }
        levels(h);
    }

    /** What should be fetched, block by block, as one would explain it. */
    private static Map<Block, Tier> fetch(World w, RequestSubmitted e) {
        int threshold = Objects.requireNonNull(w.tables.get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policy()
                .prefetchThresholdBlocks();
        Map<Block, Tier> fetch = new LinkedHashMap<>();
        for (int i = e.deviceBlocks(); i < Math.min(e.keys().size(), (e.promptTokens() - 1) / 2); i++) {
            PlacementRow host = copy(w, e.envelope().aggregate(), Tier.HOST, e.keys().get(i));
            PlacementRow disk = copy(w, e.envelope().aggregate(), Tier.DISK, e.keys().get(i));
            boolean asked = i >= e.storeFrom() && i < e.storeFrom() + e.storeBlocks();
            boolean store = asked || (host != null && host.stored()) || (disk != null && disk.stored());
            boolean onHost = host != null && (host.state() == PlacementState.SERVING || host.state() == PlacementState.COPYING);
            boolean onDisk = disk != null && disk.state() == PlacementState.SERVING;
            if (!onHost && !onDisk && !store) {
                break;
            }
            if (!onHost) {
                fetch.put(Agent.block(e.keys(), i), onDisk ? Tier.DISK : Tier.STORE);
            }
        }
        return e.answered() || !e.reuseEligible() || fetch.size() <= threshold ? Map.of() : fetch;
    }

    private static @Nullable PlacementRow copy(World w, String aggregate, Tier tier, Bytes key) {
        PlacementRow row = w.tables.get(Rows.PLACEMENTS, new RowKey.Placement(aggregate, Namespaces.digest(Agent.NAMESPACE), tier, key));
        var node = Objects.requireNonNull(w.tables.get(Rows.NODES, new RowKey.Aggregate(aggregate)));
        return row != null && NodeRows.isCurrent(node, tier, row) && row.state() != PlacementState.ABSENT ? row : null;
    }

    /** Between inputs no tier stands at its high mark without relief, nor below its low mark in relief when nothing is being copied. */
    private static void levels(RandomHistory h) {
        var policy = Objects.requireNonNull(h.tables().get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policy();
        String subject = h.world().log.getLast() instanceof Input.Recorded r ? r.event().envelope().aggregate() : "";
        h.tables().rows(Rows.NODES).forEach((key, node) -> {
            for (TierRow tier : node.tiers()) {
                boolean disk = tier.tier() == Tier.DISK;
                if (key.aggregate().equals(subject) && node.alive() && (disk || tier.tier() == Tier.HOST) && tier.capacityBlocks() > 0) {
                    double high = disk ? policy.diskHighMark() : policy.hostHighMark();
                    double low = disk ? policy.diskLowMark() : policy.hostLowMark();
                    double share = (double) (tier.usedBlocks() - tier.leavingBlocks()) / tier.capacityBlocks();
                    assertTrue(tier.inRelief() || share < high + 1e-9, () -> "full without relief: " + tier);
                    assertTrue(!tier.inRelief() || tier.copies() > 0 || share >= low - 1e-9, () -> "relief without need: " + tier);
                }
            }
        });
    }
}
