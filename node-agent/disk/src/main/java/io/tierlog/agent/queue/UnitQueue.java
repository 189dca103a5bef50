/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.queue;

import io.tierlog.threads.Supervised;
import io.tierlog.threads.ThreadFaults;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A fixed number of threads over a queue that is bounded by the blocks and the bytes of the units it has accepted and that have not ended.
 *
 * <pre>
 *   unit --> [ taken as a whole or not at all ] --> piece, piece, ... to any thread --> last piece: ended, once
 * </pre>
 *
 * <p>Every piece is called exactly once, also at the end. Pieces begin in the order of their units and end in any. Safe for use by several threads.
 * Trade-off: threads that hang in a file system stay, also after close.
 */
public final class UnitQueue implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UnitQueue.class);
    private static final Duration END = Duration.ofSeconds(5);

    /** What units take of the queue until they end: blocks and bytes, 0 or more each. */
    public record Load(int blocks, long bytes) {
        /** None: for internal work, of which there is little. */
        public static final Load NONE = new Load(0, 0);
    }

    /**
     * A unit of work.
     *
     * @param blocks how many parts it has, 0 or more
     * @param pieceBlocks how many of them one thread takes at a time, 1 or more
     * @param load what it takes of the queue
     */
    public record Unit(int blocks, int pieceBlocks, Load load) {
        /** A unit of one piece that takes no slot of the queue. */
        public static final Unit OWN = new Unit(1, 1, Load.NONE);
    }

    /** The work of a unit. */
    public interface Work {
        /**
         * Does the parts {@code from} to {@code to - 1}.
         *
         * @param ran false when it shall only note that they were not done
         */
        void piece(int from, int to, boolean ran);
    }

    /** A piece that waits. */
    private interface Waiting {
        void call(boolean ran);
    }

    private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
    private final Load most;
    private final List<Thread> threads = new ArrayList<>();
    private int blocks;
    private long bytes;
    private boolean closed;

    /**
     * Starts the threads.
     *
     * @param name begins their names
     * @param count how many, 1 or more
     * @param most what units not ended may take together; a single unit may have more bytes
     */
    public UnitQueue(String name, int count, Load most) {
        this.most = most;
        for (int i = 0; i < count; i++) {
            threads.add(Supervised.start(name + "-" + i, this::work));
        }
    }

    /**
     * Accepts a unit, or refuses it and calls none of its parts. A unit without parts ends at once.
     *
     * @param ended called once, by the thread that has done the last piece; sees what all pieces did; must not block
     * @return false when the queue is full or closed
     */
    public boolean submit(Unit unit, Work work, Runnable ended) {
        int pieces = Math.ceilDiv(unit.blocks, unit.pieceBlocks);
        if (pieces == 0) {
            ended.run();
            return true;
        }
        AtomicInteger open = new AtomicInteger(pieces);
        List<Waiting> all = new ArrayList<>(pieces);
        for (int piece = 0; piece < pieces; piece++) {
            int from = piece * unit.pieceBlocks;
            int to = Math.min(unit.blocks, from + unit.pieceBlocks);
            all.add(ran -> {
                try {
                    work.piece(from, to, ran);
                } finally {
                    // The counter also hands what this thread did to the one that ends the unit.
                    if (open.decrementAndGet() == 0) {
                        release(unit.load);
                        ended.run();
                    }
                }
            });
        }
        return take(unit.load, all);
    }

    private boolean take(Load load, List<Waiting> pieces) {
        synchronized (queue) {
            boolean fits = blocks + load.blocks <= most.blocks && (bytes == 0 || bytes + load.bytes <= most.bytes);
            if (closed || !fits) {
                return false;
            }
            blocks += load.blocks;
            bytes += load.bytes;
            queue.addAll(pieces);
            queue.notifyAll();
            return true;
        }
    }

    private void release(Load load) {
        synchronized (queue) {
            blocks -= load.blocks;
            bytes -= load.bytes;
        }
    }

    /**
     * Lets running pieces end, calls those that have not begun with {@code ran == false}, and returns when all threads have ended. A thread
     * that hangs for too long is left behind.
     */
    @Override
    public void close() {
        List<Waiting> left;
        synchronized (queue) {
            closed = true;
            left = new ArrayList<>(queue);
            queue.clear();
            queue.notifyAll();
        }
        left.forEach(piece -> call(piece, false));
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
        for (Waiting piece = next(); piece != null; piece = next()) {
            call(piece, true);
        }
    }

    private static void call(Waiting piece, boolean ran) {
        try {
            piece.call(ran);
        } catch (RuntimeException | Error e) {
            // A defect of one piece must not take the thread from all others, nor hold them up.
            ThreadFaults.ofProcess().met(Thread.currentThread().getName(), e);
        }
    }

    private @Nullable Waiting next() {
        synchronized (queue) {
            while (queue.isEmpty() && !closed) {
                try {
                    queue.wait();
                } catch (InterruptedException e) {
                    LOG.warn("{} was interrupted and continues", Thread.currentThread().getName());
                }
            }
            return queue.poll();
        }
    }
}
