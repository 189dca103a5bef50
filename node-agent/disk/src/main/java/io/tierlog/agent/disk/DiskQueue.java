/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A fixed number of threads over a queue that is bounded by the blocks and the bytes of the units it has accepted and that have not ended. It
 * takes a unit as a whole or not at all, and calls every piece of it exactly once, also at the end. Safe for use by several threads.
 */
final class DiskQueue implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskQueue.class);
    private static final Duration END = Duration.ofSeconds(5);

    /** A piece of work; {@code ran} is false when it shall only say that it was not done. */
    interface Piece {
        void run(boolean ran);
    }

    /** What a unit takes of the queue until it ends. */
    record Load(int blocks, long bytes) {}

    private final ArrayDeque<Piece> queue = new ArrayDeque<>();
    private final Load most;
    private final List<Thread> threads = new ArrayList<>();
    private int blocks;
    private long bytes;
    private boolean closed;

    DiskQueue(String name, int count, Load most) {
        this.most = most;
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofPlatform().name(name + "-" + i).daemon().start(this::work));
        }
    }

    /** Queues all pieces of a unit and returns true, or none and returns false when there is no room for it or this is closed. */
    boolean submit(Collection<Piece> pieces, Load load) {
        synchronized (queue) {
            if (closed || blocks + load.blocks > most.blocks || bytes + load.bytes > most.bytes) {
                return false;
            }
            blocks += load.blocks;
            bytes += load.bytes;
            queue.addAll(pieces);
            queue.notifyAll();
            return true;
        }
    }

    /** Queues a piece of the house's own, of which there is at most one; returns false when this is closed. */
    boolean submitOwn(Piece piece) {
        return submit(List.of(piece), new Load(0, 0));
    }

    /** A unit has ended. */
    void ended(Load load) {
        synchronized (queue) {
            blocks -= load.blocks;
            bytes -= load.bytes;
        }
    }

    /**
     * Lets running pieces end, calls those that have not begun with {@code ran == false}, and returns when all threads have ended. A thread
     * that hangs in a disk for too long is left behind.
     */
    @Override
    public void close() {
        List<Piece> left;
        synchronized (queue) {
            closed = true;
            left = new ArrayList<>(queue);
            queue.clear();
            queue.notifyAll();
        }
        left.forEach(piece -> piece.run(false));
        for (Thread thread : threads) {
            try {
                if (!thread.join(END)) {
                    LOG.error("{} hangs and is left behind", thread.getName());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void work() {
        for (Piece piece = next(); piece != null; piece = next()) {
            piece.run(true);
        }
    }

    private @Nullable Piece next() {
        synchronized (queue) {
            while (queue.isEmpty() && !closed) {
                try {
                    queue.wait();
                } catch (InterruptedException e) {
                    LOG.warn("{} was interrupted and goes on", Thread.currentThread().getName());
                }
            }
            return queue.poll();
        }
    }
}
