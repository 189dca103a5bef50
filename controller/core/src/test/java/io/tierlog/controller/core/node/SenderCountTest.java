/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.event.Event;
import org.junit.jupiter.api.Test;

/** An agent's events apply in their count: none is missing, and each carries the checksum of the one before. */
class SenderCountTest {
    private final World w = new World();
    private final Agent a = w.register("a", 10);
    private long offset = 1_000;

    @Test
    void anEventAfterAMissingOneIsRefused() {
        Event missing = a.heartbeat();
        Event next = a.heartbeat();
        assertRefused(RefusalReason.SEQUENCE_GAP, append(next, 0, 7));
        assertEquals("InputRefused", w.factNames());

        append(missing, 0, 6);
        assertEquals("NodeSeen", w.factNames(), "what was refused took no number");
        append(next, 6, 7);
        assertEquals("NodeSeen", w.factNames());
    }

    @Test
    void anEventWithAnotherChecksumIsRefused() {
        append(a.heartbeat(), 0, 5);
        assertEquals("NodeSeen", w.factNames());
        Event next = a.heartbeat();

        assertRefused(RefusalReason.CHECKSUM_MISMATCH, append(next, 4, 9));
        assertEquals("InputRefused", w.factNames());
        append(next, 5, 9);
        assertEquals("NodeSeen", w.factNames(), "what was refused changed no checksum");
        assertRefused(RefusalReason.CHECKSUM_MISMATCH, append(a.heartbeat(), 5, 9));
    }

    /** The agent stays silent for the controller, whose next ticks end the epoch; then the same process may register again. */
    @Test
    void aMissingEventEndsTheEpoch() {
        a.heartbeat();
        for (int i = 0; i <= World.POLICY.nodeTimeoutTicks() && w.node(a).alive(); i++) {
            assertRefused(RefusalReason.SEQUENCE_GAP, append(a.heartbeat(), 0, 0));
            w.tick();
        }
        assertFalse(w.node(a).alive());
        assertEquals(RemovalReason.NODE_LOST, w.fact(NodeEnded.class).reason());

        append(a.registering(), 0, 8);
        assertEquals(2, w.node(a).incarnation());
        a.incarnation = 2;
        append(a.heartbeat(), 8, 9);
        assertEquals("NodeSeen", w.factNames());
    }

    /** With a node timeout of 0 no silence ends the epoch: the gap itself does, or the process would be refused for ever. */
    @Test
    void aMissingEventEndsAnEpochThatNoSilenceEnds() {
        Policy p = World.POLICY;
        w.policy(new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), p.hostHighMark(), p.hostLowMark(), p.diskHighMark(), p.diskLowMark(),
                p.copyToDisk(), p.reliefBatchBlocks(), p.operationTimeoutMs(), p.leaseMs(), 0, p.backUp(), null, null));
        a.heartbeat();

        assertRefused(RefusalReason.SEQUENCE_GAP, append(a.heartbeat(), 0, 0));

        assertEquals("InputRefused NodeEnded", w.factNames());
        assertEquals(0, w.command(FenceAgent.class).currentIncarnation());
        append(a.registering(), 0, 8);
        assertEquals(2, w.node(a).incarnation());
    }

    @Test
    void aSecondRegistrationOfAnEpochFollowsItsLastEvent() {
        a.heartbeat();
        assertRefused(RefusalReason.SEQUENCE_GAP, append(a.registering(), 0, 0));
        assertEquals(1, w.node(a).incarnation());
    }

    /** Appends an event whose envelope carries one checksum and whose bytes have another. */
    private DecideResult append(Event event, int previousCrc32c, int crc32c) {
        Envelope e = event.envelope();
        Event chained = event.withEnvelope(
                new Envelope(e.aggregate(), e.sender(), e.incarnation(), e.sequence(), previousCrc32c, 0, null, null, null));
        return w.input(new Input.Recorded(0, ++offset, chained, crc32c));
    }
}
