/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Entry;
import io.tierlog.schemas.WireRecord;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * One thread that reads a topic from its present end on, and hands every record to a sink.
 *
 * <p>The reader belongs to the thread once it runs. Closing waits for it, 5 s at most.
 */
final class Follower<F extends WireRecord> implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMillis(50);

    private final LogReader<F> reader;
    private final Consumer<Entry<F>> sink;
    private final Thread thread;
    private final AtomicLong passesWanted = new AtomicLong();
    private final Semaphore passesMade = new Semaphore(0);
    private volatile boolean closed;

    Follower(LogReader<F> reader, Consumer<Entry<F>> sink) {
        this.reader = reader;
        this.sink = sink;
        reader.seekToEnd();
        thread = Thread.ofPlatform().name("tally").daemon().unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try (reader) {
            while (!closed) {
                if (passesWanted.get() > 0) {
                    reader.readToEnd(sink);
                    passesWanted.decrementAndGet();
                    passesMade.release();
                } else {
                    reader.poll(PATIENCE, sink);
                }
            }
        }
    }

    /** Waits until everything that is in the topic now has gone to the sink; false when that took too long. */
    boolean passEnd(long untilNanos) throws InterruptedException {
        passesWanted.incrementAndGet();
        return passesMade.tryAcquire(Math.max(0, untilNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join(Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
