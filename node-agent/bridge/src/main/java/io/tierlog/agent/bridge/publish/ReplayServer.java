/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.events.Causes;
import io.tierlog.threads.RareWarning;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Answers replays from the log, each with a cursor of its own and some batches in turn: a subscriber that reads slowly delays no other one, nor what
 * is live. One thread owns its sockets.
 */
final class ReplayServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayServer.class);
    private static final int MOST_ANSWERS = 64;
    private static final int IDLE_CURSORS = 8;
    private static final int ASKS_AT_ONCE = 64;
    private static final long IDLE_WAIT_MS = 50;
    private static final long BUSY_WAIT_MS = 1;
    private static final long PATIENCE_MS = 30_000;
    private static final long CLOSE_MS = 10_000;

    private final ZContext context;
    private final List<ZMQ.Socket> routers;
    private final BatchLog log;
    private final List<BatchIndex> indexes;
    private final ReplayAnswer.Shape shape;
    private final PublishCounts counts;
    private final Map<Client, ReplayAnswer> answers = new LinkedHashMap<>();
    private final ArrayDeque<LogCursor> idle = new ArrayDeque<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final RareWarning warning = new RareWarning(LOG);
    private final Thread thread;

    /** One who asked: a socket has one question at a time. */
    private record Client(int partition, ByteBuffer identity) {}

    /** What answers are made of. */
    record Parts(BatchLog log, List<BatchIndex> indexes, ReplayAnswer.Shape shape, PublishCounts counts) {}

    /**
     * Begins at once.
     *
     * @param routers one for each partition, owned from now on
     * @param fatal receives what ends it
     */
    ReplayServer(ZContext context, List<ZMQ.Socket> routers, Parts parts, Consumer<Throwable> fatal) {
        this.context = context;
        this.routers = routers;
        log = parts.log();
        indexes = parts.indexes();
        shape = parts.shape();
        counts = parts.counts();
        thread = Thread.ofPlatform().name("publish-replays").start(() -> {
            try {
                run();
            } catch (RuntimeException | Error e) {
                fatal.accept(e);
            } finally {
                answers.values().forEach(each -> each.cursor().close());
                idle.forEach(LogCursor::close);
                routers.forEach(ZMQ.Socket::close);
            }
        });
    }

    private void run() {
        try (ZMQ.Poller poller = context.createPoller(routers.size())) {
            routers.forEach(router -> poller.register(router, ZMQ.Poller.POLLIN));
            boolean worked = false;
            while (!closing.get()) {
                if (!worked) {
                    poller.poll(answers.isEmpty() ? IDLE_WAIT_MS : BUSY_WAIT_MS);
                }
                for (int partition = 0; partition < routers.size(); partition++) {
                    receive(partition);
                }
                worked = work();
            }
        }
    }

    private void receive(int partition) {
        ZMQ.Socket router = routers.get(partition);
        for (int i = 0; i < ASKS_AT_ONCE; i++) {
            List<byte[]> frames = new ArrayList<>();
            byte[] first = router.recv(ZMQ.DONTWAIT);
            if (first == null) {
                return;
            }
            frames.add(first);
            while (router.hasReceiveMore()) {
                frames.add(router.recv());
            }
            ask(partition, frames);
        }
    }

    /** Who asks, an empty frame, the first number that is wanted. */
    private void ask(int partition, List<byte[]> frames) {
        counts.add(PublishCounter.REPLAYS, 1);
        Client client = new Client(partition, ByteBuffer.wrap(frames.getFirst()));
        ReplayAnswer before = answers.remove(client);
        if (before != null) {
            settle(before);
        }
        boolean readable = frames.size() == 3 && frames.get(1).length == 0 && frames.get(2).length == Long.BYTES;
        if (!readable || answers.size() >= MOST_ANSWERS) {
            counts.add(PublishCounter.REFUSED, 1);
            return;
        }
        BatchIndex index = indexes.get(partition);
        long from = Math.clamp(ByteBuffer.wrap(frames.get(2)).getLong(), 0, index.next());
        LogCursor cursor;
        try {
            cursor = cursor(partition);
        } catch (KafkaException e) {
            counts.add(PublishCounter.REFUSED, 1);
            warning.warn("a replay of partition {} is refused: {}", partition, Causes.of(e));
            return;
        }
        cursor.seek(from);
        answers.put(client, new ReplayAnswer(routers.get(partition), frames.getFirst(), cursor, shape, index.next(), nowMs()));
    }

    private LogCursor cursor(int partition) {
        for (LogCursor each : idle) {
            if (each.partition() == partition) {
                idle.remove(each);
                return each;
            }
        }
        return new LogCursor(log, indexes.get(partition), partition, () -> !closing.get());
    }

    /** Keeps its cursor for the next question. */
    private void settle(ReplayAnswer answer) {
        idle.add(answer.cursor());
        if (idle.size() > IDLE_CURSORS) {
            idle.remove().close();
        }
    }

    /** Some batches of each answer; true when any was sent. */
    private boolean work() {
        int sent = 0;
        List<Client> over = new ArrayList<>();
        for (Map.Entry<Client, ReplayAnswer> each : answers.entrySet()) {
            ReplayAnswer answer = each.getValue();
            try {
                int some = answer.step(nowMs(), PATIENCE_MS);
                counts.add(PublishCounter.REPLAYED, some);
                sent += some;
            } catch (KafkaException e) {
                warning.warn("a replay ends early: {}", Causes.of(e));
                answer.leave();
            }
            if (answer.state() != ReplayAnswer.State.RUNNING) {
                counts.add(PublishCounter.LEFT, answer.state() == ReplayAnswer.State.LEFT ? 1 : 0);
                over.add(each.getKey());
                settle(answer);
            }
        }
        over.forEach(answers::remove);
        return sent > 0;
    }

    private static long nowMs() {
        return System.nanoTime() / 1_000_000;
    }

    /** Ends it soon. */
    void stop() {
        closing.set(true);
    }

    @Override
    public void close() {
        stop();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
