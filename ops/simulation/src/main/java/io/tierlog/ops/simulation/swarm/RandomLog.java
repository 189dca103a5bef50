/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.ops.simulation.world.World;
import java.util.EnumSet;

/** A random history with every kind of fault, for the tests of what reads logs. Static and without state. */
public final class RandomLog {
    private RandomLog() {}

    /**
     * Runs the episode of a seed.
     *
     * @param watcher sees every record, and the controller's tables
     * @throws IllegalStateException when the episode found a fault of the product
     */
    public static void run(long seed, World.Watcher watcher) {
        Episode.Failure failure = Episode.run(Choices.drawn(seed), EnumSet.allOf(FaultKind.class), false, watcher).failure();
        if (failure != null) {
            throw new IllegalStateException("the episode of seed " + seed + " failed: " + failure.what());
        }
    }
}
