/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;

/**
 * The blocks of one namespace on one tier of an aggregate: no run has blocks of two.
 *
 * @param namespace digest of the namespace
 */
record RunTier(String aggregate, Bytes namespace, Tier tier) implements Comparable<RunTier> {
    static RunTier of(RowKey.Placement key) {
        return new RunTier(key.aggregate(), key.namespace(), key.tier());
    }

    RowKey.Placement key(Bytes block) {
        return new RowKey.Placement(aggregate, namespace, tier, block);
    }

    /** In the order of the keys of placements. */
    @Override
    public int compareTo(RunTier that) {
        int c = KeyWriter.compareTexts(aggregate, that.aggregate);
        if (c == 0) {
            c = namespace.compareTo(that.namespace);
        }
        return c != 0 ? c : KeyWriter.code(tier) - KeyWriter.code(that.tier);
    }

    // By hand: the hash of an enum differs between runs of a process.
    @Override
    public int hashCode() {
        return (namespace.hashCode() * 31 + tier.name().hashCode()) * 31 + aggregate.hashCode();
    }
}
