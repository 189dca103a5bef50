/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.queue.UnitQueue.Load;
import io.tierlog.agent.queue.UnitQueue.Unit;
import io.tierlog.threads.ThreadFaults;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread, capacity for 10 blocks or 100 bytes. */
@Timeout(60)
class UnitQueueTest {
    private final UnitQueue queue = new UnitQueue("test", 1, new Load(10, 100));
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @AfterEach
    void close() {
        goOn.countDown();
        queue.close();
    }

    @Test
    void aUnitIsCutIntoPiecesAndEndsOnceAfterTheLast() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        assertTrue(queue.submit(new Unit(7, 3, new Load(7, 70)), this::note, () -> {
            calls.add("ended");
            ended.countDown();
        }));
        await(ended);
        assertEquals(List.of("0-3 true", "3-6 true", "6-7 true", "ended"), calls);
    }

    @Test
    void aUnitOfNothingEndsAtOnce() {
        assertTrue(queue.submit(new Unit(0, 3, Load.NONE), this::note, () -> calls.add("ended")));
        assertEquals(List.of("ended"), calls);
    }

    @Test
    void blocksAndBytesOfUnitsNotEndedBoundIt() throws Exception {
        assertTrue(hold(new Load(4, 60)));
        assertFalse(queue.submit(new Unit(1, 1, new Load(7, 1)), this::note, this::failEnded), "4 + 7 of 10 blocks");
        assertFalse(queue.submit(new Unit(1, 1, new Load(1, 41)), this::note, this::failEnded), "60 + 41 of 100 bytes");
        CountDownLatch ended = new CountDownLatch(2);
        assertTrue(queue.submit(new Unit(1, 1, new Load(6, 40)), this::note, ended::countDown), "exactly full");
        assertFalse(queue.submit(new Unit(1, 1, new Load(1, 0)), this::note, this::failEnded));
        assertTrue(queue.submit(Unit.OWN, this::note, ended::countDown), "work of its own takes nothing");
        goOn.countDown();
        await(ended);
        CountDownLatch again = new CountDownLatch(1);
        assertTrue(queue.submit(new Unit(1, 1, new Load(10, 100)), this::note, again::countDown), "there is capacity again");
        await(again);
    }

    /** Otherwise blocks larger than the bound could never move. */
    @Test
    void aSingleUnitMayHaveMoreBytes() throws Exception {
        assertTrue(hold(new Load(1, 1_000)));
        assertFalse(queue.submit(new Unit(1, 1, new Load(1, 1)), this::note, this::failEnded));
    }

    @Test
    void theEndLetsThePieceUnderWayFinishAndCallsTheRestOnce() throws Exception {
        assertTrue(hold(Load.NONE));
        CountDownLatch ended = new CountDownLatch(1);
        assertTrue(queue.submit(new Unit(2, 1, Load.NONE), this::note, ended::countDown));
        Thread closer = Thread.ofPlatform().start(queue::close);
        await(ended);
        assertEquals(List.of("0-1 false", "1-2 false"), calls, "the unit that waited");
        assertFalse(queue.submit(Unit.OWN, this::note, this::failEnded), "closed");
        goOn.countDown();
        closer.join();
        assertEquals(List.of("0-1 false", "1-2 false", "held"), calls);
    }

    @Test
    void aPieceThatThrowsEndsItsUnitAndLeavesTheThread() throws Exception {
        CountDownLatch ended = new CountDownLatch(2);
        assertTrue(queue.submit(new Unit(1, 1, new Load(10, 0)), (from, to, ran) -> {
            throw new StackOverflowError("a defect");
        }, ended::countDown));
        while (!queue.submit(new Unit(1, 1, new Load(10, 0)), this::note, ended::countDown)) {
            Thread.onSpinWait();
        }
        await(ended);
        assertEquals(List.of("0-1 true"), calls);
        assertEquals(Map.of("test-0", 1L), ThreadFaults.ofProcess().counts());
        ThreadFaults.ofProcess().forget();
    }

    /** With four threads every part of every unit is done once. */
    @Test
    void manyUnitsOfManyThreadsAreDoneOnce() throws Exception {
        int units = 200;
        List<int[]> done = new ArrayList<>();
        CountDownLatch ended = new CountDownLatch(units);
        try (UnitQueue wide = new UnitQueue("wide", 4, new Load(units * 10, 0))) {
            for (int unit = 0; unit < units; unit++) {
                int[] times = new int[10];
                done.add(times);
                assertTrue(wide.submit(new Unit(10, 3, new Load(10, 0)), (from, to, ran) -> {
                    for (int i = from; i < to; i++) {
                        times[i]++;
                    }
                }, ended::countDown));
            }
            await(ended);
        }
        for (int[] times : done) {
            for (int count : times) {
                assertEquals(1, count);
            }
        }
    }

    private boolean hold(Load load) throws InterruptedException {
        boolean taken = queue.submit(new Unit(1, 1, load), (from, to, ran) -> {
            inside.countDown();
            awaitQuietly(goOn);
        }, () -> calls.add("held"));
        await(inside);
        return taken;
    }

    private void note(int from, int to, boolean ran) {
        calls.add(from + "-" + to + " " + ran);
    }

    private void failEnded() {
        calls.add("a refused unit ended");
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertTrue(latch.await(20, TimeUnit.SECONDS));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            await(latch);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
