/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

/**
 * Blocks of the prompts of prefilled requests, by where they came from.
 *
 * @param requests prefilled attempts
 * @param device blocks that the engine reused on the device
 * @param host blocks loaded from the host that were there when the request came
 * @param disk blocks fetched from the node's disk for the request
 * @param store blocks fetched from the store for the request
 * @param peer blocks fetched from another node for the request
 * @param computed blocks that the engine computed
 */
public record HitCounts(long requests, long device, long host, long disk, long store, long peer, long computed) {
    /** No request. */
    public static final HitCounts NONE = new HitCounts(0, 0, 0, 0, 0, 0, 0);

    /** The sum of both. */
    public HitCounts plus(HitCounts o) {
        return new HitCounts(
                requests + o.requests, device + o.device, host + o.host, disk + o.disk, store + o.store, peer + o.peer, computed + o.computed);
    }

    /** What this has more than {@code o}. */
    HitCounts minus(HitCounts o) {
        return new HitCounts(
                requests - o.requests, device - o.device, host - o.host, disk - o.disk, store - o.store, peer - o.peer, computed - o.computed);
    }

    /** Blocks that were not computed. */
    public long hits() {
        return device + host + disk + store + peer;
    }

    /** All blocks of the prompts. */
    public long accesses() {
        return hits() + computed;
    }

    /** Share of the blocks that were not computed, 0 to 1; 0 when there were none. */
    public double ratio() {
        return accesses() == 0 ? 0 : (double) hits() / accesses();
    }
}
