/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

/** Blocks of prompts that were not computed, by where they were when the request came. */
public record Hits(long device, long host, long disk, long store) {
    /** None. */
    public static final Hits NONE = new Hits(0, 0, 0, 0);

    /** All of them. */
    public long total() {
        return device + host + disk + store;
    }

    /** The sum. */
    public Hits plus(Hits other) {
        return new Hits(device + other.device, host + other.host, disk + other.disk, store + other.store);
    }
}
