/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.http.HealthParts;
import io.tierlog.events.Causes;
import io.tierlog.threads.Supervised;
import io.tierlog.threads.ThreadFaults;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that reads a log until it is closed, and restarts a second after each failure. Closing wakes its consumer. Safe for use
 * by several threads; the round itself runs on the one thread.
 */
public final class LogLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogLoop.class);
    private static final long PAUSE_MS = 1_000;
    private static final long JOIN_MS = 5_000;
    private static final long STUCK_S = 60;

    private final String name;
    private final Round round;
    private final Thread thread;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile @Nullable Consumer<byte[], byte[]> reading;
    private volatile String failure = "";
    private volatile long progressNs = System.nanoTime();

    /** What the thread does. */
    public interface Round {
        /**
         * Opens its clients, reports its consumer to {@link LogLoop#reads}, runs while the loop is open, and closes its clients.
         *
         * @throws RuntimeException for a restart of the round, as any Error; what is no KafkaException or IllegalStateException is counted as a fault
         */
        void run(LogLoop loop);

        /** A round failed; the next one starts after a pause. */
        void failed(Throwable why);
    }

    /** A loop that has not started; {@code name} is that of its thread. */
    public LogLoop(String name, Round round) {
        this.name = name;
        this.round = round;
        thread = Supervised.unstarted(name, this::run);
    }

    /** Starts the thread; once. */
    public void start() {
        thread.start();
    }

    /** Whether it is not closed. */
    public boolean isOpen() {
        return closing.getCount() > 0;
    }

    /** The consumer of the current round. */
    public void reads(Consumer<byte[], byte[]> consumer) {
        reading = consumer;
        if (!isOpen()) {
            consumer.wakeup();
        }
    }

    /** The round goes on: its thread does not hang. */
    public void progressed() {
        failure = "";
        progressNs = System.nanoTime();
    }

    /** The round goes on without a part of its work; DEGRADED until it makes progress. */
    public void failing(String why) {
        failure = why;
    }

    /**
     * How the loop is: FAILED when its thread has ended, DEGRADED after a failure until it makes progress again, and when it has made none for
     * {@value #STUCK_S} s.
     *
     * @param what does not happen meanwhile, as the beginning of a sentence
     */
    public HealthParts.State state(String what) {
        String why = failure;
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - progressNs);
        if (thread.getState() == Thread.State.TERMINATED && isOpen()) {
            return HealthParts.State.failed(what + ": its thread has ended");
        }
        return !why.isEmpty() ? HealthParts.State.degraded(what + ": " + why)
                : seconds < STUCK_S ? HealthParts.State.WELL : HealthParts.State.degraded(what + " for " + seconds + " s");
    }

    /** Waits that many milliseconds, or until it is closed. */
    public void pause(long ms) {
        try {
            if (closing.await(ms, TimeUnit.MILLISECONDS)) {
                LOG.debug("{} closes", name);
            }
        } catch (InterruptedException e) {
            closing.countDown();
        }
    }

    /** Ends the thread, and waits for it at most 5 seconds. */
    @Override
    public void close() {
        closing.countDown();
        Consumer<byte[], byte[]> open = reading;
        if (open != null) {
            open.wakeup();
        }
        try {
            thread.join(JOIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (isOpen()) {
            try {
                round.run(this);
            } catch (WakeupException e) {
                LOG.debug("{} was woken to close", name);
            } catch (RuntimeException | Error e) {
                if (e instanceof KafkaException || e instanceof IllegalStateException) {
                    LOG.warn("{} restarts in {} ms: {}", name, PAUSE_MS, Causes.of(e));
                } else {
                    ThreadFaults.ofProcess().met(name, e);
                }
                failure = Causes.of(e);
                round.failed(e);
                pause(PAUSE_MS);
            } finally {
                reading = null;
            }
        }
    }
}
