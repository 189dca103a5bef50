/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;

/**
 * Every host page to a file of its own and back, by plain calls without checksums, names or order. fio moves one buffer a thread again and again,
 * which the processor's cache keeps; this moves the same pages as the tiers.
 */
final class PlainFiles {
    private final HostBlocks host;
    private final Path directory;

    /** @param directory exists */
    PlainFiles(HostBlocks host, Path directory) {
        this.host = host;
        this.directory = directory;
    }

    Sample run(Mode mode) throws IOException, InterruptedException {
        int blocks = host.shape().blocks();
        Histogram took = Sample.times();
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> running = new ArrayList<>();
        long start;
        try (ExecutorService threads = Executors.newFixedThreadPool(host.shape().depth())) {
            start = System.nanoTime();
            for (int thread = 0; thread < host.shape().depth(); thread++) {
                running.add(threads.submit(() -> {
                    for (int block = next.getAndIncrement(); block < blocks; block = next.getAndIncrement()) {
                        long began = System.nanoTime();
                        move(mode, block);
                        took.recordValue(System.nanoTime() - began);
                    }
                    return blocks;
                }));
            }
            for (Future<?> thread : running) {
                thread.get();
            }
        } catch (ExecutionException e) {
            throw BenchException.failed("a plain file failed: " + e.getCause(), "look at the disk").causedBy(e);
        }
        return Sample.of(host.shape().bytes(), System.nanoTime() - start, took);
    }

    private void move(Mode mode, int block) throws IOException {
        Path file = directory.resolve(Integer.toString(block));
        ByteBuffer page = host.pool().buffer(block);
        switch (mode) {
            case write -> {
                Files.deleteIfExists(file);
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                    while (page.hasRemaining()) {
                        channel.write(page);
                    }
                }
            }
            case read -> {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                    int read = 0;
                    while (read >= 0 && page.hasRemaining()) {
                        read = channel.read(page);
                    }
                }
            }
        }
    }
}
