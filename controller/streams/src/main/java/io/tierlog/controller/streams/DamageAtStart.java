/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.time.Duration;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.jspecify.annotations.Nullable;

/**
 * Damaged rows that a processor has found while it was initialised. Streams ends the instance for any exception of an initialisation, so the task is
 * given back a moment later. Only for the task's stream thread.
 */
public final class DamageAtStart {
    private @Nullable TaskCorruptedException found;
    private @Nullable Cancellable soon;

    /** Remembers it, and throws it as soon as Streams lets the task run. */
    public void found(ProcessorContext<?, ?> context, TaskCorruptedException damage) {
        found = damage;
        soon = context.schedule(Duration.ofMillis(1), PunctuationType.WALL_CLOCK_TIME, nowMs -> check());
    }

    /**
     * Nothing may be done with such rows.
     *
     * @throws TaskCorruptedException when there was damage
     */
    public void check() {
        if (found != null) {
            throw found;
        }
    }

    /** The task has ended; Streams keeps its schedules. */
    public void close() {
        found = null;
        if (soon != null) {
            soon.cancel();
        }
    }
}
