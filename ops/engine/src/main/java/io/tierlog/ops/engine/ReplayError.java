/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

/** A replay that could not begin or go on: what happened and what to look at. */
public final class ReplayError extends Exception {
    private static final long serialVersionUID = 1L;

    ReplayError(String problem) {
        super(problem);
    }

    ReplayError(String problem, Throwable cause) {
        super(problem, cause);
    }
}
