/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.agent.bridge.publish.BatchLog.Numbered;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import zmq.ZError;

/** One replay that is being answered, in pieces. Confined to the thread of the replay sockets. */
final class ReplayAnswer {
    private static final int AT_ONCE = 256;
    private static final byte[] END = number(-1);
    private static final byte[] NOTHING = new byte[0];

    private final ZMQ.Socket router;
    private final byte[] client;
    private final LogCursor cursor;
    private final Shape shape;
    /** The first number that is live for the one who asked. */
    private final long until;
    private @Nullable Numbered unsent;
    private long progressMs;
    private State state = State.RUNNING;

    /** How batches and answers are written. */
    record Shape(BatchForm form, boolean topics) {}

    enum State {
        RUNNING,
        /** All was sent. */
        DONE,
        /** The client has gone, or has read nothing for too long. */
        LEFT
    }

    ReplayAnswer(ZMQ.Socket router, byte[] client, LogCursor cursor, Shape shape, long until, long nowMs) {
        this.router = router;
        this.client = client.clone();
        this.cursor = cursor;
        this.shape = shape;
        this.until = until;
        progressMs = nowMs;
    }

    LogCursor cursor() {
        return cursor;
    }

    /** Sends some batches; returns their count. */
    int step(long nowMs, long patienceMs) {
        int sent = 0;
        while (state == State.RUNNING && sent < AT_ONCE) {
            Optional<Numbered> next = unsent == null ? cursor.next(Duration.ofMillis(1)) : Optional.of(unsent);
            unsent = next.orElse(null);
            boolean over = next.isPresent() ? next.get().seq() >= until : cursor.position() >= until;
            if (next.isEmpty() && !over) {
                break;
            }
            if (!(over ? send("", END, NOTHING) : send(next.get()))) {
                break;
            }
            unsent = null;
            progressMs = nowMs;
            state = over ? State.DONE : state;
            sent++;
        }
        if (state == State.RUNNING && nowMs - progressMs > patienceMs) {
            state = State.LEFT;
        }
        return sent;
    }

    State state() {
        return state;
    }

    /** Ends it early: a subscriber asks again when nothing comes. */
    void leave() {
        state = State.LEFT;
    }

    private boolean send(Numbered numbered) {
        return send(numbered.batch().topic(), number(numbered.seq()), BatchWriter.payload(numbered.batch(), shape.form()));
    }

    /** False when the client's queue is full; then nothing of it was sent. */
    private boolean send(String topic, byte[] number, byte[] payload) {
        try {
            if (!router.send(client, ZMQ.SNDMORE | ZMQ.DONTWAIT)) {
                return false;
            }
        } catch (ZMQException e) {
            if (e.getErrorCode() != ZError.EHOSTUNREACH) {
                throw e;
            }
            state = State.LEFT;
            return false;
        }
        router.send(NOTHING, ZMQ.SNDMORE);
        if (shape.topics()) {
            router.send(topic.getBytes(StandardCharsets.UTF_8), ZMQ.SNDMORE);
        }
        router.send(number, ZMQ.SNDMORE);
        return router.send(payload, 0);
    }

    static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}
