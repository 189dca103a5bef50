/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

/** Something that must never be. The message begins with what it is, up to a colon. */
final class SimulationFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    SimulationFailure(String what) {
        super(what);
    }
}
