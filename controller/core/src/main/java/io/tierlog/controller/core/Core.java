/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.api.CoreVersion;
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
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import java.util.function.Consumer;

/**
 * The controller without its shell: decides what an input leads to, and folds facts into state.
 *
 * <p>{@link #decide} depends only on the tables and the input. It therefore gives the same result live, on restore, in an audit and in simulation.
 * {@link #evolve} is the only writer of the tables and cannot refuse. {@link #step} is what a shell calls for each input.
 *
 * <p>Without state of its own; as thread-safe as the tables given. It throws only what is fatal: {@link CoreVersionMismatch},
 * {@link IllegalHistory}, and what the store under the tables throws.
 */
public final class Core {
    private final DecisionContext.Settings settings;

    /** A core for tests and tools, whose partitions name no application id. */
    public Core(Limits limits) {
        this(limits, "");
    }

    /** A core of the current version. */
    public Core(Limits limits, String applicationId) {
        this(limits, applicationId, CoreVersion.CURRENT);
    }

    /**
     * A core.
     *
     * @param applicationId of the controller, which the first decision of a partition records
     * @param version decides as this one did, {@link CoreVersion#OLDEST} to {@link CoreVersion#CURRENT}: it raises partitions of an older version
     *     on record, and decides none of a later one
     * @throws IllegalArgumentException when this build does not know the version
     */
    public Core(Limits limits, String applicationId, int version) {
        if (version < CoreVersion.OLDEST || version > CoreVersion.CURRENT) {
            throw new IllegalArgumentException(
                    "Core version " + version + " is not one of " + CoreVersion.OLDEST + " to " + CoreVersion.CURRENT);
        }
        this.settings = new DecisionContext.Settings(limits, applicationId, version);
    }

    /** What the input itself leads to. Reads the tables and writes nothing. A refusal is an outcome and a fact, never an exception. */
    public DecideResult decide(Tables tables, Input input) {
        DecisionContext d = DecisionContext.of(tables, settings, input, Evolve::apply);
        EventDispatcher.decide(d, input);
        return d.decided();
    }

    /** Applies one fact. The only way in which tables change. */
    public static void evolve(Tables tables, Fact fact) {
        Evolve.apply(tables, fact);
        tables.inputDone();
    }

    /**
     * Decides, evolves, and follows up. Decisions that need the new facts in the tables (eviction from a tier that is now above its watermark, due
     * timers, cleanup of the rows of an ended incarnation) are made then, within the same bounds. The result contains all of them.
     *
     * @param commands receives each command as soon as it is decided, before the state changes: a command is an intent, so one whose decision is
     *     lost costs only work
     */
    public DecideResult step(Tables tables, Input input, Consumer<Command> commands) {
        DecisionContext d = DecisionContext.of(tables, settings, input, Evolve::apply);
        EventDispatcher.decide(d, input);
        d.send(commands);
        d.evolve();
        FollowUps.decide(d, input);
        d.send(commands);
        tables.inputDone();
        return d.decided();
    }

    /** Decides, evolves, and follows up, for a caller that takes the commands from the result. */
    public DecideResult step(Tables tables, Input input) {
        return step(tables, input, _ -> {});
    }
}
