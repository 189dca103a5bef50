/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outgoing;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RunTables;
import io.tierlog.controller.core.table.WriteBehindTables;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * One instance of the controller: the shipped core over the shipped write-behind, over tables with a transaction. Facts and messages are on the log
 * when the transaction commits, commands leave before the state changes. For one thread.
 */
public final class SimController {
    /** Few, so that rows come and go. */
    private static final int KEPT_ROWS = 64;

    private final SimLog log;
    private final Consumer<Command> outbox;
    private final UndoTables tables;
    private final SimRuns runs;
    private final Core core;
    private final long[] next;
    private final long[] committed;
    private final List<List<Fact>> facts = new ArrayList<>();
    private final List<Outgoing> messages = new ArrayList<>();
    private int undecided;
    /** Keeps rows from input to input; recreated when a transaction is aborted, as the shell does it. */
    private WriteBehindTables kept;

    /**
     * An instance with that state, standing at {@code offsets}.
     *
     * @param runs the placements of the state, as they are stored
     * @throws IllegalStateException when these are not the ones of {@code state} (I13)
     */
    SimController(SimLog log, Limits limits, long[] offsets, Consumer<Command> outbox, HeapTables state, SimRuns runs) {
        this.log = log;
        this.outbox = outbox;
        this.tables = new UndoTables(state);
        this.runs = runs;
        // The transaction of the instance that ran before is aborted.
        runs.abort();
        runs.show(state, tables);
        this.kept = kept();
        this.core = new Core(limits);
        this.next = offsets.clone();
        this.committed = offsets.clone();
        for (int p = 0; p < log.partitions(); p++) {
            facts.add(new ArrayList<>());
        }
    }

    /** Tables that hold nothing yet: placements come from their stored runs, as in the shell. */
    private WriteBehindTables kept() {
        return new WriteBehindTables(new RunTables(runs, tables), KEPT_ROWS);
    }

    /** The stored placements. */
    SimRuns runs() {
        return runs;
    }

    /** An instance that has decided nothing yet. */
    static SimController fromTheBeginning(SimLog log, Limits limits, Consumer<Command> outbox) {
        return new SimController(log, limits, new long[log.partitions()], outbox, new HeapTables(), new SimRuns());
    }

    /**
     * Decides again what another instance has decided, and takes its place.
     *
     * @return the first difference in facts or state; empty when there is none
     */
    String catchUpWith(SimController other) {
        List<List<Fact>> ours = new ArrayList<>();
        facts.forEach(any -> ours.add(new ArrayList<>()));
        decideUpTo(other.committed, ours);
        tables.commit();
        runs.commit();
        decideUpTo(other.next, ours);
        String difference = "";
        for (int p = 0; p < next.length && difference.isEmpty(); p++) {
            List<Fact> theirs = new ArrayList<>(log.decisions(p));
            theirs.addAll(other.facts.get(p));
            difference = ours.get(p).equals(theirs) ? "" : "decisions of partition " + p + ": " + ours.get(p) + " and " + theirs;
            facts.get(p).addAll(other.facts.get(p));
        }
        messages.addAll(other.messages);
        System.arraycopy(other.committed, 0, committed, 0, committed.length);
        undecided = other.undecided;
        return difference.isEmpty() ? UndoTables.difference(tables.heap(), other.state()) : difference;
    }

    private void decideUpTo(long[] offsets, List<List<Fact>> decided) {
        for (int p = 0; p < next.length; p++) {
            while (next[p] < offsets[p]) {
                Input input = new Input.Recorded(p, next[p], log.events(p).get((int) next[p]), 0);
                decided.get(p).addAll(core.step(kept, input).facts());
                kept.flush();
                next[p]++;
            }
        }
    }

    /** This instance as it is now, in the middle of its transaction, with its commands going elsewhere. */
    SimController twin(Limits limits, Consumer<Command> to) {
        return new SimController(log, limits, next, to, new HeapTables(tables.heap()), new SimRuns(runs));
    }

    /** The state, uncommitted changes included. */
    public HeapTables state() {
        return tables.heap();
    }

    /** Rows that were written and deleted since the last commit, oldest first. */
    public List<UndoTables.Touched<?, ?>> touched() {
        return tables.touched();
    }

    /** Events of a partition that were not taken yet. */
    public int behind(int partition) {
        return (int) (log.events(partition).size() - next[partition]);
    }

    /** Offset of the event that is taken next. */
    long position(int partition) {
        return next[partition];
    }

    /** Events taken since the last commit. */
    public int uncommitted() {
        return undecided;
    }

    /** Where the last commit stands. */
    long[] offsets() {
        return committed.clone();
    }

    /** Takes the next event of a partition, and answers with what was decided. */
    DecideResult take(int partition) {
        long offset = next[partition];
        Event event = log.events(partition).get((int) offset);
        DecideResult decided = core.step(kept, new Input.Recorded(partition, offset, event, 0), outbox);
        // After each input and not only before the commit, since the checks look at all rows.
        kept.flush();
        next[partition]++;
        undecided++;
        facts.get(partition).addAll(decided.facts());
        messages.addAll(decided.messages());
        return decided;
    }

    /** The transaction ends well; {@code onFact} sees each decision as it comes onto the log. */
    void commit(FactListener onFact) {
        tables.commit();
        runs.commit();
        for (int p = 0; p < facts.size(); p++) {
            for (Fact fact : facts.get(p)) {
                log.decisions(p).add(fact);
                onFact.committed(p, log.decisions(p).size() - 1, fact);
            }
            facts.get(p).clear();
        }
        messages.forEach(outgoing -> log.tell(outgoing.message()));
        messages.clear();
        System.arraycopy(next, 0, committed, 0, next.length);
        undecided = 0;
    }

    /** The transaction is undone; its events will be taken again. */
    void abort() {
        tables.abort();
        runs.abort();
        kept = kept();
        facts.forEach(List::clear);
        messages.clear();
        System.arraycopy(committed, 0, next, 0, next.length);
        undecided = 0;
    }

    /** Receives decisions. */
    @FunctionalInterface
    interface FactListener {
        void committed(int partition, long offset, Fact fact);
    }
}
