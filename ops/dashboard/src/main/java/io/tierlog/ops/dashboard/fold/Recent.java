/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Rows of one kind by id, in the order in which they came; beyond the limit the oldest leaves. Notes every change. Not thread-safe. */
final class Recent<T> {
    private final char kind;
    private final int limit;
    private final Rows changes;
    private final Function<T, String> id;
    private final Map<String, T> rows = new LinkedHashMap<>();

    Recent(char kind, int limit, Rows changes, Function<T, String> id) {
        this.kind = kind;
        this.limit = limit;
        this.changes = changes;
        this.id = id;
    }

    @Nullable T get(String key) {
        return rows.get(key);
    }

    void put(T row) {
        String key = id.apply(row);
        rows.put(key, row);
        note(key);
        if (rows.size() > limit) {
            remove(rows.keySet().iterator().next());
        }
    }

    /** Replaces a row that is there. */
    void change(String key, UnaryOperator<T> how) {
        T was = rows.get(key);
        if (was != null) {
            rows.put(key, how.apply(was));
            note(key);
        }
    }

    @Nullable T remove(String key) {
        T was = rows.remove(key);
        note(key);
        return was;
    }

    /** Puts a row that is kept already. */
    void restore(T row) {
        rows.put(id.apply(row), row);
    }

    Map<String, T> all() {
        return rows;
    }

    private void note(String key) {
        changes.changed(kind, key, () -> rows.get(key));
    }
}
