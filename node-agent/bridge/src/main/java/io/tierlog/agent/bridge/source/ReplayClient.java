/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.threads.RareWarning;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Asks a publisher for old batches. Answers carry no number of their question: a socket whose question was not answered to the end is replaced, so
 * that a late answer is never taken for that of the next one. Confined to the thread of the sockets.
 */
final class ReplayClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayClient.class);
    private static final int LARGEST_MESSAGE = 32 << 20;
    /** More than an engine's ring has: a publisher drops the middle of an answer for which it has no space. */
    private static final int QUEUED_MESSAGES = 20_000;

    private final ZContext context;
    private final String endpoint;
    private final RareWarning warning = new RareWarning(LOG);
    private ZMQ.@Nullable Socket socket;
    private boolean asking;

    /**
     * One frame of an answer.
     *
     * @param topic empty where the publisher does not send it
     */
    @SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
    record Answer(boolean end, long seq, String topic, byte[] payload) {}

    ReplayClient(ZContext context, String endpoint) {
        this.context = context;
        this.endpoint = endpoint;
    }

    /** Sends the question; false when the address cannot be used now, for example since its name does not resolve. */
    boolean ask(long from) {
        if (asking) {
            drop();
        }
        try {
            ZMQ.Socket current = socket == null ? connect() : socket;
            asking = true;
            current.send(new byte[0], ZMQ.SNDMORE | ZMQ.DONTWAIT);
            current.send(ByteBuffer.allocate(Long.BYTES).putLong(from).array(), ZMQ.DONTWAIT);
            return true;
        } catch (RuntimeException e) {
            warning.warn("{} cannot be asked for batches that are missing; it is tried again: {}", endpoint, e.toString());
            drop();
            return false;
        }
    }

    private ZMQ.Socket connect() {
        ZMQ.Socket current = context.createSocket(SocketType.DEALER);
        socket = current;
        current.setLinger(0);
        current.setRcvHWM(QUEUED_MESSAGES);
        current.setMaxMsgSize(LARGEST_MESSAGE);
        current.setHandshakeIvl(Source.HANDSHAKE_MS);
        current.connect(endpoint);
        return current;
    }

    /** No answer is wanted any more. */
    void end() {
        if (asking) {
            drop();
        }
    }

    private void drop() {
        ZMQ.Socket current = socket;
        if (current != null) {
            current.close();
        }
        socket = null;
        asking = false;
    }

    /** The next frame of the answer, if one is there: the payload is the last frame, and its number the one before. */
    Optional<Answer> receive() {
        ZMQ.Socket current = socket;
        if (!asking || current == null) {
            return Optional.empty();
        }
        byte[] first = current.recv(ZMQ.DONTWAIT);
        if (first == null) {
            return Optional.empty();
        }
        List<byte[]> frames = new ArrayList<>();
        frames.add(first);
        while (current.hasReceiveMore()) {
            frames.add(current.recv());
        }
        int last = frames.size() - 1;
        if (last < 1 || frames.get(last - 1).length != Long.BYTES) {
            return Optional.of(new Answer(false, -1, "", new byte[0]));
        }
        long seq = ByteBuffer.wrap(frames.get(last - 1)).getLong();
        boolean end = seq == -1;
        asking = !end;
        return Optional.of(new Answer(end, seq, last >= 3 ? Frames.text(frames.get(last - 2)) : "", frames.get(last)));
    }

    @Override
    public void close() {
        drop();
    }
}
