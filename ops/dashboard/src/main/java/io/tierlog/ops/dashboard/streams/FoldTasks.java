/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.streams;

import io.tierlog.ops.dashboard.fold.PartitionFold;
import io.tierlog.ops.dashboard.fold.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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

        /**
         * Gives every row that changed to the store, a null value where it is gone. Not under the lock: a put waits for the changelog, for a minute
         * when the brokers do not answer, and the page must say so meanwhile.
         */
        void writeOut(BiConsumer<byte[], byte @Nullable []> put) {
            List<Row> changes = new ArrayList<>();
            run(() -> changes.addAll(fold.takeChanges()));
            changes.forEach(row -> put.accept(row.key(), row.value()));
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
