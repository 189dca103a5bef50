/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.agent.core.port.EventSink;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The agent's way to the log. When the log may miss an event, the link is lost, once: what waits is abandoned, and {@link #begin} makes it a link of
 * another sender, which counts from 1. Safe for use by several threads.
 *
 * <pre>
 *   open --lose, or an event that cannot be delivered--> lost --begin--> open
 * </pre>
 */
public final class LogLink implements EventSink, AutoCloseable {
    private final EventBuffer buffer;
    private final Consumer<EventsLostException> lost;
    private final AtomicBoolean isLost = new AtomicBoolean();
    private volatile AgentLog log;
    private volatile KafkaEventSink sink;
    private boolean closed;

    /**
     * An open link.
     *
     * @param lost receives, each time, why it is lost; nothing is sent any more then
     */
    public LogLink(AgentLog log, EventBuffer buffer, Consumer<EventsLostException> lost) {
        this.log = log;
        this.buffer = buffer;
        this.lost = lost;
        this.sink = KafkaEventSink.connect(log, buffer, this::lose);
    }

    /** Names the sender of what is appended now. */
    public AgentLog log() {
        return log;
    }

    /** What sends now. */
    public KafkaEventSink sink() {
        return sink;
    }

    /** Whether nothing is sent until {@link #begin}. */
    public boolean isLost() {
        return isLost.get();
    }

    /** The log may miss an event from now on. */
    public void lose(EventsLostException why) {
        if (isLost.compareAndSet(false, true)) {
            sink.giveUp();
            lost.accept(why);
        }
    }

    /**
     * Opens the lost link again, under a new process id.
     *
     * @throws org.apache.kafka.common.KafkaException when the brokers' names cannot be resolved; it is still lost
     */
    public synchronized void begin() {
        if (closed) {
            return;
        }
        AgentLog next = log.as(UUID.randomUUID().toString());
        KafkaEventSink opened = KafkaEventSink.connect(next, buffer, this::lose);
        log = next;
        sink = opened;
        isLost.set(false);
    }

    @Override
    public void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
        sink.append(aggregate, cause, withEnvelope);
    }

    @Override
    public boolean congested() {
        return sink.congested();
    }

    @Override
    public synchronized void close() {
        closed = true;
        sink.close();
    }
}
