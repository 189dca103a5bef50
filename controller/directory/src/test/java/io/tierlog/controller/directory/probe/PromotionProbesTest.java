/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.probe.ProbeCounts.End;
import io.tierlog.controller.directory.probe.ProbeSink.Probe;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.controller.directory.streams.TestAnswers;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.PromotionAnswered;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What is asked for when blocks are probed: only what is on a disk alone, once in a while, in bounded batches. */
class PromotionProbesTest {
    private static final ProbeLimits LIMITS = new ProbeLimits(128, 1_000, 30_000, 30_000, 60_000, 100, 10_000);

    private final Map<Integer, List<Location>> places = new LinkedHashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final AtomicLong nowMs = new AtomicLong(1_000);
    private final AtomicBoolean failing = new AtomicBoolean();

    private void at(int block, String node, Tier tier) {
        places.computeIfAbsent(block, _ -> new ArrayList<>()).add(new Location("node/" + node, tier));
    }

    private PromotionProbes probes(ProbeLimits limits) {
        return new PromotionProbes(this::request, limits, question -> Optional.of(answer(question)), nowMs::get);
    }

    private void request(String node, String namespace, List<PromotionRequests.Wanted> blocks) {
        if (failing.get()) {
            throw new IllegalStateException("the log does not answer");
        }
        synchronized (asked) {
            asked.add(node + " " + namespace + " " + blocks.size() + " from " + blocks.getFirst().index());
        }
    }

    private KeyAnswers answer(KeyQuery question) {
        List<Found> found = new ArrayList<>();
        for (int i = 0; i < question.count(); i++) {
            byte[] key = Arrays.copyOfRange(question.keys(), i * 16, i * 16 + 16);
            List<BlockPlacement> placed = new ArrayList<>();
            places.forEach((block, locations) -> {
                if (Arrays.equals(PlacementLog.key(block).unshared(), key)) {
                    locations.forEach(location -> placed.add(new BlockPlacement(location, 1, block, 1)));
                }
            });
            found.add(new Found(placed.isEmpty() ? Presence.NOT_FOUND : Presence.FOUND, placed));
        }
        return TestAnswers.of(question, found);
    }

    private static Probe probe(int first, int count) {
        byte[] keys = new byte[count * 16];
        for (int i = 0; i < count; i++) {
            System.arraycopy(PlacementLog.key(first + i).unshared(), 0, keys, i * 16, 16);
        }
        return new Probe("router", "model/a", keys, 16, first);
    }

    /** All that was asked for, once all probes are looked at. */
    private List<String> after(PromotionProbes probes, Runnable what) throws InterruptedException {
        what.run();
        CountDownLatch looked = new CountDownLatch(1);
        probes.afterAll(looked::countDown);
        looked.await();
        synchronized (asked) {
            List<String> all = List.copyOf(asked);
            asked.clear();
            return all;
        }
    }

    @Test
    void whatIsInMemoryOrNowhereStartsNothing() throws InterruptedException {
        at(0, "a", Tier.DISK);
        at(0, "b", Tier.HOST);
        at(1, "a", Tier.DEVICE);
        at(2, "a", Tier.DISK);
        at(2, "a", Tier.HOST);
        at(4, "b", Tier.DISK);
        at(4, "a", Tier.DISK);
        try (PromotionProbes probes = probes(LIMITS)) {
            // 0, 1 and 2 are in a memory, 3 is nowhere, 4 is on two disks and asked for on one.
            assertEquals(List.of("a model/a 1 from 4"), after(probes, () -> probes.probe(probe(0, 5), List.of())));
            // On a, block 0 is on the disk alone, whatever b has.
            assertEquals(List.of("a model/a 1 from 0"), after(probes, () -> probes.probe(probe(0, 5), List.of("a"))));
            assertEquals(List.of("b model/a 1 from 4"), after(probes, () -> probes.probe(probe(0, 5), List.of("b", "c"))));
        }
    }

