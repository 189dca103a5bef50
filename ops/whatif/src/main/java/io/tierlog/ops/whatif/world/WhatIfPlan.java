/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.schemas.Policy;

/**
 * One variation. Immutable.
 *
 * @param name what people call it
 * @param policy of the controller, from the beginning
 * @param sizes nodes and their tiers
 * @param routing how requests are spread
 * @param pace how fast requests come
 * @param prefetchWaitMs longest wait of a request for a fetch
 * @param model how long things take
 */
public record WhatIfPlan(String name, Policy policy, Sizes sizes, Routing routing, Pace pace, int prefetchWaitMs, HardwareModel model) {
    /**
     * Nodes and their tiers.
     *
     * @param nodes 1 or more
     * @param hostBlocks of each node, 1 or more
     * @param diskBlocks of each node; 0 for no disk tier
     * @param devicePages of each engine, 1 or more
     * @param retention whether engines keep blocks of ended requests
     * @param blockBytes bytes of a block
     */
    public record Sizes(int nodes, int hostBlocks, int diskBlocks, int devicePages, boolean retention, long blockBytes) {
        public Sizes {
            atLeast("nodes", nodes, 1);
            atLeast("host blocks", hostBlocks, 1);
            atLeast("disk blocks", diskBlocks, 0);
            atLeast("device pages", devicePages, 1);
            atLeast("block bytes", blockBytes, 1);
        }
    }

    /**
     * How fast requests come.
     *
     * @param concurrency requests in flight at most, over all nodes
     * @param speed times the workload's own pace; 0 for as fast as the concurrency allows
     */
    public record Pace(int concurrency, double speed) {
        public Pace {
            atLeast("concurrency", concurrency, 1);
            if (!(speed >= 0 && speed <= 1e6)) {
                throw new IllegalArgumentException("speed must be from 0 to 1000000, not " + speed);
            }
        }
    }

    public WhatIfPlan {
        atLeast("prefetch wait", prefetchWaitMs, 0);
    }

    private static void atLeast(String what, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(what + " must be " + least + " or more, not " + value);
        }
    }
}
