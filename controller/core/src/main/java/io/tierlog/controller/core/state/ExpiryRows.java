/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import java.util.HexFormat;

/**
 * Which rows of nodes and namespaces nothing needs any more. Both wait for a timer that their row names; a timer that it does not name is an old one.
 * Without state.
 */
public final class ExpiryRows {
    /** Most timers of {@link RowKey.Timer.Queue#EXPIRE} that a tick looks at. */
    public static final int PER_TICK = 1_000;

    private static final HexFormat HEX = HexFormat.of();

    private ExpiryRows() {}

    /** Name of a namespace in timers: its digest in hexadecimal. */
    public static String timerId(Bytes digest) {
        return HEX.formatHex(digest.unshared());
    }

    /** The namespace that a timer is for. */
    public static RowKey.Namespace namespace(RowKey.Timer timer) {
        return new RowKey.Namespace(timer.owner(), Bytes.wrapUnshared(HEX.parseHex(timer.id())));
    }

    /** Whether what the timer is for may expire: its row names this timer, and no row of another table depends on it. */
    public static boolean mayExpire(Tables t, RowKey.Timer timer) {
        if (timer.kind() == RowKey.Timer.Kind.NODE) {
            NodeRow row = t.get(Rows.NODES, new RowKey.Aggregate(timer.owner()));
            return row != null && row.expiryMs() == timer.dueMs() && isIdle(t, timer.owner());
        }
        RowKey.Namespace key = namespace(timer);
        NamespaceRow row = t.get(Rows.NAMESPACES, key);
        return row != null && row.expiryMs() == timer.dueMs() && isEmpty(t, key);
    }

    /** Whether nothing of a node is left but its own row. */
    private static boolean isIdle(Tables t, String node) {
        RowKey.Text first = new RowKey.Text(node, "");
        return isNone(t, Rows.REQUESTS, first) && isNone(t, Rows.OPERATIONS, first) && isNone(t, Rows.LEASES, first)
                && isNone(t, Rows.TASKS, first) && isNone(t, Rows.GRANTS, first) && isNone(t, Rows.SEALED, RowKey.Sealed.first(node))
                && isNone(t, Rows.PLACEMENTS, PlacementRows.from(node, Bytes.EMPTY))
                && isNone(t, Rows.MARKS, new RowKey.Mark(node, Namespaces.NONE, Bytes.EMPTY))
                && isNone(t, Rows.PROMOTIONS, new RowKey.Mark(node, Namespaces.NONE, Bytes.EMPTY))
                && isNone(t, Rows.NAMESPACES, new RowKey.Namespace(node, Namespaces.NONE));
    }

    private static <K extends RowKey<K>, V extends WireRecord> boolean isNone(Tables t, Table<K, V> table, K first) {
        try (Scan<K, V> scan = t.range(table, first, null)) {
            return !scan.next();
        }
    }

    /** Whether the aggregate has no placement and no promotion of the namespace, also none of an ended incarnation: they name it by its digest. */
    private static boolean isEmpty(Tables t, RowKey.Namespace key) {
        try (var scan = t.range(Rows.PLACEMENTS, new RowKey.Placement(key.aggregate(), key.digest(), Tier.UNKNOWN, Bytes.EMPTY), null)) {
            if (scan.next() && scan.key().namespace().equals(key.digest())) {
                return false;
            }
        }
        try (var scan = t.range(Rows.PROMOTIONS, new RowKey.Mark(key.aggregate(), key.digest(), Bytes.EMPTY), null)) {
            return !scan.next() || !scan.key().namespace().equals(key.digest());
        }
    }
}
