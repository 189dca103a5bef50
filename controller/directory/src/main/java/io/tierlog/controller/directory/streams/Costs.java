/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.Location;

/**
 * What it costs a node to have a block on its host, by where the block is. Microseconds for each block.
 *
 * @param hostUs it is on the node's own host, or its device
 * @param diskUs it is on the node's own disk
 * @param storeUs it is in the shared store
 * @param peerHostUs it is on another node's host
 * @param peerDiskUs it is on another node's disk
 */
public record Costs(long hostUs, long diskUs, long storeUs, long peerHostUs, long peerDiskUs) {
    /** 0 from the own host, then 700, 1,500, 2,000 and 3,000: blocks of 2 MiB at 3 GB/s from a disk and 1 GB/s from elsewhere. */
    public static final Costs DEFAULTS = new Costs(0, 700, 1_500, 2_000, 3_000);

    /** What is not to be had from there. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Refuses an order in which it would be cheaper to fetch than to have. */
    public Costs {
        if (hostUs < 0 || diskUs < hostUs || storeUs < diskUs || peerHostUs < storeUs || peerDiskUs < peerHostUs) {
            throw new IllegalArgumentException("costs must rise from the own host to the own disk, the store, another's host and another's disk: "
                    + hostUs + ", " + diskUs + ", " + storeUs + ", " + peerHostUs + ", " + peerDiskUs);
        }
    }

    /** What a block costs that is there; {@link #NEVER} on another node's device. */
    public long of(Location from, String node) {
        boolean own = from.isOnNode() && from.node().equals(node);
        return switch (from.tier()) {
            case DEVICE -> own ? hostUs : NEVER;
            case HOST -> own ? hostUs : peerHostUs;
            case DISK -> own ? diskUs : peerDiskUs;
            case STORE -> storeUs;
            case UNKNOWN -> NEVER;
        };
    }
}
