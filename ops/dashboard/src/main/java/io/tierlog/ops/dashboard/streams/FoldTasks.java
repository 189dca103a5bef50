/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.streams;

import io.tierlog.ops.dashboard.fold.PartitionFold;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * The folds of the partitions that this instance has. A stream thread changes a fold, and a page reads it, under the lock of its partition. Safe for
 * use by several threads.
 */
public final class FoldTasks {
    private final Map<Integer, Task> tasks = new ConcurrentHashMap<>();

    /** A fold with its lock. */
    record Task(int partition, PartitionFold fold, ReentrantLock lock) {
        void run(Runnable work) {
            lock.lock();
            try {
                work.run();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Folds that no thread changes. */
    public static FoldTasks of(Map<Integer, PartitionFold> folds) {
        FoldTasks all = new FoldTasks();
        folds.forEach(all::begin);
        return all;
    }

    Task begin(int partition, PartitionFold fold) {
        Task task = new Task(partition, fold, new ReentrantLock());
        tasks.put(partition, task);
        return task;
    }

    void end(Task task) {
        tasks.remove(task.partition(), task);
    }

    /** Reads every fold, by partition; what the function returns must be a copy. */
    public <T> Map<Integer, T> read(Function<PartitionFold, T> reader) {
        Map<Integer, T> found = new TreeMap<>();
        for (Task task : List.copyOf(tasks.values())) {
            task.run(() -> found.put(task.partition(), reader.apply(task.fold())));
        }
        return found;
    }
}
