/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.utils.Utils;

/**
 * How far an archive goes. Files behind it are of a round that was not finished, and do not count. Immutable.
 *
 * @param prefix of the names of the topics
 * @param source what the log was last read from, for people
 * @param takenMs when the last round began, milliseconds since 1970
 * @param live whether the log was written to in the last round, so that its topics do not end at the same moment
 * @param parts one for each partition of each topic; none before the first round is over
 */
record ArchiveManifest(String prefix, String source, long takenMs, boolean live, List<Part> parts) {
    /** Its name in the directory of the archive. */
    static final String FILE = "archive.properties";

    /** The next one while it is written, or was when the round was killed. */
    static final String UNFINISHED = FILE + ".part";

    private static final long LAYOUT = 1;
    private static final String COPY = "take the archive from a copy that is whole";

    ArchiveManifest {
        parts = List.copyOf(parts);
    }

    /**
     * One partition.
     *
     * @param begin its first offset
     * @param end the offset after its last one
     * @param bytes of its files together
     * @param last offset of the last record; -1 when there is none
     * @param sum checksum of the last record, in hexadecimal digits
     */
    record Part(String topic, int partition, long begin, long end, long bytes, long last, String sum) {
        /** Before the first round. */
        static Part none(String topic, int partition) {
            return new Part(topic, partition, -1, 0, 0, -1, "");
        }

        String folder() {
            return topic + "-" + partition;
        }
    }

    /** A partition; empty when the archive has none of it. */
    Optional<Part> part(String topic, int partition) {
        return parts.stream().filter(part -> part.partition == partition && part.topic.equals(topic)).findFirst();
    }

    /** Number of partitions of a topic. */
    int partitions(String topic) {
        return Math.toIntExact(parts.stream().filter(part -> part.topic.equals(topic)).count());
    }

    /**
     * Requires that every file is there with its length. Damage within them shows when they are read, by the checksums of their batches.
     *
     * @throws AuditException when one is not
     */
    void requireWhole(Path directory) {
        for (Part part : parts) {
            long there = 0;
            try {
                for (Path file : DirectoryLog.segmentsIn(directory.resolve(part.folder()))) {
                    there += DirectoryLog.firstOffset(file) < part.end ? Files.size(file) : 0;
                }
            } catch (IOException e) {
                throw new AuditException("the archive " + directory + " is truncated: " + e, COPY, e);
            }
            if (there != part.bytes) {
                throw new AuditException("the archive " + directory + " is truncated or damaged: the files in " + part.folder() + " have " + there
                        + " bytes, and its manifest counts " + part.bytes, COPY);
            }
        }
    }

    /**
     * The manifest in a directory; empty when there is none.
     *
     * @throws AuditException when it cannot be read
     */
    static Optional<ArchiveManifest> in(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(of(directory, Files.readString(file)));
        } catch (IOException | NumberFormatException e) {
            throw new AuditException("the archive " + directory + " cannot be used: " + e.getMessage(), COPY, e);
        }
    }

    private static ArchiveManifest of(Path directory, String text) throws IOException {
        Properties values = CheckedText.open(text, FILE);
        long layout = CheckedText.number(values, "layout");
        if (layout != LAYOUT) {
            throw new AuditException("the archive " + directory + " has layout " + layout + ", and this version reads layout " + LAYOUT,
                    "use the version that wrote it, or a later one");
        }
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < CheckedText.number(values, "parts"); i++) {
            String prefix = "part." + i + ".";
            parts.add(new Part(values.getProperty(prefix + "topic", ""), Math.toIntExact(CheckedText.number(values, prefix + "partition")),
                    CheckedText.number(values, prefix + "begin"), CheckedText.number(values, prefix + "end"),
                    CheckedText.number(values, prefix + "bytes"), CheckedText.number(values, prefix + "last"),
                    values.getProperty(prefix + "sum", "")));
        }
        return new ArchiveManifest(values.getProperty("prefix", ""), values.getProperty("source", ""), CheckedText.number(values, "taken-ms"),
                Boolean.parseBoolean(values.getProperty("live")), parts);
    }

    /** Puts it into a directory in one step, in the place of one that is there. */
    void write(Path directory) throws IOException {
        CheckedText text = new CheckedText().line("layout", LAYOUT).line("prefix", prefix).line("source", source).line("taken-ms", takenMs)
                .line("live", live).line("parts", parts.size());
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            String name = "part." + i + ".";
            text.line(name + "topic", part.topic).line(name + "partition", part.partition).line(name + "begin", part.begin)
                    .line(name + "end", part.end).line(name + "bytes", part.bytes).line(name + "last", part.last).line(name + "sum", part.sum);
        }
        Path next = directory.resolve(UNFINISHED);
        Files.writeString(next, text.sealed());
        Utils.flushFileIfExists(next);
        Files.move(next, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        Utils.flushDir(directory);
    }
}
