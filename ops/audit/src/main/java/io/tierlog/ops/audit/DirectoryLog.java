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
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A log in files: Kafka's segments, read as they are and never written to.
 *
 * <p>The directory is that of {@code tierlog broker}, of {@code tierlog demo --keep}, a log directory of any Kafka broker, or a {@link LogArchive}.
 * The broker is not running. One replica is read: records that this broker has not replicated yet are not in its files.
 */
public final class DirectoryLog implements LogSource {
    private static final String MARKER = "tierlog-broker";
    /** End of the name of a segment file. */
    static final String SEGMENT = ".log";

    private static final Pattern NAME = Pattern.compile("\\d{1,20}\\.log");

    /** In the folder of a partition. */
    static final String TOPIC_METADATA = "partition.metadata";

    static final String TOPIC_ID = "topic_id:";

    private final Path log;
    private final Optional<ArchiveManifest> archive;

    /**
     * @throws AuditException when there is no log in {@code directory}, a broker uses it now, or it is an archive that is not whole
     */
    public DirectoryLog(Path directory) {
        archive = ArchiveManifest.in(directory);
        if (archive.isPresent()) {
            log = directory;
            archive.get().requireWhole(directory);
            return;
        }
        Path found = null;
        for (Path candidate : List.of(directory, directory.resolve("log"), directory.resolve("broker").resolve("log"))) {
            if (Files.exists(candidate.resolve("meta.properties"))) {
                found = candidate;
                break;
            }
        }
        if (found == null) {
            throw new AuditException("there is no Kafka log in " + directory,
                    "give the directory that the broker was started with (tierlog broker --data DIR), its log directory, or one that audit archive"
                            + " has finished");
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
        if (archive.isPresent() && archive.get().partitions(topic) == 0) {
            throw new AuditException("there is no topic " + topic + " in the archive " + log,
                    "an archive has the topics " + archive.get().prefix() + ".events, .decisions, .commands and .heads; look at --topic-prefix");
        }
        int partitions = archive.map(all -> all.partitions(topic)).orElse(0);
        while (archive.isEmpty() && Files.isDirectory(folder(topic, partitions))) {
            partitions++;
        }
        if (partitions == 0) {
            throw new AuditException("there is no topic " + topic + " in " + log, "look at --topic-prefix");
        }
        return partitions;
    }

    @Override
    public LogSource.Stream open(String topic, int partition) {
        return segmentsFrom(topic, partition, 0);
    }

    @Override
    public LogSource.Stream open(String topic, int partition, long from) {
        SegmentStream stream = segmentsFrom(topic, partition, from);
        if (stream.begin() > from) {
            stream.close();
            throw TrimmedLog.before(topic, partition, stream.begin(), from);
        }
        if (stream.endOfFiles() < from) {
            stream.close();
            throw TrimmedLog.behind(topic, partition, stream.endOfFiles(), from);
        }
        return stream;
    }

    private SegmentStream segmentsFrom(String topic, int partition, long from) {
        try {
            return new SegmentStream(segments(topic, partition), from, archived(topic, partition));
        } catch (IOException e) {
            throw unreadable(folder(topic, partition), e);
        }
    }

    private Optional<ArchiveManifest.Part> archived(String topic, int partition) {
        return archive.flatMap(all -> all.part(topic, partition));
    }

    /** The segment files in the folder of a partition, in no order; other files have other names. */
    static List<Path> segmentsIn(Path folder) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, file -> NAME.matcher(file.getFileName().toString()).matches())) {
            files.forEach(found::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    private List<Path> segments(String topic, int partition) {
        Path folder = folder(topic, partition);
        // Later ones are of a round that was not finished.
        long end = archived(topic, partition).map(ArchiveManifest.Part::end).orElse(Long.MAX_VALUE);
        try {
            return segmentsIn(folder).stream().filter(file -> firstOffset(file) < end).sorted().toList(); // By their twenty digits.
        } catch (IOException e) {
            throw unreadable(folder, e);
        }
    }

    private static AuditException unreadable(Path path, Exception e) {
        return new AuditException("cannot read " + path + ": " + e.getMessage(), "check that this user may read it", e);
    }

    @Override
    public Optional<String> topicId(String topic) {
        return topicIdIn(folder(topic, 0));
    }

    /** The id in the folder of a partition. */
    static Optional<String> topicIdIn(Path folder) {
        Path file = folder.resolve(TOPIC_METADATA);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            return Files.readAllLines(file).stream()
                    .filter(line -> line.startsWith(TOPIC_ID))
                    .map(line -> line.substring(TOPIC_ID.length()).strip())
                    .findFirst();
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    @Override
    public List<Long> fileOffsets(String topic, int partition) {
        if (archive.isPresent()) {
            return List.of(); // Its files and batches are not those of the broker.
        }
        return segments(topic, partition).stream().map(DirectoryLog::firstOffset).toList();
    }

    /** The offset that a segment file is called by. */
    static long firstOffset(Path segment) {
        String name = segment.getFileName().toString();
        return Long.parseLong(name.substring(0, name.indexOf('.')));
    }

    @Override
    public Optional<String> batchChecksum(String topic, int partition, long from, long to) {
        if (archive.isPresent()) {
            return Optional.empty();
        }
        List<Path> segments = segments(topic, partition);
        List<Path> some = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            boolean after = i + 1 < segments.size() && firstOffset(segments.get(i + 1)) <= from;
            if (!after && firstOffset(segments.get(i)) < to) {
                some.add(segments.get(i));
            }
        }
        try {
            return Optional.of(SegmentStream.checksum(some, from, to));
        } catch (IOException e) {
            throw unreadable(folder(topic, partition), e);
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

    @Override
    public boolean endsAtOnce() {
        return archive.isEmpty() || !archive.get().live();
    }

    @Override
    public boolean hasTopic(String topic) {
        return archive.map(all -> all.partitions(topic) > 0).orElseGet(() -> Files.isDirectory(folder(topic, 0)));
    }

    @Override
    public boolean hasPlacements() {
        return archive.isEmpty();
    }

    /** Holds nothing. */
    @Override
    public void close() {}

    private Path folder(String topic, int partition) {
        return log.resolve(topic + "-" + partition);
    }
}
