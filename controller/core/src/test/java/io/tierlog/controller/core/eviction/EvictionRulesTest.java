/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.TierRow;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table in the comment of {@link EvictionRules}, row by row: one block, its copy on the disk (or none), and the way out of the tier it is on. */
class EvictionRulesTest {
    private static final Bytes KEY = Agent.key("k0");
    private static final Bytes NAMESPACE = Namespaces.digest(Agent.NAMESPACE);

    @ParameterizedTest(name = "disk {0}, space {1}, refused {2}, stored {3}")
    @CsvSource({
        // Placement on the disk, space there, refused before, stored; from the host: with copies, without them; from the disk.
        "SERVING, 0, false, false, DROP DISK,  DROP DISK,    ",
        "SERVING, 0, false, true,  DROP DISK,  DROP DISK,    ",
        "SERVING, 5, true,  false, DROP DISK,  DROP DISK,    ",
        "SERVING, 5, true,  true,  DROP DISK,  DROP DISK,    ",
        "WRITING, 5, false, true,  DROP STORE, DROP STORE,   ",
        "WRITING, 5, false, false, stays,      DROP UNKNOWN, ",
        "LEAVING, 0, true,  true,  DROP STORE, DROP STORE,   ",
        "LEAVING, 0, true,  false, stays,      stays,        ",
        "ABSENT,  5, false, false, COPY DISK,  DROP UNKNOWN, stays",
        "ABSENT,  5, false, true,  COPY DISK,  DROP STORE,   DROP STORE",
        "ABSENT,  5, true,  true,  DROP STORE, DROP STORE,   DROP STORE",
        "ABSENT,  5, true,  false, stays,      DROP UNKNOWN, stays",
        "ABSENT,  0, false, true,  DROP STORE, DROP STORE,   DROP STORE",
        "ABSENT,  0, false, false, stays,      DROP UNKNOWN, stays",
        "ABSENT,  0, true,  true,  DROP STORE, DROP STORE,   DROP STORE",
        "ABSENT,  0, true,  false, stays,      DROP UNKNOWN, stays",
    })
    void theWayOut(PlacementState onDisk, int free, boolean refused, boolean stored, String withCopies, String withoutCopies,
            @Nullable String fromDisk) {
        NodeContext n = node(onDisk, free);
        PlacementRow row = row(PlacementState.SERVING, refused, stored);
        assertEquals(withCopies, way(n, level(Tier.HOST, Tier.DISK), row), "from the host to the disk");
        assertEquals(withoutCopies, way(n, level(Tier.HOST, Tier.UNKNOWN), row), "from the host, nothing is copied");
        if (fromDisk != null) {
            assertEquals(fromDisk, way(n, level(Tier.DISK, Tier.UNKNOWN), row), "from the disk");
        }
    }

    @ParameterizedTest(name = "disk {0}, space {1}, refused {2}")
    @CsvSource({
        // Placement on the disk, space there, refused before; DELETE_SOURCE, KEEP_BOTH. Space below 0: the disk has become smaller than its
        // contents.
        "SERVING, 0,  false, DROP DISK, stays",
        "SERVING, 5,  true,  DROP DISK, stays",
        "SERVING, -2, false, DROP DISK, stays",
        "WRITING, 5,  false, stays,     stays",
        "LEAVING, 5,  false, stays,     stays",
        "ABSENT,  5,  false, COPY DISK, COPY DISK",
        "ABSENT,  1,  false, COPY DISK, COPY DISK",
        "ABSENT,  5,  true,  stays,     stays",
        "ABSENT,  0,  false, stays,     stays",
        "ABSENT,  -2, false, stays,     stays",
    })
    void theWayOutOnARoute(PlacementState onDisk, int free, boolean refused, String deletes, String keeps) {
        NodeContext n = node(onDisk, free);
        PlacementRow row = row(PlacementState.SERVING, refused, false);
        assertEquals(deletes, said(onRoute(n, Tier.DISK, Retention.DELETE_SOURCE).of(NAMESPACE, KEY, row, false)));
        assertEquals(keeps, said(onRoute(n, Tier.DISK, Retention.KEEP_BOTH).of(NAMESPACE, KEY, row, false)));
    }

