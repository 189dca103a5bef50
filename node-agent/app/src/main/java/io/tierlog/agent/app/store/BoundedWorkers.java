/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A fixed number of threads over one bounded queue that takes several pieces of work as a whole or not at all; that is what a ready-made
 * executor does not do. Every piece accepted is called exactly once, also at the end. Safe for use by several threads.
 */
final class BoundedWorkers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BoundedWorkers.class);

    private static final Duration END = Duration.ofSeconds(5);

    /** A piece of work; {@code ran} is false when it shall only say that it was not done. */
    interface Piece {
        void run(boolean ran);
    }

    private final ArrayDeque<Piece> queue = new ArrayDeque<>();
    private final int capacity;
    private final List<Thread> threads = new ArrayList<>();
    private boolean closed;

    BoundedWorkers(String name, int count, int capacity) {
        this.capacity = capacity;
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofPlatform().name(name + "-" + i).daemon().start(this::work));
        }
    }

    /** Queues all pieces and returns true, or none and returns false when there is no room for all or this is closed. */
    boolean submit(Collection<Piece> pieces) {
        synchronized (queue) {
            if (closed || queue.size() + pieces.size() > capacity) {
                return false;
            }
            queue.addAll(pieces);
            queue.notifyAll();
            return true;
        }
    }

    /**
     * Lets running pieces end, calls those that have not begun with {@code ran == false}, and returns when all threads have ended. A thread
     * that hangs in a file system for too long is left behind.
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
