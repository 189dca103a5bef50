/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.threads.Supervised;
import io.tierlog.threads.ThreadFaults;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bounded queue and one thread before a Kafka producer, so that {@link #send} never blocks its caller.
 *
 * <p>A producer blocks in {@code send} while it has no metadata of the topic or its buffer is full, for as long as {@code max.block.ms}.
 * Only the thread of the queue waits there. A record that the producer did not accept is tried again until its time is over, and those
 * behind it wait: the order of calls is the order in the log. A callback that throws is logged, and its record counts as reported. Safe for
 * use by several threads. Trade-off: a hand-over to a thread per record, some microseconds.
 */
public final class QueuedProducer implements AutoCloseable {
    /** What {@code max.block.ms} of the producer should be, ms: how long a close may wait for the thread. */
    public static final int MAX_BLOCK_MS = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(QueuedProducer.class);
    private static final long PAUSE_MS = 50;

    private final Producer<byte[], byte[]> producer;
    private final Bounds bounds;
    private final AfterFailure afterFailure;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final Condition handedOver = lock.newCondition();
    private final ArrayDeque<Entry> queue = new ArrayDeque<>();
    private int records;
    private long bytes;
    private boolean closed;
    /** The first failure, where it ends the queue. */
    private volatile @Nullable Throwable broken;

    /** What becomes of the records behind one that failed. */
    public enum AfterFailure {
        /** They are sent. */
        GO_ON,
        /**
         * They fail, and so do all later ones: for a sender whose log must not show a gap. What the producer has accepted already, it may
         * still send.
         */
        STOP
    }

    /**
     * What may wait in the queue. A record that the producer has accepted counts no longer.
     *
     * @param records number of records, 1 or more
     * @param bytes of keys and values, 1 or more
     * @param patience how long a record may wait; then it fails
     */
    public record Bounds(int records, long bytes, Duration patience) {
        /** Checks. */
        public Bounds {
            if (records < 1 || bytes < 1 || patience.isNegative() || patience.isZero()) {
                throw new IllegalArgumentException("a queue of " + records + " records, " + bytes + " bytes and " + patience);
            }
        }
    }

    /** The queue is full, closed or ended by a failure: the producer did not get the record. */
    public static final class NotQueuedException extends KafkaException {
        private static final long serialVersionUID = 1L;

        private NotQueuedException(String message) {
            super(message);
        }
    }

    private static final class Entry {
        private final ProducerRecord<byte[], byte[]> record;
        private final int size;
        private final long deadlineNs;
        private final Consumer<Throwable> failed;
        private final Runnable acknowledged;
        private final AtomicBoolean reported = new AtomicBoolean();
        private volatile @Nullable Throwable refused;

        Entry(ProducerRecord<byte[], byte[]> record, int size, long deadlineNs, Consumer<Throwable> failed, Runnable acknowledged) {
            this.record = record;
            this.size = size;
            this.deadlineNs = deadlineNs;
            this.failed = failed;
            this.acknowledged = acknowledged;
        }
    }

    /**
     * Starts the thread of a queue that goes on after a failure.
     *
     * @param name of the thread
     * @param producer closed with this; its {@code max.block.ms} should be {@link #MAX_BLOCK_MS}
     */
    public QueuedProducer(String name, Producer<byte[], byte[]> producer, Bounds bounds) {
        this(name, producer, bounds, AfterFailure.GO_ON);
    }

    /** Starts the thread; parameters as above. */
    public QueuedProducer(String name, Producer<byte[], byte[]> producer, Bounds bounds, AfterFailure afterFailure) {
        this.afterFailure = afterFailure;
        this.producer = producer;
        this.bounds = bounds;
        this.thread = Supervised.unstarted(name, this::run);
        thread.start();
    }

    /**
     * Queues a record and returns at once.
     *
     * @param failed receives why the record is not in the log, or may not be: on the caller's thread a {@link NotQueuedException}, else on
     *     another thread
     * @param acknowledged runs, on another thread, when the record is in the log
     */
    public void send(ProducerRecord<byte[], byte[]> record, Consumer<Throwable> failed, Runnable acknowledged) {
        int size = length(record.key()) + length(record.value());
        Entry entry = new Entry(record, size, System.nanoTime() + bounds.patience().toNanos(), failed, acknowledged);
        String full = offer(entry);
        if (!full.isEmpty()) {
            fail(entry, new NotQueuedException(full));
        }
    }

    /** Waits until the producer has accepted or refused all records; false when {@code patience} was too short. */
    public boolean awaitHandedOver(Duration patience) throws InterruptedException {
        long leftNs = patience.toNanos();
        lock.lockInterruptibly();
        try {
            while (records > 0 && leftNs > 0) {
                leftNs = handedOver.awaitNanos(leftNs);
            }
            return records == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Refuses further records, waits for what is on its way, for twice {@code patience} at most, and closes the producer. */
    public void close(Duration patience) {
        lock.lock();
        try {
            closed = true;
            arrived.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            boolean _ = awaitHandedOver(patience);
            thread.interrupt();
            producer.close(patience);
            thread.join(MAX_BLOCK_MS);
        } catch (InterruptedException e) {
            thread.interrupt();
            producer.close(Duration.ZERO);
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        close(Duration.ofMillis(MAX_BLOCK_MS));
    }

    /** Empty when queued, else why not. */
    private String offer(Entry entry) {
        lock.lock();
        try {
            if (closed) {
                return "the sender of " + entry.record.topic() + " is closed";
            }
            Throwable why = broken;
            if (why != null) {
                return follows(entry, why);
            }
            if (records >= bounds.records() || bytes + entry.size > bounds.bytes()) {
                return records + " records of " + bytes + " bytes wait for " + entry.record.topic() + " already: no more is queued";
            }
            queue.add(entry);
            records++;
            bytes += entry.size;
            arrived.signal();
            return "";
        } finally {
            lock.unlock();
        }
    }

    /** Returns when all records are reported; runs again when a fault ends it before that. */
    private void run() {
        try {
            Entry entry = next();
            while (entry != null) {
                try {
                    deliver(entry);
                } catch (RuntimeException | Error e) {
                    fail(entry, e);
                    throw e;
                } finally {
                    done(entry);
                }
                entry = next();
            }
        } catch (InterruptedException e) {
            // Closed with records left: they fail below.
        } catch (RuntimeException | Error e) {
            if (!Thread.currentThread().isInterrupted()) {
                throw e;
            }
            // Closed meanwhile: it does not run again.
            ThreadFaults.ofProcess().met(thread.getName(), e);
        }
        refuseAll();
    }

    /** Without the lock while callbacks run: they may send or wait. */
    private void refuseAll() {
        List<Entry> left;
        lock.lock();
        try {
            closed = true;
            left = List.copyOf(queue);
            queue.clear();
        } finally {
            lock.unlock();
        }
        for (Entry entry : left) {
            fail(entry, closedFirst(entry));
            done(entry);
        }
    }

    /** Null at the end. */
    private @Nullable Entry next() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (queue.isEmpty() && !closed) {
                arrived.await();
            }
            return queue.poll();
        } finally {
            lock.unlock();
        }
    }

    private void done(Entry entry) {
        lock.lock();
        try {
            records--;
            bytes -= entry.size;
            if (records == 0) {
                handedOver.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Until the producer has the record, or it fails. */
    private void deliver(Entry entry) throws InterruptedException {
        while (true) {
            Throwable first = broken;
            if (first != null) {
                fail(entry, new NotQueuedException(follows(entry, first)));
                return;
            }
            if (entry.deadlineNs - System.nanoTime() <= 0) {
                Throwable why = entry.refused;
                fail(entry, new TimeoutException(entry.record.topic() + " took no record for " + bounds.patience().toMillis() + " ms"
                        + (why == null ? "" : ": " + why.getMessage()), why));
                return;
            }
            entry.refused = null;
            trySend(entry);
            Throwable why = entry.refused;
            if (why == null) {
                return;
            }
            if (!(why instanceof TimeoutException)) {
                fail(entry, why);
                return;
            }
            pause(entry);
        }
    }

    private void pause(Entry entry) throws InterruptedException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            fail(entry, closedFirst(entry));
            throw e;
        }
    }

    /** A failure on this thread comes from the call itself: the producer has not accepted the record. */
    private void trySend(Entry entry) {
        try {
            var _ = producer.send(entry.record, (metadata, failure) -> {
                if (failure == null) {
                    call(entry, entry.acknowledged);
                } else if (Thread.currentThread() == thread) {
                    entry.refused = failure;
                } else {
                    fail(entry, failure);
                }
            });
        } catch (RuntimeException e) {
            entry.refused = e;
        } catch (Error e) {
            ThreadFaults.ofProcess().met(thread.getName(), e);
            entry.refused = e;
        }
    }

    private void fail(Entry entry, Throwable why) {
        if (afterFailure == AfterFailure.STOP && broken == null) {
            broken = why;
        }
        call(entry, () -> entry.failed.accept(why));
    }

    /** On the thread of the queue or on one of the producer, which an Error would end. */
    private void call(Entry entry, Runnable callback) {
        if (!entry.reported.compareAndSet(false, true)) {
            return;
        }
        try {
            callback.run();
        } catch (RuntimeException e) {
            LOG.error("the callback of a record for {} failed", entry.record.topic(), e);
        } catch (Error e) {
            ThreadFaults.ofProcess().met(thread.getName(), e);
        }
    }

    private static NotQueuedException closedFirst(Entry entry) {
        return new NotQueuedException("the sender of " + entry.record.topic() + " was closed first");
    }

    private static String follows(Entry entry, Throwable why) {
        return "a record for " + entry.record.topic() + " failed before, and none may follow it: " + why.getMessage();
    }

    private static int length(byte @Nullable [] part) {
        return part == null ? 0 : part.length;
    }
}
