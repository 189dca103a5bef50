/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;

/** All blocks once, by as many threads as transfers at a time, each block timed: what plain calls take that block. Static and without state. */
final class BlockLoop {
    private BlockLoop() {}

    /** Moves one block with calls that block. */
    interface Move {
        void block(int block) throws IOException, InterruptedException;
    }

    /**
     * Runs it.
     *
     * @param what moves them, for the error
     * @throws BenchException when one fails
     */
    static Sample run(Shape shape, String what, Move move) throws InterruptedException {
        int blocks = shape.blocks();
        Histogram took = Sample.times();
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> running = new ArrayList<>();
        long start;
        try (ExecutorService threads = Executors.newFixedThreadPool(shape.depth())) {
            start = System.nanoTime();
            for (int thread = 0; thread < shape.depth(); thread++) {
                running.add(threads.submit(() -> {
                    for (int block = next.getAndIncrement(); block < blocks; block = next.getAndIncrement()) {
                        long began = System.nanoTime();
                        move.block(block);
                        took.recordValue(System.nanoTime() - began);
                    }
                    return blocks;
                }));
            }
            for (Future<?> thread : running) {
                thread.get();
            }
        } catch (ExecutionException e) {
            throw BenchException.failed(what + " failed: " + e.getCause(), "look at the disk or the server").causedBy(e);
        }
        return Sample.of(shape.bytes(), System.nanoTime() - start, took);
    }
}
