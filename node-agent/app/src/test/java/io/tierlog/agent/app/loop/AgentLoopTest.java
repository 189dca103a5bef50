/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Fenced;
import io.tierlog.agent.core.api.AgentInput.StopRequested;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.TimePassed;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The inbox with space for 2 calls and 1 record, and a machine that writes down what it is given. */
class AgentLoopTest {
    private final List<AgentInput> taken = new CopyOnWriteArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final AtomicLong deadline = new AtomicLong(Long.MAX_VALUE);
    private final AgentLoop loop = new AgentLoop("test", 2, 1, () -> System.nanoTime() / 1_000_000, failures::add);

    private class Recorder implements AgentLoop.Machine {
        @Override
        public void on(AgentInput input, long nowMs) {
            if (input instanceof TimePassed && nowMs < deadline.get()) {
                throw new AssertionError("too early");
            }
            if (input instanceof Fenced) {
                throw new IllegalStateException("a defect of the core");
            }
            taken.add(input);
            if (input instanceof TimePassed) {
                deadline.set(Long.MAX_VALUE);
            }
        }

        @Override
        public long nextDeadlineMs() {
            return deadline.get();
        }

        @Override
        public void rested() {}
    }

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void callsAreRefusedWhenTooManyWaitAndCompletionsNever() {
        assertTrue(loop.offer(new StopRequested()));
        assertTrue(loop.offer(new StopRequested()));
        assertFalse(loop.offer(new StopRequested()), "two calls wait");
        for (int unit = 0; unit < 1_000; unit++) {
            loop.post(probed(unit));
        }
        loop.start(new Recorder());
        Eventually.await("all are taken", () -> taken.size() == 1_002);
        assertEquals(probed(999), taken.getLast(), "in order of arrival");
        assertTrue(loop.offer(new StopRequested()), "there is space again");
    }

    @Test
    void aRecordOfTheLogWaitsForSpace() throws InterruptedException {
        assertTrue(loop.put(probed(1)));
        AtomicBoolean second = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        Thread source = Thread.ofPlatform().start(() -> {
            begun.countDown();
            try {
                second.set(loop.put(probed(2)));
            } catch (InterruptedException e) {
                failures.add(e);
            }
        });
        begun.await();
        Eventually.await("the source waits", () -> source.getState() == Thread.State.WAITING);
        assertTrue(loop.offer(new StopRequested()), "a full log leaves space for calls");
        loop.start(new Recorder());
        source.join();
        assertTrue(second.get());
        Eventually.await("all are taken", () -> taken.size() == 3);
    }

    @Test
    void timePassesAtTheDeadlineAndNotBefore() {
        deadline.set(System.nanoTime() / 1_000_000 + 30);
        loop.start(new Recorder());
        Eventually.await("time has passed", () -> taken.equals(List.of(new TimePassed())));
        // A deadline that an input has brought counts too.
        loop.post(probed(1));
        Eventually.await("the input is taken", () -> taken.size() == 2);
        assertEquals(List.of(), failures);
    }

    /** As the part {@code loop} of /health asks. */
    @Test
    void aBatchThatDoesNotEndIsMeasured() {
        CountDownLatch stuck = new CountDownLatch(1);
        loop.start(new Recorder() {
            @Override
            public void on(AgentInput input, long nowMs) {
                try {
                    stuck.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        assertEquals(0, loop.busyMs());
        loop.post(probed(1));
        Eventually.await("its batch is in work", () -> loop.busyMs() > 20);
        stuck.countDown();
        Eventually.await("its batch has ended", () -> loop.busyMs() == 0);
        assertEquals(List.of(), failures);
    }

    @Test
    void aDefectOfTheMachineEndsTheLoop() {
        loop.start(new Recorder());
        loop.post(new Fenced(2));
        Eventually.await("the failure is reported", () -> failures.size() == 1);
        assertEquals("a defect of the core", failures.getFirst().getMessage());
        assertFalse(loop.offer(new StopRequested()));
        loop.post(probed(1));
        assertEquals(List.of(), taken);
    }

    @Test
    void anEndLetsWaitersGo() throws InterruptedException {
        assertTrue(loop.put(probed(1)));
        AtomicBoolean put = new AtomicBoolean(true);
        Thread source = Thread.ofPlatform().start(() -> {
            try {
                put.set(loop.put(probed(2)));
            } catch (InterruptedException e) {
                failures.add(e);
            }
        });
        Eventually.await("the source waits", () -> source.getState() == Thread.State.WAITING);
        loop.close();
        source.join();
        assertFalse(put.get());
    }

    private static StoreProbed probed(long unit) {
        return new StoreProbed(unit, 0, true);
    }
}