    /** Two copies take two places; what is there already is dropped, and copied along above what is copied. */
    @Test
    void aRouteMovesNoMoreThanTheTargetHasSpaceFor() {
        EvictionRules two = onRoute(node(PlacementState.ABSENT, 2), Tier.DISK, Retention.DELETE_SOURCE);
        PlacementRow row = row(PlacementState.SERVING, false, false);
        assertEquals("COPY DISK", said(two.of(NAMESPACE, KEY, row, false)));
        assertEquals("COPY DISK", said(two.of(NAMESPACE, Agent.key("k1"), row, false)));
        assertEquals("stays", said(two.of(NAMESPACE, Agent.key("k2"), row, false)));

        EvictionRules there = onRoute(node(PlacementState.SERVING, 0), Tier.DISK, Retention.DELETE_SOURCE);
        assertEquals("COPY DISK", said(there.of(NAMESPACE, KEY, row, true)), "above a block that is copied");
    }

    @ParameterizedTest(name = "stored {0}, refused {1}")
    @CsvSource({
        "true,  false, DROP STORE, stays",
        "true,  true,  DROP STORE, stays",
        "false, false, COPY STORE, COPY STORE",
        "false, true,  stays,      stays",
    })
    void theWayOutToTheStore(boolean stored, boolean refused, String deletes, String keeps) {
        NodeContext n = node(PlacementState.SERVING, 0);
        PlacementRow row = row(PlacementState.SERVING, refused, stored);
        assertEquals(deletes, said(onRoute(n, Tier.STORE, Retention.DELETE_SOURCE).of(NAMESPACE, KEY, row, false)));
        assertEquals(keeps, said(onRoute(n, Tier.STORE, Retention.KEEP_BOTH).of(NAMESPACE, KEY, row, false)));
    }

    private static EvictionRules onRoute(NodeContext n, Tier target, Retention retention) {
        return new EvictionRules.ForRoute(n, "", new MigrationRoute(Tier.HOST, target, 0.5, true, false, retention, 8, 1L << 30));
    }

    private static String said(@Nullable EvictionAction way) {
        return way == null ? "stays" : way.kind() + " " + way.other();
    }

    private static String way(NodeContext n, Watermark level, PlacementRow row) {
        return said(new EvictionRules.ForWatermark(n, level).of(NAMESPACE, KEY, row, false));
    }

    private static Watermark level(Tier tier, Tier below) {
        return new Watermark(tier, "", 0.9, 0.8, below);
    }

    private static PlacementRow row(PlacementState state, boolean refused, boolean stored) {
        return new PlacementRow(state, 1, 0, 3, 1, 0, 0, Bytes.EMPTY, 1, 0, 0, stored, refused, "", 0, null, null, 0, false);
    }

    /** Node a with a disk of 10 blocks that has that much space. */
    private static NodeContext node(PlacementState onDisk, int free) {
        HeapTables tables = new HeapTables();
        List<TierRow> tiers = List.of(new TierRow(Tier.HOST, 10, 1, 9, 0, false, 0, 0, -1),
                new TierRow(Tier.DISK, 10, 1, 10 - free, 0, false, 0, 0, -1));
        tables.put(Rows.NODES, new RowKey.Aggregate("node/a"), new NodeRow("p", 1, true, 0, 0, 0, Bytes.EMPTY, 0, List.of(), tiers, null, null,
                null, 0, false, 0, 0));
        if (onDisk != PlacementState.ABSENT) {
            tables.put(Rows.PLACEMENTS, new RowKey.Placement("node/a", NAMESPACE, Tier.DISK, KEY), row(onDisk, false, false));
        }
        Tick tick = new Tick(new Agent("a", "p", 10).envelope(), 1);
        return Objects.requireNonNull(DecisionContext.of(tables, Limits.DEFAULTS, new Input.Recorded(0, 100, tick, 0), Evolve::apply).node("node/a"));
    }
}
