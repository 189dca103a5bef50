/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import io.tierlog.ops.audit.stats.HitCounts;

/**
 * The prompts of a namespace that begin with the same block, at the nodes of one partition.
 *
 * @param namespace of their blocks
 * @param root key of their first block, hexadecimal
 * @param hits where their blocks came from
 * @param blockBytes size of a block; 0 while it is not known
 * @param lastMs when the last of them was prefilled, milliseconds since 1970
 */
public record PrefixRow(String namespace, String root, HitCounts hits, long blockBytes, long lastMs) {
    /** Its key among those of a partition. */
    public String id() {
        return namespace + "\n" + root;
    }

    /** Both together. */
    public PrefixRow plus(PrefixRow more) {
        return new PrefixRow(namespace, root, hits.plus(more.hits), Math.max(blockBytes, more.blockBytes), Math.max(lastMs, more.lastMs));
    }

    /** Bytes that were not computed again. */
    public long savedBytes() {
        return hits.hits() * blockBytes;
    }
}
