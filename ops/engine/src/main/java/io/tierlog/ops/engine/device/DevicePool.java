/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import io.tierlog.ops.engine.workload.BlockKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The device memory of one engine: pages in a shared file, given to running requests, kept afterwards as a prefix cache, and never reused
 * while the agent holds them.
 *
 * <p>When a session with an agent is lost, that agent may still copy. So the pool moves to a new file ({@link #detach}): a late reader finds the
 * expected content in the old file, a late writer changes only memory that is not read any more. Trade-off: one memory copy of the used pages for
 * every lost session, and the memory for both files meanwhile.
 *
 * <p>Any thread may call any method. Requests get pages in the order of their tickets. The request that fills a page owns its
 * bytes until it publishes them; they do not change afterwards.
 */
public final class DevicePool implements AutoCloseable {
    private final Plan plan;
    private final PageTable table;
    private final Map<String, List<Integer>> holds = new HashMap<>();
    private final Deque<Ticket> queue = new ArrayDeque<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** Read lock for access to bytes, write lock for a change of file. Acquired before {@link #lock} where both are. */
    private final ReentrantReadWriteLock bytes = new ReentrantReadWriteLock();
    private DeviceFile file;
    private long oldestHoldNanos;

    /**
     * What a pool is.
     *
     * @param directory where its file is made
     * @param name begins the name of the file
     * @param pages number of pages, 1 or more
     * @param blockBytes size of a page
     * @param retention whether released pages stay as prefix cache
     */
    public record Plan(Path directory, String name, int pages, long blockBytes, boolean retention) {}

    /** A place in the queue for pages. */
    public static final class Ticket {
        private Ticket() {}
    }

    /** A block and the page it is in. */
    public record PlacedBlock(int index, BlockKey key, int page, long generation) {}

    /** Numbers of pages: free, in the prefix cache, and held by the agent. */
    public record Usage(int free, int cached, int held) {}

    /** Creates the pool and its file. */
    public DevicePool(Plan plan) throws IOException {
        this.plan = plan;
        this.table = new PageTable(plan.pages, plan.retention);
        this.file = newFile(1);
    }

    private DeviceFile newFile(long epoch) throws IOException {
        String name = plan.name + "-" + ProcessHandle.current().pid() + "-" + epoch + ".pages";
        return DeviceFile.create(plan.directory.resolve(name), Math.multiplyExact(plan.pages, plan.blockBytes));
    }

    /** Pages in the pool. */
    public int pages() {
        return plan.pages;
    }

    /** The number of the present file: a session is valid for one epoch only. */
    public long epoch() {
        lock.lock();
        try {
            return table.epoch();
        } finally {
            lock.unlock();
        }
    }

    /** The present file. */
    public Path path() {
        bytes.readLock().lock();
        try {
            return file.path();
        } finally {
            bytes.readLock().unlock();
        }
    }

    /** Joins the queue for pages. The caller must {@link #acquire} with the ticket, or give it up by {@link #giveUp}. */
    public Ticket enqueue() {
        lock.lock();
        try {
            Ticket ticket = new Ticket();
            queue.add(ticket);
            return ticket;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for its turn and for free pages, matches the prefix cache and allocates all pages of {@code demand} at once. */
    public BlockTable acquire(Ticket ticket, BlockTable.Demand demand) throws InterruptedException {
        if (demand.pages() > plan.pages) {
            giveUp(ticket);
            throw new IllegalArgumentException("a request for " + demand.pages() + " pages can never run in a pool of " + plan.pages);
        }
        lock.lock();
        try {
            BlockTable acquired = null;
            while (acquired == null) {
                acquired = queue.peek() == ticket ? table.acquire(demand) : null;
                if (acquired == null) {
                    changed.await();
                }
            }
            return acquired;
        } finally {
            queue.remove(ticket);
            changed.signalAll();
            lock.unlock();
        }
    }

    /** Leaves the queue without pages. */
    public void giveUp(Ticket ticket) {
        lock.lock();
        try {
            queue.remove(ticket);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Matches again, for blocks that other requests have published meanwhile; {@link BlockTable#matched} rises. */
    public void rematch(BlockTable blocks) {
        changing(() -> table.rematch(blocks));
    }

    /** Publishes the first blocks of a request, whose content is complete, under {@code keys}. */
    public void publish(BlockTable blocks, List<BlockKey> keys) {
        changing(() -> table.publish(blocks, keys));
    }

    /** The agent of session {@code epoch} has loaded block {@code index} of the request: it tracks the page. */
    public void loaded(BlockTable blocks, int index, long epoch) {
        changing(() -> {
            if (epoch == table.epoch()) {
                table.tell(blocks.page(index));
            }
        });
    }

    /** The published blocks that the agent of session {@code epoch} has not received. They count as received from now on. */
    public List<PlacedBlock> tell(BlockTable blocks, List<BlockKey> keys, long epoch) {
        List<PlacedBlock> untold = new ArrayList<>();
        changing(() -> {
            for (int i = 0; i < keys.size() && epoch == table.epoch(); i++) {
                if (!table.isKnown(blocks.page(i))) {
                    table.tell(blocks.page(i));
                    untold.add(new PlacedBlock(i, keys.get(i), blocks.page(i), blocks.generation(i)));
                }
            }
        });
        return untold;
    }

    /** The first blocks of a request in their pages. */
    public List<PlacedBlock> placed(BlockTable blocks, List<BlockKey> keys) {
        List<PlacedBlock> placed = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            placed.add(new PlacedBlock(i, keys.get(i), blocks.page(i), blocks.generation(i)));
        }
        return placed;
    }

    /** From now on the agent of session {@code epoch} holds {@code pages} under the name {@code attempt}. */
    public void hold(String attempt, List<Integer> pages, long epoch) {
        changing(() -> {
            if (epoch == table.epoch() && !pages.isEmpty()) {
                if (holds.isEmpty()) {
                    oldestHoldNanos = System.nanoTime();
                }
                if (holds.putIfAbsent(attempt, new ArrayList<>(pages)) != null) {
                    throw new IllegalStateException(attempt + " holds pages already");
                }
                pages.forEach(page -> table.hold(page, attempt));
            }
        });
    }

    /** The agent of session {@code epoch} has released {@code pages} of {@code attempt}; the number of them that were held. */
    public int released(String attempt, List<Integer> pages, long epoch) {
        int[] count = new int[1];
        changing(() -> {
            List<Integer> held = holds.get(attempt);
            if (epoch != table.epoch() || held == null) {
                return;
            }
            for (Integer page : pages) {
                if (held.remove(page)) {
                    table.unhold(page, attempt);
                    count[0]++;
                }
            }
            if (held.isEmpty()) {
                holds.remove(attempt);
            }
            oldestHoldNanos = System.nanoTime();
        });
        return count[0];
    }

    /** Frees the pages of an ended request; those that the agent holds stay until they are released. */
    public void release(BlockTable blocks) {
        changing(() -> table.release(blocks));
    }

    /** What has left the device since the last call, for a report to the agent. */
    public List<EvictedPage> takeEvicted() {
        lock.lock();
        try {
            return table.takeEvicted();
        } finally {
            lock.unlock();
        }
    }

    /** How long pages have been held without any being released, in ms; 0 when none is. */
    public long stuckMs() {
        lock.lock();
        try {
            return holds.isEmpty() ? 0 : (System.nanoTime() - oldestHoldNanos) / 1_000_000;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the agent holds no page; false when {@code timeoutMs} pass before. */
    public boolean awaitReleased(long timeoutMs) throws InterruptedException {
        long left = timeoutMs * 1_000_000;
        lock.lock();
        try {
            while (!holds.isEmpty() && left > 0) {
                left = changed.awaitNanos(left);
            }
            return holds.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** The numbers of this moment. */
    public Usage usage() {
        lock.lock();
        try {
            return new Usage(table.freeCount(), table.cached(), holds.values().stream().mapToInt(List::size).sum());
        } finally {
            lock.unlock();
        }
    }

    /** The session is over: moves to a new file, ends all holds, and resets what the agent has received. */
    public void detach() {
        bytes.writeLock().lock();
        lock.lock();
        try {
            DeviceFile next = newFile(table.epoch() + 1);
            for (int page = 0; page < plan.pages; page++) {
                if (!table.isFree(page)) {
                    slice(next, page).copyFrom(slice(file, page));
                }
            }
            DeviceFile previous = file;
            file = next;
            holds.forEach((attempt, pages) -> pages.forEach(page -> table.unhold(page, attempt)));
            holds.clear();
            table.nextEpoch();
            table.takeEvicted();
            changed.signalAll();
            previous.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the device memory of " + plan.name + " cannot move to a new file in " + plan.directory, e);
        } finally {
            lock.unlock();
            bytes.writeLock().unlock();
        }
    }

    /** Fills block {@code index} of the request with the content of {@code key}. */
    public void fill(BlockTable blocks, int index, ContentOracle oracle, BlockKey key) {
        bytes.readLock().lock();
        try {
            oracle.fill(key, slice(file, blocks.page(index)));
        } finally {
            bytes.readLock().unlock();
        }
    }

    /**
     * Compares block {@code index} of the request with the content of {@code key}, as far as the file is still that of {@code epoch}.
     *
     * @return offset of the first wrong byte, {@link ContentOracle#EQUAL}, or empty when the file has changed
     */
    public OptionalLong compare(BlockTable blocks, int index, Expected expected) {
        bytes.readLock().lock();
        try {
            if (expected.epoch != ANY_EPOCH && expected.epoch != epoch()) {
                return OptionalLong.empty();
            }
            return OptionalLong.of(expected.oracle.compare(expected.key, slice(file, blocks.page(index))));
        } finally {
            bytes.readLock().unlock();
        }
    }

    /** For {@link Expected}: in any file. */
    public static final long ANY_EPOCH = -1;

    /** What a page must hold, and in which epoch's file, or in {@link #ANY_EPOCH}. */
    public record Expected(ContentOracle oracle, BlockKey key, long epoch) {}

    /** Checks the books; throws when they are wrong. */
    public void validate() {
        changing(table::validate);
    }

    private MemorySegment slice(DeviceFile of, int page) {
        return of.memory().asSlice(page * plan.blockBytes, plan.blockBytes);
    }

    private void changing(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Unmaps and deletes the file. No request may run any more. */
    @Override
    public void close() throws IOException {
        bytes.writeLock().lock();
        try {
            file.close();
        } finally {
            bytes.writeLock().unlock();
        }
    }
}
