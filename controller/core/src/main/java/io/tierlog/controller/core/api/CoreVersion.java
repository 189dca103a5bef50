/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

/**
 * Versions of decide and evolve. {@link #CURRENT} is raised whenever the same log would lead to other decisions; a corpus of inputs with their
 * decisions by every version holds this ({@code CorpusTest}).
 *
 * <p>A partition is decided by the version that is on record for it: decisions that differ between versions ask {@code ClockRow.coreVersion}.
 */
public final class CoreVersion {
    /** The oldest version whose decisions this build can make. */
    public static final int OLDEST = 1;

    /** Blocks leave in the order LRU where the policy names none. */
    public static final int LRU_BY_DEFAULT = 1;

    /** Messages of migrations name the migration's id, and not its request. */
    public static final int MIGRATIONS_BY_ID = 2;

    /** A failed copy is always followed by further evictions at once. */
    public static final int EAGER_EVICTION = 2;

    /** An object that another deletion took is moved to the end of the order of the store, when a later one fails to delete it. */
    public static final int TOUCHES_WHAT_IS_GONE = 2;

    /**
     * Names of a sample or of a deletion are not counted, names of an order are counted in characters and all are answered, a refusal
     * repeats what it refuses at any length, and a failed copy that names a block twice clears its mark twice.
     */
    public static final int UNBOUNDED_NAMES = 3;

    /**
     * The version of this build. 2: the order GAPS where the policy names none. 3: messages of migrations name the request; evictions pause when
     * drops are refused; what the store has lost is not touched. 4: names of migrations, deletions and refusals fit in one record.
     */
    public static final int CURRENT = 4;

    private CoreVersion() {}
}
