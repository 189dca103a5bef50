/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.http.Problem;
import io.tierlog.events.Partitions;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PolicyRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The controller's committed state as of one response. Used only within one call of {@link CommittedState#read} or its likes. */
final class StateSnapshot {
    static final String NODE = "node/";
    static final String MIGRATION = "migration/";
    static final String POLICY = "policy";

    private final HeapTables tables;
    private final int partitions;

    /** A migration and its name. */
    record Task(String id, MigrationRow row) {
        /** Newest first. */
        static final Comparator<Task> ORDER =
                Comparator.comparingLong((Task task) -> task.row().askedMs()).reversed().thenComparing(Task::id);
    }

    /** A mark and its key. */
    record Marked(RowKey.Mark key, MarkRow row) {}

    StateSnapshot(HeapTables tables, int partitions) {
        this.tables = tables;
        this.partitions = partitions;
    }

    /** Names of all nodes that were ever registered, sorted. */
    List<String> nodes() {
        return tables.rows(Rows.NODES).keySet().stream().map(key -> key.aggregate().substring(NODE.length())).sorted().toList();
    }

    @Nullable NodeRow node(String name) {
        return tables.get(Rows.NODES, new RowKey.Aggregate(NODE + name));
    }

    /** The node's row. */
    NodeRow knownNode(String name) {
        NodeRow row = node(name);
        if (row == null) {
            throw new Problem(Problem.Kind.NODE_UNKNOWN, "no agent has registered a node called " + name, "GET /v1/nodes lists the registered nodes");
        }
        return row;
    }

    @Nullable MigrationRow migration(String id) {
        return tables.get(Rows.MIGRATIONS, new RowKey.Aggregate(MIGRATION + id));
    }

    /** The migration's row. */
    MigrationRow knownMigration(String id) {
        MigrationRow row = migration(id);
        if (row == null) {
            throw new Problem(Problem.Kind.MIGRATION_UNKNOWN, "no migration is called " + id + ", or it ended long ago",
                    "GET /v1/migrations lists the existing ones");
        }
        return row;
    }

    /** All migrations, newest first. */
    List<Task> migrations() {
        List<Task> tasks = new ArrayList<>();
        for (Map.Entry<RowKey.Aggregate, MigrationRow> entry : tables.rows(Rows.MIGRATIONS).entrySet()) {
            tasks.add(new Task(entry.getKey().aggregate().substring(MIGRATION.length()), entry.getValue()));
        }
        tasks.sort(Task.ORDER);
        return tasks;
    }

    /** A node's use by namespace in its current incarnation, sorted by namespace. */
    List<NamespaceRow> namespaces(String node, NodeRow of) {
        List<NamespaceRow> found = new ArrayList<>();
        scan(Rows.NAMESPACES, new RowKey.Namespace(NODE + node, ScanKeys.FIRST_DIGEST), (_, row) -> {
            boolean present = row.incarnation() == of.incarnation() && row.tiers().stream().anyMatch(tier -> tier.usedBlocks() > 0);
            if (present) {
                found.add(row);
            }
            return true;
        });
        found.sort(Comparator.comparing(NamespaceRow::namespace));
        return found;
    }

    /** Marks of a node from {@code from} on, in the order of their keys, while {@code sink} wants more. */
    void marks(RowKey.Mark from, Sink<RowKey.Mark, MarkRow> sink) {
        scan(Rows.MARKS, from, sink);
    }

    /** Takes rows until it returns false. */
    @FunctionalInterface
    interface Sink<K, V> {
        boolean take(K key, V row);
    }

    private <K extends RowKey<K>, V extends WireRecord> void scan(Table<K, V> table, K from, Sink<K, V> sink) {
        try (Scan<K, V> rows = tables.range(table, from, null)) {
            while (rows.next()) {
                if (!sink.take(rows.key(), rows.value())) {
                    return;
                }
            }
        }
    }

    /** Version of the policy; 0 before the first one. */
    long policyVersion() {
        PolicyRow row = policyRow();
        return row == null ? 0 : row.version();
    }

    /** The policy of that version. */
    Policy policy() {
        PolicyRow row = policyRow();
        return row == null ? Policies.INITIAL : row.policy();
    }

    private @Nullable PolicyRow policyRow() {
        return tables.get(Rows.POLICY, new RowKey.Aggregate(POLICY));
    }

    /** Log time that the state of an aggregate is of, milliseconds since 1970; 0 before the first tick. */
    long asOfMs(String aggregate) {
        return logTimeMs(Partitions.of(aggregate, partitions));
    }

    /** Log time of the partition that is furthest behind, milliseconds since 1970: the whole response is of then or later. */
    long asOfMs() {
        long least = Long.MAX_VALUE;
        for (int p = 0; p < partitions; p++) {
            least = Math.min(least, logTimeMs(p));
        }
        return least;
    }

    private long logTimeMs(int partition) {
        ClockRow row = tables.get(Rows.CLOCK, new RowKey.Aggregate(Partitions.clock(partition)));
        return row == null ? 0 : row.logTimeMs();
    }
}
