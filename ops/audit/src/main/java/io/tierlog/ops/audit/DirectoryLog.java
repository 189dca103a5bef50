/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A log in the data directory of a broker that is not running: Kafka's segment files, read as they are and never written to.
 *
 * <p>The directory is that of {@code tierlog broker}, of {@code tierlog demo --keep}, or a log directory of any Kafka broker. One replica is read:
 * records that this broker has not replicated yet are not in its files.
 */
public final class DirectoryLog implements LogSource {
    private static final String MARKER = "tierlog-broker";

    private final Path log;

    /**
     * @throws AuditException when there is no log in {@code directory}, or a broker uses it now
     */
    public DirectoryLog(Path directory) {
        Path found = null;
        for (Path candidate : List.of(directory, directory.resolve("log"), directory.resolve("broker").resolve("log"))) {
            if (Files.exists(candidate.resolve("meta.properties"))) {
                found = candidate;
                break;
            }
        }
        if (found == null) {
            throw new AuditException("there is no Kafka log in " + directory,
                    "give the directory that the broker was started with (tierlog broker --data DIR), or its log directory");
        }
        log = found;
        refuseUsed(found.toAbsolutePath().normalize().resolveSibling(MARKER));
    }

    private static void refuseUsed(Path marker) {
        if (!Files.exists(marker)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(marker, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock == null) {
                throw used(marker);
            }
        } catch (OverlappingFileLockException e) {
            throw used(marker);
        } catch (IOException e) {
            throw new AuditException("cannot read " + marker + ": " + e, "check that this user may write there: reading takes its lock", e);
        }
    }

    private static AuditException used(Path marker) {
        return new AuditException("a running broker uses the log beside " + marker, "stop it, or use --bootstrap-servers instead of --log");
    }

    @Override
    public int partitions(String topic) {
        int partitions = 0;
        while (Files.isDirectory(folder(topic, partitions))) {
            partitions++;
        }
        if (partitions == 0) {
            throw new AuditException("there is no topic " + topic + " in " + log, "look at --topic-prefix");
        }
        return partitions;
    }

    @Override
    public LogSource.Stream open(String topic, int partition) {
        Path folder = folder(topic, partition);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.log")) {
            List<Path> segments = new ArrayList<>();
            files.forEach(segments::add);
            Collections.sort(segments); // They are called by their first offset, in twenty digits.
            return new SegmentStream(segments);
        } catch (IOException | DirectoryIteratorException e) {
            throw new AuditException("cannot read " + folder + ": " + e.getMessage(), "check that this user may read it", e);
        }
    }

    @Override
    public LogSource.Stream openAll(String topic) {
        return new AllPartitions(this, topic, partitions(topic));
    }

    @Override
    public boolean isLive() {
        return false;
    }

    /** Holds nothing. */
    @Override
    public void close() {}

    private Path folder(String topic, int partition) {
        return log.resolve(topic + "-" + partition);
    }
}
