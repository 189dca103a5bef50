/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.schemas.WireRecord;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reads records, and waits in the caller's thread while no registry can tell the schema of one: such a record is neither read nor skipped. Only a
 * schema that this process has not met needs the registry. Safe for use by several threads.
 *
 * @param <F> the family of the records
 */
public final class PatientReader<F extends WireRecord> implements AutoCloseable {
    private static final long MAX_WAIT_MS = 5_000;

    private final RecordReader<F> reader;
    private final Listener listener;
    private final CountDownLatch closing = new CountDownLatch(1);

    /** Learns of every wait, in the thread that waits. */
    public interface Listener {
        /** A wait begins. */
        void waits(String why);

        /** A wait has ended, with a record or without. */
        void goesOn();
    }

    /** Waits as told by {@code reader}. */
    public PatientReader(RecordReader<F> reader, Listener listener) {
        this.reader = reader;
        this.listener = listener;
    }

    /**
     * Reads one record.
     *
     * @return what it is; empty when this was closed, or the thread interrupted (its flag stays set), before a registry answered
     * @throws UnknownTypeException when a later version wrote it
     */
    public Optional<Reading<F>> read(byte @Nullable [] value) {
        try {
            return Optional.of(reader.read(value));
        } catch (RegistryUnavailableException e) {
            return waiting(value, e);
        }
    }

    private Optional<Reading<F>> waiting(byte @Nullable [] value, RegistryUnavailableException first) {
        listener.waits("waiting for the schema registry: " + first.getMessage());
        try {
            long waitMs = first.retryInMs();
            while (!closing.await(Math.clamp(waitMs, 1, MAX_WAIT_MS), TimeUnit.MILLISECONDS)) {
                try {
                    return Optional.of(reader.read(value));
                } catch (RegistryUnavailableException again) {
                    waitMs = again.retryInMs();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            listener.goesOn();
        }
        return Optional.empty();
    }

    /** Ends every wait. */
    @Override
    public void close() {
        closing.countDown();
    }
}
