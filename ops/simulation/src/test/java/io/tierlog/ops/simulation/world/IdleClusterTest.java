/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;

/** 100 nodes on 6 partitions that have nothing to do write little: events, decisions and the batches around them, before compression. */
class IdleClusterTest {
    private static final int NODES = 100;
    private static final int MINUTES = 5;

    /** Head of a batch: each event is in one of its own, and the decisions of one commit are. */
    private static final int BATCH_BYTES = 61;

    /** Lengths, time and offset of a record, its key, and the schema's frame. */
    private static final int RECORD_BYTES = 8 + 12 + 5;

    /** The end of a transaction in one partition. */
    private static final int MARKER_BYTES = 78;

    private static final class Bytes implements World.Watcher {
        private long events;
        private long decisions;
        private int records;
        private int last = -1;

        @Override
        public void appended(int partition, long offset, Event event) {
            events += BATCH_BYTES + RECORD_BYTES + of(event);
            records++;
        }

        @Override
        public void committed(int partition, long offset, Fact fact) {
            decisions += RECORD_BYTES + of(fact) + (partition == last ? 0 : BATCH_BYTES + MARKER_BYTES);
            last = partition;
        }

        private static long of(WireRecord record) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try {
                Encoder out = EncoderFactory.get().directBinaryEncoder(bytes, null);
                record.encode(out);
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return bytes.size();
        }
    }

    @Test
    void aMinuteOfAnIdleClusterIsUnderAMegabyte() {
        List<SimNode.Spec> specs = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            specs.add(new SimNode.Spec("node-" + i, 64, 64, new Engine.Config(8, 0, true, 64, 8, 16, List.of(), 0)));
        }
        World world = new World(
                new WorldSettings(1, 16, 1, false, 64, Policies.INITIAL, AgentLimits.defaults(), Limits.of(6), 1_000, false), specs);
        world.startController();
        world.nodes().forEach(SimNode::start);
        world.advance(10_000);
        Bytes written = new Bytes();
        world.watch(written);
        world.advance(MINUTES * 60_000L);

        long perMinute = (written.events + written.decisions) / MINUTES;
        assertTrue(perMinute < 1_000_000, () -> perMinute + " bytes a minute in " + written.records / MINUTES + " events and what they led to");
        assertTrue(world.nodes().stream().allMatch(node -> node.process() != null && node.process().status().incarnation() == 1),
                "no node was declared lost");
    }
}
