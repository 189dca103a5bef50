/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

/** How a scenario is run; what it expects must hold in each. */
public enum Mode {
    /** As it is written. */
    STRAIGHT,
    /** At each expectation the controller is recreated: it decides the whole log again, and must reach the same state. */
    REPLAY,
    /** Every event and every command comes a second time, later. */
    DUPLICATES,
    /** Between any two records the controller decides, is undone, decides again, commits, dies, and begins from the log. */
    RESTART_EVERYWHERE
}
