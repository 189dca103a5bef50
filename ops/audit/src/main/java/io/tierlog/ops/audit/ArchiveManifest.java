/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

/**
 * How far an archive goes. Files behind it are of a round that was not finished, and do not count. Immutable.
 *
 * @param source what the log was last read from, for people
 * @param takenMs when the last round began, milliseconds since 1970
 * @param live whether the log was written to in the last round, so that its topics do not end at the same moment
 * @param parts one for each partition of each topic
 */
record ArchiveManifest(String source, long takenMs, boolean live, List<Part> parts) {
    /** Its name in the directory of the archive. */
    static final String FILE = "archive.properties";

    private static final long LAYOUT = 1;
    private static final String COPY = "take it from a copy, or archive the log again";

    ArchiveManifest {
        parts = List.copyOf(parts);
    }

    /**
     * One partition.
     *
     * @param end the offset after its last one
     * @param bytes of its files together
     */
    record Part(String topic, int partition, long end, long bytes) {
        String folder() {
            return topic + "-" + partition;
        }
    }

    /** A partition; empty when the archive has none of it. */
    Optional<Part> part(String topic, int partition) {
        return parts.stream().filter(part -> part.partition == partition && part.topic.equals(topic)).findFirst();
    }

    /**
     * Requires that every file is there with its length. Damage within them shows when they are read, by the checksums of their batches.
     *
     * @throws AuditException when one is not
     */
    void requireWhole(Path directory) {
        for (Part part : parts) {
            long there = 0;
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.resolve(part.folder()), "*" + DirectoryLog.SEGMENT)) {
                for (Path file : files) {
                    there += DirectoryLog.firstOffset(file) < part.end ? Files.size(file) : 0;
                }
            } catch (IOException | DirectoryIteratorException e) {
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
            return Optional.of(of(Files.readString(file)));
        } catch (IOException | NumberFormatException e) {
            throw new AuditException("the archive " + directory + " cannot be used: " + e.getMessage(), COPY, e);
        }
    }

    private static ArchiveManifest of(String text) throws IOException {
        Properties values = CheckedText.open(text, FILE);
        long layout = CheckedText.number(values, "layout");
        if (layout != LAYOUT) {
            throw new IOException(FILE + " has layout " + layout + ", and this version reads layout " + LAYOUT);
        }
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < CheckedText.number(values, "parts"); i++) {
            String prefix = "part." + i + ".";
            parts.add(new Part(values.getProperty(prefix + "topic", ""), Math.toIntExact(CheckedText.number(values, prefix + "partition")),
                    CheckedText.number(values, prefix + "end"), CheckedText.number(values, prefix + "bytes")));
        }
        return new ArchiveManifest(values.getProperty("source", ""), CheckedText.number(values, "taken-ms"),
                Boolean.parseBoolean(values.getProperty("live")), parts);
    }

    /** Puts it into a directory in one step, in the place of one that is there. */
    void write(Path directory) throws IOException {
        CheckedText text = new CheckedText().line("layout", LAYOUT).line("source", source).line("taken-ms", takenMs).line("live", live)
                .line("parts", parts.size());
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            String prefix = "part." + i + ".";
            text.line(prefix + "topic", part.topic).line(prefix + "partition", part.partition).line(prefix + "end", part.end)
                    .line(prefix + "bytes", part.bytes);
        }
        Path next = directory.resolve(FILE + ".part");
        Files.writeString(next, text.sealed());
        force(next, StandardOpenOption.WRITE);
        Files.move(next, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        force(directory, StandardOpenOption.READ);
    }

    /** Brings a file or directory to the disk. */
    static void force(Path path, OpenOption how) throws IOException {
        try (FileChannel channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
    }
}
