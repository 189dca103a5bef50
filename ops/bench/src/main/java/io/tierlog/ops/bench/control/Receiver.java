/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.WireRecord;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Reads a topic from its end on, in a thread of its own, and passes each decoded record on, with the moment of its decoding: the reader at the end of
 * every part. Safe for use by several threads.
 *
 * @param <F> the family of the topic's records
 */
final class Receiver<F extends WireRecord> implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long JOIN_MS = 10_000;

    private final LogReader<F> reader;
    private final Sink<F> sink;
    private final Thread thread;
    private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
    private volatile boolean closing;

    /** Receives the records, in the thread of the reader. */
    interface Sink<F extends WireRecord> {
        void accept(F record, long nowNanos);

        /** Called between two reads, at least ten times a second. */
        default void idle() {}
    }

    /** When this returns, it is at the end of the topic, and reads what is written from then on. */
    Receiver(KafkaAccess access, Codec codec, LogReader.Source<F> source, Sink<F> sink) {
        this.reader = new LogReader<>(access, codec, source);
        this.sink = sink;
        reader.seekToEnd();
        reader.positions();
        thread = Thread.ofPlatform().name("bench-" + source.topic()).start(this::read);
    }

    private void read() {
        try (reader) {
            while (!closing) {
                reader.poll(POLL, entry -> receive(entry.reading()));
                sink.idle();
            }
        } catch (RuntimeException failed) {
            failure.set(failed);
        }
    }

    private void receive(Reading<F> reading) {
        long now = System.nanoTime();
        switch (reading) {
            case Reading.Decoded<F> good -> sink.accept(good.value(), now);
            case Reading.Unreadable<F> bad -> throw BenchException.failed(
                    "received a record that cannot be read: " + bad.detail(), "use topics that no other program writes to");
        }
    }

    /** @throws RuntimeException the failure that ended the thread */
    void check() {
        RuntimeException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
    }

    /** Ends the thread and closes the connection. */
    @Override
    public void close() {
        closing = true;
        try {
            thread.join(JOIN_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
