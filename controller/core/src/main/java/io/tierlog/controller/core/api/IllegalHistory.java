/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

import io.tierlog.schemas.decision.Fact;

/** A fact does not fit the state it is applied to. Fatal: the decisions are not in order, or decide and evolve disagree, which is a bug. */
public final class IllegalHistory extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public IllegalHistory(String what) {
        super(what);
    }

    public IllegalHistory(Fact fact, IllegalHistory cause) {
        super(cause.getMessage() + ", at " + fact.getClass().getSimpleName() + " caused by " + fact.envelope().cause()
                + ". Stop, keep the log and the state directory, and report it", cause);
    }
}
