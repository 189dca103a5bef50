/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

/** A scenario file is wrong: at which line, and why. */
public final class ScenarioError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Line from 1; 0 for the file as a whole. */
    private final int line;

    ScenarioError(int line, String reason) {
        super(reason);
        this.line = line;
    }

    /** Line from 1; 0 for the file as a whole. */
    public int line() {
        return line;
    }
}
