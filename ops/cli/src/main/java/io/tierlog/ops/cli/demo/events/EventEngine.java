/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo.events;

import io.tierlog.ops.engine.workload.BlockKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.concurrent.locks.LockSupport;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * A model engine that Tierlog only listens to: a pool of blocks that evicts the least recent one, the deepest first, and a publisher that tells of
 * it over ZeroMQ. One thread.
 */
final class EventEngine {
    private static final int RING = 10_000;
    private static final byte[] END = {-1, -1, -1, -1, -1, -1, -1, -1};

    private final ZContext context;
    private final EventForm form;
    private final int capacity;
    private final int blockTokens;
    /** The least recent one first. */
    private final SequencedSet<BlockKey> pool = new LinkedHashSet<>();
    private final Deque<Batch> ring = new ArrayDeque<>();
    private final byte[] topic;
    private ZMQ.Socket events;
    private ZMQ.Socket answers;
    private long next;
    /** Whether it has a subscriber. */
    private boolean hasSubscriber = true;
    private long served;

    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Batch(long number, byte[] payload) {}

    /** An engine with an empty pool, which publishes at any free port. */
    EventEngine(ZContext context, EventForm form, int capacity, int blockTokens) {
        this.context = context;
        this.form = form;
        this.capacity = capacity;
        this.blockTokens = blockTokens;
        topic = ("kv-" + form.label()).getBytes(StandardCharsets.UTF_8);
        events = open(SocketType.XPUB, "tcp://127.0.0.1:*");
        answers = open(SocketType.ROUTER, "tcp://127.0.0.1:*");
    }

    private ZMQ.Socket open(SocketType type, String address) {
        ZMQ.Socket socket = context.createSocket(type);
        socket.setLinger(0);
        if (!socket.bind(address)) {
            throw new IllegalStateException("an engine of the demo cannot publish at " + address);
        }
        return socket;
    }

    /** What the bridge listens to; {@code namespace} is that of all its blocks. */
    String source(String namespace) {
        return events.getLastEndpoint() + (form.replays() ? " replay=" + answers.getLastEndpoint() : "") + " name=" + form.label() + " engine="
                + form.label() + " model=" + namespace;
    }

    EventForm form() {
        return form;
    }

    /** Its node in the directory. */
    String node() {
        return "ext-" + form.label() + "-dp0";
    }

    /** Requests so far, count. */
    long served() {
        return served;
    }

    /** Waits for a subscriber; false when it takes longer. */
    boolean awaitSubscriber(int patienceMs) {
        events.setReceiveTimeOut(patienceMs);
        return events.recv() != null;
    }

    /** Computes what the pool lacks of a prompt, evicts what does not fit, and publishes both. */
    void serve(List<BlockKey> prompt) {
        served++;
        List<BlockKey> stored = new ArrayList<>();
        for (BlockKey key : prompt.reversed()) {
            if (!pool.remove(key)) {
                stored.addFirst(key);
            }
            // The root is the most recent one: a block never leaves before those that extend it.
            pool.addLast(key);
        }
        List<BlockKey> removed = new ArrayList<>();
        while (pool.size() > capacity) {
            removed.add(pool.removeFirst());
        }
        if (!stored.isEmpty() || !removed.isEmpty()) {
            int first = stored.isEmpty() ? 0 : prompt.indexOf(stored.getFirst());
            publish(form.batch(System.currentTimeMillis() / 1e3, stored, first == 0 ? Optional.empty() : Optional.of(prompt.get(first - 1)), removed,
                    blockTokens));
        }
    }

    private void publish(byte[] payload) {
        ring.addLast(new Batch(next, payload));
        if (ring.size() > RING) {
            ring.removeFirst();
        }
        byte[] number = bytes(next++);
        if (hasSubscriber) {
            events.sendMore(topic);
            events.sendMore(number);
            events.send(payload);
        }
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    /** Answers the replays that were asked for, as publishers do between two batches. */
    void answer() {
        for (byte[] client = answers.recv(ZMQ.DONTWAIT); client != null; client = answers.recv(ZMQ.DONTWAIT)) {
            answers.recv();
            long from = ByteBuffer.wrap(answers.recv()).getLong();
            for (Batch batch : ring) {
                if (batch.number() >= from) {
                    answer(client, bytes(batch.number()), batch.payload());
                }
            }
            answer(client, END, new byte[0]);
        }
    }

    private void answer(byte[] client, byte[] number, byte[] payload) {
        answers.sendMore(client);
        answers.sendMore(new byte[0]);
        if (form.topicInReplay()) {
            answers.sendMore(topic);
        }
        answers.sendMore(number);
        answers.send(payload);
    }

    /**
     * A new process at the same address: its pool is empty, its batches begin at 0. Those of the prompts {@code unseen} it publishes before it has a
     * subscriber, so that they are lost but for a replay.
     */
    void restart(List<List<BlockKey>> unseen) {
        pool.clear();
        ring.clear();
        next = 0;
        hasSubscriber = false;
        unseen.forEach(this::serve);
        hasSubscriber = true;
        events = again(events, SocketType.XPUB);
        answers = again(answers, SocketType.ROUTER);
    }

    private ZMQ.Socket again(ZMQ.Socket old, SocketType type) {
        String address = old.getLastEndpoint();
        old.close();
        for (int i = 0; ; i++) {
            try {
                return open(type, address);
            } catch (IllegalStateException | ZMQException e) {
                if (i == 100) {
                    throw e;
                }
                // The library gives a port back a little later.
                LockSupport.parkNanos(50_000_000);
            }
        }
    }

    /** Blocks of a prompt that it has, from the first one on. */
    int prefix(List<BlockKey> prompt) {
        int blocks = 0;
        while (blocks < prompt.size() && pool.contains(prompt.get(blocks))) {
            blocks++;
        }
        return blocks;
    }
}
