/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Tier;

/**
 * The cost for a node to get a block onto its host, by the block's location. Microseconds for each block, 0 to {@link Integer#MAX_VALUE}. What a node
 * has itself it takes from there, whatever the others cost; of the others it takes the cheapest, and of equals the store, as the controller does.
 *
 * @param hostUs it is on the node's own host, or its device
 * @param diskUs it is on the node's own disk
 * @param storeUs it is in the shared store
 * @param peerHostUs it is on another node's host
 * @param peerDiskUs it is on another node's disk
 */
public record Costs(long hostUs, long diskUs, long storeUs, long peerHostUs, long peerDiskUs) {
    /** Of a block of 2 MiB from a disk with 3 GB/s. The policy has no cost of the own disk, since no decision needs it. */
    private static final long DISK_US = 700;

    /** 0 from the own host, 700 from the own disk, and from elsewhere what controllers go by before a policy is set. */
    public static final Costs DEFAULTS = of(Policies.fetch(Policies.INITIAL).peers());

    /** The cost of a source that does not have the block. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Refuses negative costs, and an own disk that would be cheaper than the own host. */
    public Costs {
        String all = hostUs + ", " + diskUs + ", " + storeUs + ", " + peerHostUs + ", " + peerDiskUs;
        for (long each : new long[] {hostUs, diskUs, storeUs, peerHostUs, peerDiskUs}) {
            if (each < 0 || each > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("a cost is 0 to " + Integer.MAX_VALUE + " microseconds: " + all);
            }
        }
        if (diskUs < hostUs) {
            throw new IllegalArgumentException("the own disk must not cost less than the own host: " + all);
        }
    }

    /** Costs with a policy's values for other nodes and the store. */
    public static Costs of(PeerPolicy policy) {
        return new Costs(0, DISK_US, policy.storeBlockMicros(), policy.hostBlockMicros(), policy.diskBlockMicros());
    }

    /** Cost of a block that the node has itself; {@link #NEVER} for tiers that are not of a node. */
    public long own(Tier tier) {
        return switch (tier) {
            case DEVICE, HOST -> hostUs;
            case DISK -> diskUs;
            case STORE, UNKNOWN -> NEVER;
        };
    }

    /** What a block costs that is in the store, or on a node that can be read from; {@link #NEVER} on another node's device. */
    public long elsewhere(Tier tier) {
        return switch (tier) {
            case HOST -> peerHostUs;
            case DISK -> peerDiskUs;
            case STORE -> storeUs;
            case DEVICE, UNKNOWN -> NEVER;
        };
    }
}
