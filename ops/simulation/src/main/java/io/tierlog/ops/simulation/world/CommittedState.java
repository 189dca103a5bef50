/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowImage;
import io.tierlog.schemas.decision.Fact;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * What restoring comes to: all committed decisions, folded once each, in the order in which they came onto the log. An instance that starts begins
 * from a snapshot and the decisions after it, and the state of the one that runs is held against the fold at each commit (I13). For one thread.
 */
final class CommittedState {
    /** Decisions between snapshots: some scenarios restart after each decision, and a snapshot costs as much as many. */
    private static final int SNAPSHOT_DECISIONS = 100;

    private final SimLog log;
    private final UndoTables tables = new UndoTables();
    private final int[] folded;
    private final int[] snapshotEnds;
    private byte[] snapshot = {};
    private SimRuns runs = new SimRuns();

    CommittedState(SimLog log) {
        this.log = log;
        this.folded = new int[log.partitions()];
        this.snapshotEnds = new int[log.partitions()];
    }

    /** The rows as of the last commit; not to be written to. */
    HeapTables rows() {
        return tables.heap();
    }

    /** The placements as instances have stored them: what the next one restores. */
    SimRuns runs() {
        return runs;
    }

    /** Another instance, which has stored the same in its own way, takes over. */
    void storedIn(SimRuns others) {
        runs = others;
    }

    /**
     * Rows of one's own, as of the last commit. After enough decisions they come from the last snapshot and the decisions behind it, as when all
     * before it was trimmed, and the next snapshot is of now.
     *
     * @throws IllegalStateException when they differ from the fold of all decisions (I13)
     */
    HeapTables restored() {
        if (Arrays.stream(folded).sum() - Arrays.stream(snapshotEnds).sum() < SNAPSHOT_DECISIONS) {
            return new HeapTables(tables.heap());
        }
        HeapTables rows = new HeapTables();
        try {
            if (snapshot.length > 0) {
                RowImage.read(new DataInputStream(new ByteArrayInputStream(snapshot)), rows);
            }
            for (int p = 0; p < folded.length; p++) {
                log.decisions(p).subList(snapshotEnds[p], folded[p]).forEach(decision -> Core.evolve(rows, decision));
            }
            requireEqual(rows);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            RowImage.write(rows, new DataOutputStream(bytes));
            snapshot = bytes.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException("I13: a snapshot cannot be read: " + e.getMessage(), e);
        }
        System.arraycopy(folded, 0, snapshotEnds, 0, folded.length);
        return rows;
    }

    /**
     * Folds what has been committed since the last time, and compares what it touched.
     *
     * @param state of the instance that has committed
     * @param touched rows that it has touched since the commit before
     * @throws IllegalStateException when the state is not the fold of the decisions
     */
    void follow(HeapTables state, List<UndoTables.Touched<?, ?>> touched) {
        for (int p = 0; p < folded.length; p++) {
            List<Fact> decisions = log.decisions(p);
            while (folded[p] < decisions.size()) {
                Core.evolve(tables, decisions.get(folded[p]++));
            }
        }
        requireSame(touched, state);
        requireSame(tables.touched(), state);
        tables.commit();
    }

    private void requireSame(List<UndoTables.Touched<?, ?>> touched, HeapTables state) {
        for (UndoTables.Touched<?, ?> one : touched) {
            require(one.difference(state, tables.heap()));
        }
    }

    /**
     * Compares all rows, touched or not.
     *
     * @throws IllegalStateException when the state is not the fold of the decisions
     */
    void requireEqual(HeapTables state) {
        require(UndoTables.difference(state, tables.heap()));
    }

    private static void require(String difference) {
        if (!difference.isEmpty()) {
            throw new IllegalStateException("I13: the state is not the fold of the decisions: " + difference);
        }
    }
}
