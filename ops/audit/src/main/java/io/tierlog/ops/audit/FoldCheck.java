/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.invariant.Violation;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.decision.Fact;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The controller's own fold over the facts of a partition (I13): each fact fits the state that the facts before it made. After the first that does
 * not fit, the state is undefined and the fold stops. Memory: the tables of the partition, on the heap. Confined to one thread.
 */
final class FoldCheck {
    private final HeapTables tables;
    private boolean broken;

    /** From the beginning of a partition. */
    FoldCheck() {
        this(new HeapTables());
    }

    /** From where these tables were. */
    FoldCheck(HeapTables tables) {
        this.tables = tables;
    }

    /** Folds one fact; returns what is wrong with it, or null. */
    @Nullable String fold(Fact decision) {
        if (broken) {
            return null;
        }
        try {
            Core.evolve(tables, decision);
            return null;
        } catch (IllegalHistory e) {
            broken = true;
            return "it does not fit the state that the facts before it made: " + e.getMessage();
        }
    }

    /** The tables that the facts so far made. */
    HeapTables tables() {
        return tables;
    }

    /** Contradictions between the tables, once all facts are in them. */
    List<Violation> check(int partition) {
        return broken ? List.of() : TableInvariants.check(tables, partition);
    }
}
