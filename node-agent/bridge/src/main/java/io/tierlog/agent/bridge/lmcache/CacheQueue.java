/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What has arrived and is not applied yet, in its order. Bounded: a topic waits for space, a request is refused. Safe for use by several threads.
 */
public final class CacheQueue {
    private final int mostItems;
    private final long mostBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition space = lock.newCondition();
    private final ArrayDeque<Item> items = new ArrayDeque<>();
    private long bytes;
    private boolean closed;

    private record Item(CacheArrival arrival, int size) {}

    /**
     * Empty.
     *
     * @param mostItems bound
     * @param mostBytes bound of the payloads; one that is larger than that waits until nothing else does
     */
    public CacheQueue(int mostItems, long mostBytes) {
        this.mostItems = mostItems;
        this.mostBytes = mostBytes;
    }

    private boolean hasSpace(int more, int size) {
        return items.isEmpty() || (items.size() + more <= mostItems && bytes + size <= mostBytes);
    }

    /** Takes all of a request that has {@code size} bytes, or none when there is no space for it now. */
    public boolean offer(List<CacheArrival> arrivals, int size) {
        lock.lock();
        try {
            if (!hasSpace(arrivals.size(), size)) {
                return false;
            }
            for (int i = 0; i < arrivals.size(); i++) {
                add(arrivals.get(i), i == 0 ? size : 0);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for space; takes nothing once the queue is closed. */
    void put(CacheArrival arrival, int size) {
        lock.lock();
        try {
            while (!closed && !hasSpace(1, size)) {
                space.awaitUninterruptibly();
            }
            if (!closed) {
                add(arrival, size);
            }
        } finally {
            lock.unlock();
        }
    }

    /** None waits for space any more. */
    void close() {
        lock.lock();
        try {
            closed = true;
            space.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void add(CacheArrival arrival, int size) {
        items.add(new Item(arrival, size));
        bytes += size;
    }

    /** The oldest; empty when there is none. */
    public Optional<CacheArrival> poll() {
        lock.lock();
        try {
            Item next = items.poll();
            if (next == null) {
                return Optional.empty();
            }
            bytes -= next.size();
            space.signal();
            return Optional.of(next.arrival());
        } finally {
            lock.unlock();
        }
    }
}
