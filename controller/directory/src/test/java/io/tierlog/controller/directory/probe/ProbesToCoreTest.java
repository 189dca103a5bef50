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
 * same. The core decides to the millisecond and reports for how long it will begin nothing; the directory requests again at the first probe after
 * that.
 */
class ProbesToCoreTest {
    private static final int KEYS = 954;
    private static final int STEP_MS = 20;
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

    /**
     * The same while all are in dedup, since they left the host: the core gets one request, reports for how long, and gets no other in those 10 s.
     */
    @Test
    void whatIsInDedupIsWorkOnceToo() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, KEYS)) {
            leftTheHost(node);
            for (int i = 0; i < 200; i++) {
                node.probe(0, KEYS);
                node.advance(50);
            }
            assertEquals(8 + 8, node.requests());
            assertEquals(KEYS, node.started());
            assertEquals(PromotionReply.DUPLICATE, node.lastReply());
        }
    }

    /** Replies are lost: the core is asked after 0, 1, 3 and 7 s, so 4 times in 10 s, and the core begins nothing all the same. */
    @Test
    void unheardItIsAskedLessAndLess() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, KEYS)) {
            leftTheHost(node);
            node.goesUnheard();
            for (int i = 0; i < 200; i++) {
                node.probe(0, KEYS);
                node.advance(50);
            }
            assertEquals(8 + 4 * 8, node.requests());
            assertEquals(KEYS, node.started());
        }
    }

    /** A full host replies PRESSURE, and not for how long: asked after 0, 1, 3, 7, 11, 15 and 19 s of 20. */
    @Test
    void aFullHostIsAskedLessAndLess() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, KEYS, 0)) {
            for (int i = 0; i < 400; i++) {
                node.probe(0, KEYS);
                node.advance(50);
            }
            assertEquals(7 * 8, node.requests());
            assertEquals(0, node.started());
            assertEquals(PromotionReply.PRESSURE, node.lastReply());
        }
    }

    /**
     * The agent has no memory for the first of four operations of 32: 96 blocks come, and 858 are cancelled for 5 s. They are requested when the
     * second of the probe is over, gets a reply with the time, and is requested again after it: 8 + 7 + 7 batches, the last of which begin all.
     */
    @Test
    void whatIsInCooldownIsAskedOnceUntilItIsOver() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, KEYS)) {
            node.takesMs(2);
            node.refuses(OperationReason.NO_ROOM);
            for (int i = 0; i < 200; i++) {
                node.probe(0, KEYS);
                node.advance(50);
            }
            assertEquals(8 + 7 + 7, node.requests());
            assertEquals(KEYS, node.onHost());
        }
    }

    /** A promotion that takes 20 s is looked after once a second, since it may fail at any time. */
    @Test
    void whatIsUnderWayIsLookedAfterOnceASecond() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 1)) {
            node.takesMs(20_000);
            for (int i = 0; i < 200; i++) {
                node.probe(0, 1);
                node.advance(50);
            }
            assertEquals(10, node.requests());
            assertEquals(PromotionReply.JOINED, node.lastReply());
        }
    }

    /** Refused at 10 for a full queue: the cooldown of 5 s holds, and a probe starts again at most so long after it. */
    private static void startsAgainAfterTheCooldown(ProbedNode node, long withinMs) throws InterruptedException {
        node.takesMs(10);
        node.refuses(OperationReason.QUEUE_FULL);
        node.probe(0, 1);
        node.advance(20);
        long first = node.lastStartMs();
        long next = next(node);
        assertTrue(next > first + 10 + 5_000 && next <= first + 10 + 5_001 + withinMs, () -> "began " + first + ", and again " + next);
    }

    /** All were promoted, and have left the host a second later. */
    private static void leftTheHost(ProbedNode node) throws InterruptedException {
        node.takesMs(10);
        node.probe(0, KEYS);
        node.advance(1_000);
        assertEquals(KEYS, node.onHost());
        node.evict();
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

    /** G1: refused for a full queue at 10: the next probe after 5,010 starts again; one comes every 20 ms. */
    @Test
    void afterARefusalAProbeStartsAgainAfterTheCooldown() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 1)) {
            startsAgainAfterTheCooldown(node, STEP_MS);
        }
    }

    /** The same with lost replies: it is asked after 1, 3 and 7 s, so again within 4 s. */
    @Test
    void unheardAProbeStartsAgainWithinFourSeconds() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 1)) {
            node.goesUnheard();
            startsAgainAfterTheCooldown(node, 4_000);
        }
    }

    /** G3: ttl 1,000, transfer 3,000: nothing starts before 4,001, and the next probe does. */
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
            assertTrue(next > first + 4_000 && next <= first + 4_001 + STEP_MS, () -> "began " + first + ", and again " + next);
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
            assertTrue(next > first + 2 + 5_000 && next <= first + 2 + 5_001 + STEP_MS, () -> "began " + first + ", and again " + next);
        }
    }

    /** Two nodes are wanted by name, and only the one that has it on its disk is asked, though it is in memory elsewhere. */
    @Test
    void aNodeThatIsNamedIsAskedWhateverOthersHave() throws InterruptedException {
        try (ProbedNode node = new ProbedNode(POLICY, 2)) {
            node.elsewhereInMemory();
            node.probe(0, 2);
            assertEquals(0, node.started());
            node.probe(0, 2, List.of("missing"));
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
                node.advance(STEP_MS);
            }
        }
        return node.lastStartMs();
    }
}
