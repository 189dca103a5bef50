/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import java.util.HashMap;
import java.util.Map;

/** Names of rows for people: the keys have digests of namespaces, and the tables have their texts. Memory: the namespaces. */
public final class RowNames {
    private final Map<Bytes, String> namespaces = new HashMap<>();

    /** The names that {@code tables} have. */
    public RowNames(HeapTables tables) {
        tables.rows(Rows.NAMESPACES).forEach((key, row) -> namespaces.putIfAbsent(key.digest(), row.namespace()));
    }

    /** The text of a namespace; its digest where no row has the text. */
    public String namespace(Bytes digest) {
        return namespaces.getOrDefault(digest, digest.hex());
    }

    /** What the key says beside its aggregate. */
    String of(RowKey<?> key) {
        return switch (key) {
            case RowKey.Aggregate _ -> "";
            case RowKey.Text text -> text.id();
            case RowKey.Namespace space -> namespace(space.digest());
            case RowKey.Sealed sealed -> sealed.request() + " attempt " + sealed.attempt() + " report " + sealed.ordinal();
            case RowKey.Placement placement -> placement.tier() + " " + namespace(placement.namespace()) + " " + placement.block().hex();
            case RowKey.Mark mark -> namespace(mark.namespace()) + " " + mark.block().hex();
            case RowKey.Order order -> order.tier() + " " + namespace(order.namespace()) + " " + order.block().hex();
            case RowKey.Timer timer -> timer.kind() + " " + timer.owner() + " " + timer.id();
        };
    }
}
