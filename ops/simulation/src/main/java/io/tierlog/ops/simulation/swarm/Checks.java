/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.invariant.Violation;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimController;
import io.tierlog.ops.simulation.world.UndoTables;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Looks at every record and every step, and counts. For one thread. */
final class Checks implements World.Watcher {
    private static final int KEPT = 400;

    /** Fields of every record that a report leaves out. */
    private static final Pattern ENVELOPES = Pattern.compile("envelope=Envelope\\[[^\\[\\]]*(AppliedInput\\[[^\\]]*\\])?[^\\[\\]]*\\],? ?");

    private final LogInvariants log = new LogInvariants(this::violated);
    private final Map<OperationKind, Long> operations = new EnumMap<>(OperationKind.class);
    private final Deque<String> trace = new ArrayDeque<>();
    private final boolean tracing;
    /** The record that is being looked at. */
    private Object record = "";
    private long records;
    private long eventRecords;
    private long digest;


    Checks(boolean tracing) {
        this.tracing = tracing;
    }

    private void violated(Violation violation) {
        throw new SimulationFailure(violation + "; the record: " + record);
    }

    /** Operations by kind. */
    Map<OperationKind, Long> operations() {
        return operations;
    }

    /** Events and decisions. */
    long records() {
        return records;
    }

    /** Events alone: what the controller takes. */
    long events() {
        return eventRecords;
    }

    /** A number that depends on every record and their order. */
    long digest() {
        return digest;
    }

    /** The last things that happened. */
    Collection<String> trace() {
        return trace;
    }

    private static boolean isRoutine(Event event) {
        return event instanceof Tick || event instanceof AgentHeartbeat;
    }

    /** Remembers something that happened. */
    void note(String what) {
        if (tracing) {
            trace.add(ENVELOPES.matcher(what).replaceAll(""));
            if (trace.size() > KEPT) {
                trace.removeFirst();
            }
        }
    }

    boolean isTracing() {
        return tracing;
    }

    @Override
    public void appended(int partition, long offset, Event event) {
        records++;
        eventRecords++;
        if (tracing && !isRoutine(event)) {
            note("    events-" + partition + "@" + offset + " " + event);
        }
        if (event instanceof LoadBackDone) {
            operations.merge(OperationKind.LOAD_BACK, 1L, Long::sum);
        }
        record = event;
        digest = 31 * digest + event.hashCode();
        log.event(partition, offset, event);
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        if (tracing && !(isRoutine(event) && decided.commands().isEmpty() && decided.facts().size() == 1)) {
            note("    decided for events-" + partition + "@" + offset + ": " + decided.facts() + " commands " + decided.commands());
        }
    }

    @Override
    public void touched(int partition, HeapTables state, List<UndoTables.Touched<?, ?>> rows) {
        record = "rows that an event has touched";
        for (UndoTables.Touched<?, ?> row : rows) {
            TableInvariants.row(state, partition, row.table(), row.key()).forEach(this::violated);
        }
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        records++;
        if (fact instanceof OperationIssued issued) {
            operations.merge(issued.kind(), 1L, Long::sum);
        }
        record = fact;
        digest = 31 * digest + fact.hashCode();
        log.decision(partition, offset, fact);
    }

    @Override
    public void hearing(AgentProcess process, AgentInput input) {
        if (tracing && !(input instanceof AgentInput.TimePassed)) {
            note("    " + process.processId() + " receives " + input);
        }
    }

    @Override
    public void stepped(AgentProcess process) {
        process.check();
    }

    /** The tables of a controller agree with themselves; it costs much more than a step, so it is looked at now and then. */
    void tables(World world) {
        SimController running = world.controller();
        for (int p = 0; running != null && p < world.log().partitions(); p++) {
            record = "tables";
            TableInvariants.check(running.state(), p).forEach(this::violated);
        }
    }

    /** Nothing is in flight any more. */
    void atRest(World world) {
        tables(world);
        record = "at rest";
        log.atEnd(true);
        LogInvariants.Counts counts = log.counts();
        if (counts.unfinished() != 0) {
            throw new SimulationFailure("I12: operations without an end: " + counts);
        }
    }
}