    /** b has blocks 0 to 2 of the chain and a only 2: 2 comes where the others are. What b does not have comes on a. */
    @Test
    void aBlockOfSeveralDisksComesWhereMostOfTheChainIs() throws InterruptedException {
        at(0, "b", Tier.HOST);
        at(1, "b", Tier.DISK);
        at(2, "a", Tier.DISK);
        at(2, "b", Tier.DISK);
        at(3, "a", Tier.DISK);
        try (PromotionProbes probes = probes(LIMITS)) {
            assertEquals(List.of("b model/a 2 from 1", "a model/a 1 from 3"), after(probes, () -> probes.probe(probe(0, 4), List.of())));
        }
    }

    /** Two disks have the same: the one that was asked for less lately has the next, and nothing is asked of the other for the same block. */
    @Test
    void ofEqualDisksTheLessAskedHasTheNext() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            at(i, "a", Tier.DISK);
            at(i, "b", Tier.DISK);
        }
        try (PromotionProbes probes = probes(LIMITS)) {
            assertEquals(List.of("a model/a 1 from 0"), after(probes, () -> probes.probe(probe(0, 1), List.of())));
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(0, 1), List.of())));
            assertEquals(List.of("b model/a 2 from 1"), after(probes, () -> probes.probe(probe(1, 2), List.of())));
            nowMs.addAndGet(30_000);
            // What was asked long ago is no load.
            assertEquals(List.of("a model/a 1 from 2"), after(probes, () -> probes.probe(probe(2, 1), List.of())));
        }
    }

    /** Both disks have it, and a replies that it begins nothing for 20 s: b is asked when the second of a is over, and a not before its time is. */
    @Test
    void whatOneNodeWillNotHaveIsAskedOfAnother() throws InterruptedException {
        at(0, "a", Tier.DISK);
        at(0, "b", Tier.DISK);
        try (PromotionProbes probes = probes(new ProbeLimits(128, 1_000, 1_000, 4_000, 60_000, 100, 10_000))) {
            assertEquals(List.of("a model/a 1 from 0"), after(probes, () -> probes.probe(probe(0, 1), List.of())));
            probes.answered(answer("node/a", PromotionReply.COOLDOWN, 20_000));
            // Not about a node: nothing to be kept back.
            probes.answered(answer("store/0", PromotionReply.COOLDOWN, 20_000));
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(0, 1), List.of())));
            nowMs.addAndGet(1_000);
            assertEquals(List.of("b model/a 1 from 0"), after(probes, () -> probes.probe(probe(0, 1), List.of())));
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(0, 1), List.of("a"))));
            nowMs.addAndGet(18_999);
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(0, 1), List.of("a"))));
            nowMs.addAndGet(1);
            assertEquals(List.of("a model/a 1 from 0"), after(probes, () -> probes.probe(probe(0, 1), List.of("a"))));
        }
    }

    /** b was never asked here: its replies to others count too, a minute at the longest. */
    @Test
    void repliesToOthersCount() throws InterruptedException {
        at(0, "b", Tier.DISK);
        try (PromotionProbes probes = probes(new ProbeLimits(128, 1_000, 1_000, 4_000, 60_000, 100, 10_000))) {
            probes.answered(answer("node/b", PromotionReply.DUPLICATE, 3_600_000));
            nowMs.addAndGet(59_999);
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(0, 1), List.of())));
            nowMs.addAndGet(1);
            assertEquals(List.of("b model/a 1 from 0"), after(probes, () -> probes.probe(probe(0, 1), List.of())));
        }
    }

    private static PromotionAnswered answer(String aggregate, PromotionReply reply, long retryMs) {
        Block block = new Block(0, PlacementLog.key(0), Bytes.EMPTY);
        return new PromotionAnswered(new Envelope(aggregate, "controller/0", 1, 1, 0, 0, "0@1", null, null), "d/1", "model/a",
                List.of(new PromotionAnswer(reply, List.of(block), retryMs)), 1);
    }

    /** 1,000 probes of one key in 30 s: one request. It may be asked for again 30,000 ms after, and not at 29,999. */
    @Test
    void thousandProbesOfOneKeyAreOneRequest() throws InterruptedException {
        at(7, "a", Tier.DISK);
        try (PromotionProbes probes = probes(LIMITS)) {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                nowMs.set(1_000 + i * 29);
                all.addAll(after(probes, () -> probes.probe(probe(7, 1), List.of())));
            }
            assertEquals(List.of("a model/a 1 from 7"), all);
            nowMs.set(30_999);
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(7, 1), List.of())));
            nowMs.set(31_000);
            assertEquals(1, after(probes, () -> probes.probe(probe(7, 1), List.of())).size());
        }
    }

    @Test
    void aNodeThatIsNamedIsAskedForABlockOnceToo() throws InterruptedException {
        at(7, "a", Tier.DISK);
        try (PromotionProbes probes = probes(LIMITS)) {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                all.addAll(after(probes, () -> probes.probe(probe(7, 1), List.of("a"))));
            }
            assertEquals(List.of("a model/a 1 from 7"), all);
        }
    }

    /** 954 keys: eight batches, of 128 and of 58 at the end; eight of them asked 199 times more are asked for once. */
    @Test
    void manyKeysAreAskedForInBatchesOnce() throws InterruptedException {
        for (int i = 0; i < 954; i++) {
            at(i, "a", Tier.DISK);
        }
        try (PromotionProbes probes = probes(LIMITS)) {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                nowMs.addAndGet(50);
                // The first look is over all keys; later ones over some, since each looks through this test's slow map.
                Probe next = i == 0 ? probe(0, 954) : probe(i * 4, 8);
                all.addAll(after(probes, () -> probes.probe(next, List.of())));
            }
            assertEquals(8, all.size());
            assertEquals("a model/a 128 from 0", all.getFirst());
            assertEquals("a model/a 58 from 896", all.getLast());
        }
    }

    /** 256 blocks of a and one of b: b is not behind both batches of a. */
    @Test
    void manyBlocksOfOneNodeDoNotDelayAnother() throws InterruptedException {
        for (int i = 0; i < 256; i++) {
            at(i, "a", Tier.DISK);
        }
        at(256, "b", Tier.DISK);
        try (PromotionProbes probes = probes(LIMITS)) {
            assertEquals(List.of("a model/a 128 from 0", "b model/a 1 from 256", "a model/a 128 from 128"),
                    after(probes, () -> probes.probe(probe(0, 257), List.of())));
        }
    }

    @Test
    void aRequestThatFailedMayBeMadeAgain() throws InterruptedException {
        at(1, "a", Tier.DISK);
        try (PromotionProbes probes = probes(LIMITS)) {
            failing.set(true);
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(1, 1), List.of())));
            failing.set(false);
            assertEquals(1, after(probes, () -> probes.probe(probe(1, 1), List.of())).size());
        }
    }

    @Test
    void whatIsRememberedIsBoundedAndProbesBeyondTheBoundAreDropped() throws InterruptedException {
        RecentProbes recent = new RecentProbes(new ProbeLimits(1, 3, 1_000, 4_000, 60_000, 1, 10));
        for (int i = 0; i < 10; i++) {
            assertTrue(recent.add("n", PlacementLog.key(i), "a", 5));
        }
        assertEquals(3, recent.size());
        assertFalse(recent.add("n", PlacementLog.key(9), "a", 5));
        assertTrue(recent.add("n", PlacementLog.key(0), "a", 5), "it was forgotten");

        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch hold = new CountDownLatch(1);
        try (PromotionProbes probes = new PromotionProbes(this::request, new ProbeLimits(1, 3, 1_000, 4_000, 60_000, 2, 10), _ -> {
            begun.countDown();
            awaitUninterrupted(hold);
            return Optional.empty();
        })) {
            assertTrue(probes.probe(probe(0, 1), List.of()));
            begun.await();
            assertTrue(probes.probe(probe(0, 1), List.of()));
            assertTrue(probes.probe(probe(0, 1), List.of()));
            assertFalse(probes.probe(probe(0, 7), List.of()));
            assertEquals(7, probes.counts().of(End.DROPPED));
            hold.countDown();
            // The keys of one that was dropped wait no longer.
            PlacementLog.await("space for ten keys", () -> probes.probe(probe(0, 10), List.of()));
        }
    }

    /** Four keys may wait. Three do, so two more do not, and one more does; slots are free again after the lookup. */
    @Test
    void keysThatWaitAreBounded() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch hold = new CountDownLatch(1);
        try (PromotionProbes probes = new PromotionProbes(this::request, new ProbeLimits(1, 3, 1_000, 4_000, 60_000, 100, 4), _ -> {
            begun.countDown();
            awaitUninterrupted(hold);
            return Optional.empty();
        })) {
            assertFalse(probes.probe(probe(0, 5), List.of()));
            assertTrue(probes.probe(probe(0, 3), List.of()));
            begun.await();
            assertFalse(probes.probe(probe(0, 2), List.of()));
            assertTrue(probes.probe(probe(0, 1), List.of()));
            assertFalse(probes.probe(probe(0, 1), List.of()));
            assertEquals(5 + 2 + 1, probes.counts().of(End.DROPPED));
            assertEquals(List.of(), after(probes, hold::countDown));
            assertTrue(probes.probe(probe(0, 4), List.of()));
            assertEquals(8, probes.counts().of(End.DROPPED));
        }
    }

    /** 0 and 1 are asked for; then 0 is kept back, also by name; 2 is in memory and 3 nowhere, so nothing is to be done, and nothing is counted. */
    @Test
    void whatBecomesOfBlocksIsCounted() throws InterruptedException {
        at(0, "a", Tier.DISK);
        at(1, "a", Tier.DISK);
        at(2, "a", Tier.HOST);
        try (PromotionProbes probes = probes(LIMITS)) {
            after(probes, () -> probes.probe(probe(0, 4), List.of()));
            assertEquals(List.of(2L, 0L, 0L, 0L), counted(probes));
            after(probes, () -> probes.probe(probe(0, 1), List.of()));
            after(probes, () -> probes.probe(probe(0, 1), List.of("a")));
            assertEquals(List.of(2L, 2L, 0L, 0L), counted(probes));
            nowMs.addAndGet(30_000);
            failing.set(true);
            after(probes, () -> probes.probe(probe(0, 2), List.of()));
            assertEquals(List.of(2L, 2L, 0L, 2L), counted(probes));
        }
    }

    private static List<Long> counted(PromotionProbes probes) {
        return Arrays.stream(End.values()).map(probes.counts()::of).toList();
    }

    /** No shard can answer, and then the request fails: both are counted, and the next probe is looked at as if nothing had been. */
    @Test
    void aLookThatFailsIsCountedAndTheNextIsMade() throws InterruptedException {
        at(0, "a", Tier.DISK);
        AtomicInteger looks = new AtomicInteger();
        try (PromotionProbes probes = new PromotionProbes(this::request, LIMITS, question -> switch (looks.incrementAndGet()) {
            case 1 -> Optional.empty();
            case 2 -> throw new IllegalStateException("the index is closed");
            default -> Optional.of(answer(question));
        }, nowMs::get)) {
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(0, 3), List.of())));
            assertEquals(List.of(0L, 0L, 0L, 3L), counted(probes));
            assertEquals(List.of(), after(probes, () -> probes.probe(probe(0, 4), List.of())));
            assertEquals(List.of(0L, 0L, 0L, 7L), counted(probes));
            assertEquals(List.of("a model/a 1 from 0"), after(probes, () -> probes.probe(probe(0, 1), List.of())));
            assertEquals(List.of(1L, 0L, 0L, 7L), counted(probes));
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
