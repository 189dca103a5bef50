/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.port.EventSink;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The producer of an agent: numbers its events, keeps them in order, and sends them on demand. Once the log is lost it drops what waits and what is
 * appended, until it begins as another sender. For one thread.
 */
final class SimSink implements EventSink {
    private String sender;
    private final LongSupplier wallMs;
    private final int bound;
    /** Receives an event when it is emitted. */
    private final Consumer<Event> listener;
    private final Map<String, Long> sequences = new LinkedHashMap<>();
    private final Deque<Event> waiting = new ArrayDeque<>();
    private long incarnation;
    private boolean lost;

    SimSink(String sender, LongSupplier wallMs, int bound, Consumer<Event> listener) {
        this.listener = listener;
        this.sender = sender;
        this.wallMs = wallMs;
        this.bound = bound;
    }

    void incarnation(long accepted) {
        incarnation = accepted;
    }

    @Override
    public void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
        long sequence = sequences.merge(aggregate, 1L, Long::sum);
        @Nullable String why = cause.isEmpty() ? null : cause;
        Event event = withEnvelope.apply(new Envelope(aggregate, sender, incarnation, sequence, 0, wallMs.getAsLong(), why, null, null));
        if (!lost) {
            waiting.add(event);
        }
        listener.accept(event);
    }

    @Override
    public boolean congested() {
        return waiting.size() >= bound;
    }

    int waiting() {
        return waiting.size();
    }

    /** What was appended after the first {@code kept} never reaches the log, and its numbers are used again: a log without a gap. */
    void lose(int kept) {
        while (waiting.size() > kept) {
            sequences.merge(waiting.removeLast().envelope().aggregate(), -1L, Long::sum);
        }
    }

    /** Nothing of this sender reaches the log any more. */
    void giveUp() {
        lost = true;
        waiting.clear();
    }

    boolean isLost() {
        return lost;
    }

    /** Goes on as another sender, which counts from 1. */
    void begin(String other) {
        sender = other;
        incarnation = 0;
        sequences.clear();
        lost = false;
    }

    /** The next event reaches the log; null when there is none. */
    @Nullable Event next() {
        return waiting.poll();
    }
}
