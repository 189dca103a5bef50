/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.RandomHistory;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.state.PlacementRow;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rows read from the bytes of a store are the rows that were put there. */
class StoredRowsTest {
    /** A store whose every change is copied into tables, as a changelog is. */
    private static final class Copied implements OrderedBytes {
        private final HeapBytes store = new HeapBytes();
        private final HeapTables copy = new HeapTables();
        private final Map<Bytes, Map<RowKey.Placement, PlacementRow>> runs = new LinkedHashMap<>();
        private int unknown;

        private void change(byte[] key, byte @Nullable [] value) {
            Table<?, ?> table = StoredRows.tableOf(key);
            if (table == null) {
                unknown++;
            } else if (table == Rows.PLACEMENTS) {
                remember(key, value);
            } else {
                StoredRows.copy(copy, table, key, value);
            }
        }

        private void remember(byte[] key, byte @Nullable [] run) {
            if (run == null) {
                runs.remove(Bytes.copyOf(key));
            } else {
                runs.put(Bytes.copyOf(key), StoredRows.placements(key, run));
            }
        }

        @Override
        public byte @Nullable [] get(byte[] key) {
            return store.get(key);
        }

        @Override
        public void put(byte[] key, byte[] value) {
            store.put(key, value);
            change(key, value);
        }

        @Override
        public void delete(byte[] key) {
            store.delete(key);
            change(key, null);
        }

        @Override
        public Cursor range(byte[] fromInclusive, byte[] toExclusive) {
            return store.range(fromInclusive, toExclusive);
        }
    }

    @Test
    void aCopyOfEveryChangeIsTheState() {
        RandomHistory history = new RandomHistory(3, (w, e) -> {}, () -> {}).run(400);
        Copied copied = new Copied();
        RunTables tables = new RunTables(copied);
        history.world().facts.forEach(fact -> {
            Evolve.apply(tables, fact);
            tables.together(() -> {});
        });
        copied.runs.values().forEach(run -> run.forEach((key, row) -> copied.copy.put(Rows.PLACEMENTS, key, row)));
        Map<Bytes, Bytes> expected = HeapBytes.dump(history.tables());
        assertTrue(expected.size() > 50 && copied.store.deletes > 50, expected.size() + " rows, " + copied.store.deletes + " deletes");
        assertEquals(expected, HeapBytes.dump(copied.copy));
        assertEquals(0, copied.unknown);
    }

    @Test
    void theTableOfAKeyIsFoundPastEscapedNames() {
        KeyWriter writer = new KeyWriter();
        for (String aggregate : new String[] {"node/a", "", "a\u0000b\u0001c", "\u00e9\u4e2d"}) {
            for (Table<?, ?> table : Rows.ALL) {
                assertEquals(table, StoredRows.tableOf(table.edge(writer, aggregate, false)), table + " of " + aggregate);
            }
        }
        assertNull(StoredRows.tableOf(new byte[0]));
        assertNull(StoredRows.tableOf("node/a".getBytes(StandardCharsets.UTF_8)));
        assertNull(StoredRows.tableOf(new byte[] {'a', 0, 0}));
        assertNull(StoredRows.tableOf(new byte[] {'a', 0, 120}));
        // The shell's own rows: a first byte that no text has.
        assertNull(StoredRows.tableOf(new byte[] {(byte) 0xFF, 'd', 0, 1}));
    }
}
