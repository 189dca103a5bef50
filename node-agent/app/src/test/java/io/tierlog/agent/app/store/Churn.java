/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static io.tierlog.agent.app.store.StoreContractTest.BLOCK;
import static io.tierlog.agent.app.store.StoreContractTest.buffer;
import static io.tierlog.agent.app.store.StoreContractTest.crc;
import static io.tierlog.agent.app.store.StoreContractTest.name;

import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Object 1 put by four writers and deleted by two deleters at the same time, through one or more stores that are the same one. */
final class Churn {
    private static final int WRITERS = 4;
    private static final int DELETERS = 2;

    private final List<? extends SharedStore> stores;
    private final Queue<Long> given = new ConcurrentLinkedQueue<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger deleted = new AtomicInteger();
    private final AtomicBoolean over = new AtomicBoolean();

    Churn(List<? extends SharedStore> stores) {
        this.stores = stores;
    }

    /** Runs until so many deletes have been done. */
    Churn until(int deletes) throws Exception {
        try (ExecutorService all = Executors.newFixedThreadPool(WRITERS + DELETERS)) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < WRITERS + DELETERS; i++) {
                SharedStore store = stores.get(i % stores.size());
                boolean writes = i < WRITERS;
                running.add(all.submit(() -> {
                    while (!over.get()) {
                        if (writes) {
                            put(store);
                        } else {
                            delete(store);
                        }
                        if (deleted.get() >= deletes || !failures.isEmpty()) {
                            over.set(true);
                        }
                    }
                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
        }
        return this;
    }

    private void put(SharedStore store) {
        Result result = store.write(name(1), buffer(1), crc(1));
        if (result.status() == BlockStatus.ARRIVED) {
            given.add(result.generation());
        } else if (result.status() == BlockStatus.FAILED) {
            failures.add("put: " + result);
        }
    }

    private void delete(SharedStore store) {
        Result seen = store.read(name(1), ByteBuffer.allocateDirect(BLOCK));
        Result result = store.delete(name(1), Math.max(1, seen.generation()));
        if (result.status() == BlockStatus.GONE) {
            deleted.incrementAndGet();
        } else if (result.reason() != OperationReason.NOT_FOUND && result.reason() != OperationReason.STALE_GENERATION) {
            failures.add("delete: " + result);
        }
    }

    /** The generations that puts were given, in no order. */
    List<Long> given() {
        return List.copyOf(given);
    }

    /** What should not have happened, in words. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Those given more than once. */
    static List<Long> twice(List<Long> given) {
        List<Long> sorted = given.stream().sorted().toList();
        List<Long> twice = new ArrayList<>();
        for (int i = 1; i < sorted.size(); i++) {
            if (sorted.get(i).equals(sorted.get(i - 1))) {
                twice.add(sorted.get(i));
            }
        }
        return twice;
    }
}
