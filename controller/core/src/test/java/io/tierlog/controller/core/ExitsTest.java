/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.CopyState;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table in the comment of {@link Exits}, row by row: one block, its copy on the disk (or none), and the way out of the tier it is on. */
class ExitsTest {
    private static final Bytes KEY = Agent.key("k0");
    private static final Bytes NAMESPACE = Namespaces.digest(Agent.NAMESPACE);

    @ParameterizedTest(name = "disk {0}, room {1}, refused {2}, stored {3}")
    @CsvSource({
        // Copy on the disk, room there, refused before, stored; from the host: with copies, without them; from the disk.
        "SERVING, 0, false, false, DROP DISK,  DROP DISK,    ",
        "SERVING, 0, false, true,  DROP DISK,  DROP DISK,    ",
        "SERVING, 5, true,  false, DROP DISK,  DROP DISK,    ",
        "SERVING, 5, true,  true,  DROP DISK,  DROP DISK,    ",
        "WRITING, 5, false, true,  DROP STORE, DROP STORE,   ",
        "WRITING, 5, false, false, stays,      DROP UNKNOWN, ",
        "LEAVING, 0, true,  true,  DROP STORE, DROP STORE,   ",
        "LEAVING, 0, true,  false, stays,      DROP UNKNOWN, ",
        "ABSENT,  5, false, false, COPY DISK,  DROP UNKNOWN, stays",
        "ABSENT,  5, false, true,  COPY DISK,  DROP STORE,   DROP STORE",
        "ABSENT,  5, true,  true,  DROP STORE, DROP STORE,   DROP STORE",
        "ABSENT,  5, true,  false, stays,      DROP UNKNOWN, stays",
        "ABSENT,  0, false, true,  DROP STORE, DROP STORE,   DROP STORE",
        "ABSENT,  0, false, false, stays,      DROP UNKNOWN, stays",
        "ABSENT,  0, true,  true,  DROP STORE, DROP STORE,   DROP STORE",
        "ABSENT,  0, true,  false, stays,      DROP UNKNOWN, stays",
    })
    void theWayOut(CopyState onDisk, int room, boolean refused, boolean stored, String withCopies, String withoutCopies,
            @Nullable String fromDisk) {
        NodeDraft n = node(onDisk, room);
        PlacementRow row = row(CopyState.SERVING, refused, stored);
        assertEquals(withCopies, way(n, level(Tier.HOST, Tier.DISK), row), "from the host to the disk");
        assertEquals(withoutCopies, way(n, level(Tier.HOST, Tier.UNKNOWN), row), "from the host, nothing is copied");
        if (fromDisk != null) {
            assertEquals(fromDisk, way(n, level(Tier.DISK, Tier.UNKNOWN), row), "from the disk");
        }
    }

    private static String way(NodeDraft n, Level level, PlacementRow row) {
        Exits.Way way = new Exits.OfLevel(n, level).of(NAMESPACE, KEY, row, false);
        return way == null ? "stays" : way.kind() + " " + way.other();
    }

    private static Level level(Tier tier, Tier below) {
        return new Level(tier, "", 0.9, 0.8, below);
    }

    private static PlacementRow row(CopyState state, boolean refused, boolean stored) {
        return new PlacementRow(state, 1, 0, 3, 1, 0, 0, Bytes.EMPTY, 1, 0, 0, stored, refused, "", 0, null, false);
    }

    /** Node a with a disk of 10 blocks that has so much room. */
    private static NodeDraft node(CopyState onDisk, int room) {
        HeapTables tables = new HeapTables();
        List<TierRow> tiers = List.of(new TierRow(Tier.HOST, 10, 1, 9, 0, false, 0, 0), new TierRow(Tier.DISK, 10, 1, 10 - room, 0, false, 0, 0));
        tables.put(Rows.NODES, new RowKey.Aggregate("node/a"), new NodeRow("p", 1, true, 0, 0, 0, Bytes.EMPTY, 0, List.of(), tiers, null, null,
                null));
        if (onDisk != CopyState.ABSENT) {
            tables.put(Rows.PLACEMENTS, new RowKey.Copy("node/a", NAMESPACE, Tier.DISK, KEY), row(onDisk, false, false));
        }
        Tick tick = new Tick(new Agent("a", "p", 10).envelope(), 1);
        return Objects.requireNonNull(Draft.of(tables, Limits.DEFAULTS, new Input.Recorded(0, 100, tick)).node("node/a"));
    }
}
