/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.PromotionReply;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * cases/exist-promote.md through the directory and the core of the controller together, in virtual time: log time and the directory's clock are the
 * same. The core decides to the millisecond; what the directory keeps back makes the next promotion later by one second at most.
 */
class ProbesToCoreTest {
    private static final int KEYS = 954;
    private static final PromotionPolicy POLICY = new PromotionPolicy(true, 4, 32, 1_024, 30_000, 5_000);

    /** Cost: 954 keys probed 20 times a second for 10 s: 8 batches, not 200 times 8; 954 blocks promoted once, and then nothing is asked any more. */
    @Test
    void thousandKeysProbedTwentyTimesASecondAreWorkOnce() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, KEYS)) {
            node.takesMs(100);
            for (int i = 0; i < 200; i++) {
                node.probe(0, KEYS);
                node.advance(50);
            }
            assertEquals(8, node.requests());
            assertEquals(KEYS, node.started());
            assertEquals(KEYS, node.onHost());
        }
    }

    /** The same while all are in dedup, since they left the host: the core is asked once a second, begins nothing, and only then again. */
    @Test
    void whatIsInDedupIsAskedForOnceASecondAndStartsNothing() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, KEYS)) {
            node.takesMs(10);
            node.probe(0, KEYS);
            node.advance(1_000);
            assertEquals(KEYS, node.onHost());
            node.evict();
            for (int i = 0; i < 200; i++) {
                node.probe(0, KEYS);
                node.advance(50);
            }
            assertEquals(8 + 10 * 8, node.requests());
            assertEquals(KEYS, node.started());
            assertEquals(PromotionReply.DUPLICATE, node.lastReply());
        }
    }

    /** One promotion: 1,000 probes of one key in 30 s are one, wherever the copy goes meanwhile. */
    @Test
    void thousandProbesOfOneKeyAreOnePromotion() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 1)) {
            for (int i = 0; i < 1_000; i++) {
                node.probe(0, 1);
                node.advance(30);
                if (i == 100) {
                    node.evict();
                }
            }
            assertEquals(1, node.started());
        }
    }

    /** G1: refused for a full queue at 10: a probe starts again from 5,011 on, 6,010 at the latest, and not after 30 s. */
    @Test
    void afterARefusalAProbeStartsAgainAfterTheCooldown() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 1)) {
            node.takesMs(10);
            node.refuses(OperationReason.QUEUE_FULL);
            node.probe(0, 1);
            node.advance(20);
            long first = node.lastStartMs();
            long next = next(node);
            assertTrue(next > first + 10 + 5_000 && next <= first + 10 + 5_001 + 1_000, () -> "began " + first + ", and again " + next);
        }
    }

    /** G3: ttl 1,000, transfer 3,000: nothing starts before 4,001, and something does within the second after it. */
    @Test
    void theTimeToLiveCountsFromTheEnd() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(new PromotionPolicy(true, 4, 32, 1_024, 1_000, 5_000), 1)) {
            node.takesMs(3_000);
            node.probe(0, 1);
            long first = node.lastStartMs();
            for (int i = 0; i < 150; i++) {
                node.probe(0, 1);
                node.advance(20);
            }
            assertEquals(1, node.onHost());
            node.evict();
            long next = next(node);
            assertTrue(next > first + 4_000 && next <= first + 4_001 + 1_000, () -> "began " + first + ", and again " + next);
        }
    }

    /** Out of memory at t: cooldown to t + 5,000; a probe starts again after it. */
    @Test
    void withoutMemoryNothingBeginsUntilTheCooldownIsOver() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 3)) {
            node.takesMs(2);
            node.refuses(OperationReason.NO_ROOM);
            node.probe(0, 3);
            node.advance(10);
            long first = node.lastStartMs();
            node.probe(0, 3);
            long next = next(node);
            assertTrue(next > first + 2 + 5_000 && next <= first + 2 + 5_001 + 1_000, () -> "began " + first + ", and again " + next);
        }
    }

    /** Two nodes are wanted by name, and only the one that has it on its disk is asked, though it is in memory elsewhere. */
    @Test
    void aNodeThatIsNamedIsAskedWhateverOthersHave() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 2)) {
            node.elsewhereInMemory();
            node.probe(0, 2);
            assertEquals(0, node.started());
            node.probe(0, 2, List.of("nobody"));
            assertEquals(0, node.started());
            node.probe(0, 2, List.of(ProbedNode.NODE));
            assertEquals(2, node.started());
        }
    }

    /** Probes every 20 ms until something begins. */
    private static long next(ProbedNode node) throws InterruptedException {
        long before = node.started();
        for (int i = 0; i < 1_000 && node.started() == before; i++) {
            node.probe(0, 1);
            if (node.started() == before) {
                node.advance(20);
            }
        }
        return node.lastStartMs();
    }
}
