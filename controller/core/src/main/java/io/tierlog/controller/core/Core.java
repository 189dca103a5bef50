/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.api.CoreVersionMismatch;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.dispatch.EventDispatcher;
import io.tierlog.controller.core.dispatch.FollowUps;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.decision.Fact;

/**
 * The controller without its shell: decides what an input leads to, and folds facts into state.
 *
 * <p>{@link #decide} depends on the tables and the input alone, so live, on restore, in an audit and in simulation it comes to the same.
 * {@link #evolve} is the only writer of the tables and cannot refuse. {@link #step} is what a shell calls for each input.
 *
 * <p>Without state of its own; as thread-safe as the tables given. It throws only what is fatal: {@link CoreVersionMismatch},
 * {@link IllegalHistory}, and what the store under the tables throws.
 */
public final class Core {
    private final Limits limits;

    public Core(Limits limits) {
        this.limits = limits;
    }

    /** What the input itself leads to. Reads the tables and writes nothing. A refusal is an outcome and a fact, never an exception. */
    public DecideResult decide(Tables tables, Input input) {
        DecisionContext d = DecisionContext.of(tables, limits, input, Evolve::apply);
        EventDispatcher.decide(d, input);
        return d.decided();
    }

    /** Applies one fact. The only way in which tables change. */
    public static void evolve(Tables tables, Fact fact) {
        Evolve.apply(tables, fact);
        tables.flush();
    }

    /**
     * Decides, evolves, and follows up: what can only be decided once the facts are in the tables (relief of a tier that has become too
     * full, what has fallen due, the sweep of a node that has ended) is decided then, within the same bounds. The answer has all of it.
     */
    public DecideResult step(Tables tables, Input input) {
        DecisionContext d = DecisionContext.of(tables, limits, input, Evolve::apply);
        EventDispatcher.decide(d, input);
        d.evolve();
        FollowUps.decide(d, input);
        tables.flush();
        return d.decided();
    }
}
