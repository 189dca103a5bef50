/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.topic.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.common.record.internal.FileLogInputStream.FileChannelRecordBatch;
import org.apache.kafka.common.record.internal.FileRecords;

/** The files of a log as they were before: whole batches, markers of transactions included. Static and without state. */
final class EarlierLog {
    private EarlierLog() {}

    /** Copies what was appended before the longest pause in the middle of the log. */
    static void copy(Path log, Path into) throws IOException {
        List<Path> partitions;
        try (Stream<Path> all = Files.list(log)) {
            partitions = all.filter(path -> isOfLog(path.getFileName().toString())).toList();
        }
        List<Long> times = new ArrayList<>();
        for (Path partition : partitions) {
            each(partition, batch -> times.add(batch.maxTimestamp()));
        }
        times.sort(null);
        int at = times.size() / 4;
        for (int i = at; i < times.size() * 3 / 4; i++) {
            at = times.get(i + 1) - times.get(i) > times.get(at + 1) - times.get(at) ? i : at;
        }
        long last = times.get(at);
        Files.createDirectories(into);
        Files.copy(log.resolve("meta.properties"), into.resolve("meta.properties"));
        for (Path partition : partitions) {
            Path folder = Files.createDirectories(into.resolve(partition.getFileName()));
            Files.copy(partition.resolve("partition.metadata"), folder.resolve("partition.metadata"));
            Path file = folder.resolve("00000000000000000000.log");
            try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                each(partition, batch -> batch.maxTimestamp() <= last && write(batch, out));
            }
        }
    }

    private static boolean isOfLog(String partition) {
        return Stream.of(Topics.DEFAULT.events(), Topics.DEFAULT.decisions(), Topics.DEFAULT.placements())
                .anyMatch(topic -> partition.startsWith(topic + "-"));
    }

    /** The batches of a partition in order, while {@code more} says so. */
    private static void each(Path partition, Predicate<FileChannelRecordBatch> more) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(partition)) {
            files = all.filter(file -> file.toString().endsWith(".log")).sorted().toList();
        }
        for (Path file : files) {
            FileRecords records = FileRecords.open(file.toFile(), false);
            try {
                for (FileChannelRecordBatch batch : records.batches()) {
                    if (!more.test(batch)) {
                        return;
                    }
                }
            } finally {
                records.closeHandlers();
            }
        }
    }

    private static boolean write(FileChannelRecordBatch batch, FileChannel out) {
        ByteBuffer bytes = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(bytes);
        try {
            out.write(bytes.flip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }
}
