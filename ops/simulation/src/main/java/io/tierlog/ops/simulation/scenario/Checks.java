/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import io.tierlog.ops.simulation.world.Life;
import io.tierlog.ops.simulation.world.World;

/** The invariants of a scenario, after every step and at its end. For one thread. */
final class Checks implements World.Watcher {
    @Override
    public void stepped(Life life) {
        life.check();
    }

    /** What holds at any moment. */
    void now(World world) {
        world.nodes().forEach(node -> {
            Life life = node.life();
            if (life != null) {
                life.check();
            }
        });
    }

    /** What holds at the end. */
    void rest(World world) {
        now(world);
        world.checkFold();
    }
}
