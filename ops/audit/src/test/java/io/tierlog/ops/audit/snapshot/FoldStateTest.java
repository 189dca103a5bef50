/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.invariant.FoldBytes;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowImage;
import io.tierlog.ops.simulation.swarm.RandomLog;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random histories of the simulator with every kind of fault: a fold that goes on from saved state ends as one that read everything. */
class FoldStateTest {
    /** Places of each partition at which state is saved. */
    private static final int CUTS = 25;

    private record Place<T>(long offset, T record) {}

    private static final class Recorded implements World.Watcher {
        private final Map<Integer, List<Place<Event>>> events = new TreeMap<>();
        private final Map<Integer, List<Place<Fact>>> decisions = new TreeMap<>();

        @Override
        public void appended(int partition, long offset, Event event) {
            events.computeIfAbsent(partition, p -> new ArrayList<>()).add(new Place<>(offset, event));
        }

        @Override
        public void committed(int partition, long offset, Fact fact) {
            decisions.computeIfAbsent(partition, p -> new ArrayList<>()).add(new Place<>(offset, fact));
        }
    }

    /** The folds of one partition, and how far they are. */
    private static final class Folds {
        private final List<String> findings = new ArrayList<>();
        private final LogInvariants invariants = new LogInvariants(violation -> findings.add(violation.toString()));
        private final HeapTables tables = new HeapTables();
        private final int partition;
        private int nextEvent;

        Folds(int partition) {
            this.partition = partition;
        }

        /** Takes up what {@code bytes} hold. */
        Folds(int partition, int nextEvent, byte[] bytes) throws IOException {
            this(partition);
            this.nextEvent = nextEvent;
            try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
                RowImage.read(in, tables);
                invariants.state(partition, FoldBytes.from(in));
                assertEquals(-1, in.read(), "all of it was read");
            }
        }

        byte[] bytes() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (DataOutputStream out = new DataOutputStream(bytes)) {
                RowImage.write(tables, out);
                invariants.state(partition, FoldBytes.to(out));
            }
            return bytes.toByteArray();
        }

        void decision(List<Place<Event>> events, Place<Fact> decision) {
            long cause = LogInvariants.causeOffset(decision.record());
            while (nextEvent < events.size() && events.get(nextEvent).offset() <= cause) {
                Place<Event> event = events.get(nextEvent++);
                invariants.event(partition, event.offset(), event.record());
            }
            invariants.decision(partition, decision.offset(), decision.record());
            Core.evolve(tables, decision.record());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23})
    void aFoldThatGoesOnFromSavedStateEndsAsOneThatReadAll(long seed) throws IOException {
        Recorded log = new Recorded();
        RandomLog.run(seed, log);
        int cuts = 0;
        for (Map.Entry<Integer, List<Place<Fact>>> one : log.decisions.entrySet()) {
            int partition = one.getKey();
            List<Place<Fact>> decisions = one.getValue();
            List<Place<Event>> events = log.events.getOrDefault(partition, List.of());
            Folds all = new Folds(partition);
            List<Folds> parts = new ArrayList<>();
            for (int i = 0; i < decisions.size(); i++) {
                boolean between = i > 0 && LogInvariants.causeOffset(decisions.get(i).record())
                        > LogInvariants.causeOffset(decisions.get(i - 1).record());
                if (between && i >= (long) parts.size() * decisions.size() / CUTS) {
                    byte[] state = all.bytes();
                    Folds goesOn = new Folds(partition, all.nextEvent, state);
                    assertArrayEquals(state, goesOn.bytes(), "what was read is what was written, before decision " + i);
                    goesOn.findings.addAll(all.findings);
                    parts.add(goesOn);
                    cuts++;
                }
                all.decision(events, decisions.get(i));
                for (Folds part : parts) {
                    part.decision(events, decisions.get(i));
                }
            }
            byte[] end = all.bytes();
            all.invariants.atEnd(true);
            for (Folds part : parts) {
                assertArrayEquals(end, part.bytes(), "partition " + partition);
                part.invariants.atEnd(true);
                assertEquals(all.findings, part.findings, "partition " + partition);
                assertEquals(all.invariants.counts(), part.invariants.counts());
            }
        }
        assertTrue(cuts > 10, cuts + " places");
    }
}
