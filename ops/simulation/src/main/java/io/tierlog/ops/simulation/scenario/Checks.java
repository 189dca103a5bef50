/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.invariant.Violation;
import io.tierlog.ops.simulation.oracle.DrainOracle;
import io.tierlog.ops.simulation.oracle.InputOracle;
import io.tierlog.ops.simulation.oracle.SenderOracle;
import io.tierlog.ops.simulation.oracle.TimerOracle;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimController;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.List;

/** The invariants of a scenario: of agents after every step, of the log at every record, of the controller's tables at every expectation. */
final class Checks implements World.Watcher {
    private final List<Violation> found = new ArrayList<>();
    private final LogInvariants log = new LogInvariants(found::add);
    private final InputOracle effect;
    private boolean lossy;

    Checks(World world) {
        this.effect = new InputOracle(world.log());
        world.watch(effect);
        world.watch(new TimerOracle(world));
        world.watch(new SenderOracle());
        world.watch(new DrainOracle(world));
        world.watch(this);
    }

    /** The scenario has the log lose or forge an event, which no log does: from here on the log by itself tells nothing of pages. */
    void logHasLost() {
        lossy = true;
    }

    @Override
    public void stepped(AgentProcess process) {
        process.check();
    }

    @Override
    public void appended(int partition, long offset, Event event) {
        if (!lossy) {
            log.event(partition, offset, event);
            complain();
        }
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        if (!lossy) {
            log.decision(partition, offset, fact);
            complain();
        }
    }

    private void complain() {
        if (!found.isEmpty()) {
            throw new IllegalStateException(found.getFirst().toString());
        }
    }

    /** What holds at any moment. */
    void now(World world) {
        SimController running = world.controller();
        if (running != null) {
            for (int p = 0; p < world.log().partitions(); p++) {
                found.addAll(TableInvariants.check(running.state(), p));
            }
            complain();
        }
    }

    /** What holds at the end, when everything is committed. */
    void end(World world) {
        now(world);
        effect.end();
        if (!lossy) {
            log.atEnd(false);
            complain();
        }
        world.checkFold();
    }
}
