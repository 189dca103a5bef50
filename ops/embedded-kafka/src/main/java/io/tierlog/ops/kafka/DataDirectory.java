/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import io.tierlog.ops.kafka.EmbeddedKafkaException.UnusableData;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * The directory of one embedded broker, owned by one process at a time.
 *
 * <pre>
 * DIR/tierlog-broker   says that this directory is ours; holds the format number; locked while a broker runs
 * DIR/log/             Kafka's log directory, formatted once
 * </pre>
 *
 * <p>The own lock is needed: a combined node replays and appends its metadata log before Kafka takes its lock, so two on one
 * directory would both write it. The operating system ties the lock to the process and drops it as soon as the process closes
 * <em>any</em> channel of the file, so the file is opened once per process ({@link #TAKEN}) and only read through that channel.
 * {@link #claim} is safe for several threads, an instance is not.
 */
final class DataDirectory implements AutoCloseable {
    private static final String MARKER = "tierlog-broker";
    private static final String FORMAT = "format=1\n";

    private static final int MAX_FORMAT_BYTES = 64;

    /** The directories this process holds, by their real path. */
    private static final Set<Path> TAKEN = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final FileChannel marker;

    private DataDirectory(Path directory, FileChannel marker) {
        this.directory = directory;
        this.marker = marker;
    }

    /**
     * Takes the directory for this process and formats Kafka's part of it when that was not done yet.
     *
     * @throws UnusableData when another program wrote it, another process uses it, or it cannot be written
     */
    static DataDirectory claim(Path directory) {
        try {
            Path real = Files.createDirectories(directory).toRealPath();
            refuseForeign(real);
            if (!TAKEN.add(real)) {
                throw inUse(real);
            }
            try {
                return lockAndFormat(real);
            } catch (Exception failure) {
                TAKEN.remove(real);
                throw failure;
            }
        } catch (UnusableData refused) {
            throw refused;
        } catch (Exception failure) {
            throw new UnusableData(directory, String.valueOf(failure), "choose a directory that can be written", failure);
        }
    }

    private static DataDirectory lockAndFormat(Path real) throws Exception {
        FileChannel marker = FileChannel.open(
                real.resolve(MARKER), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            if (marker.tryLock() == null) {
                throw inUse(real);
            }
            DataDirectory data = new DataDirectory(real, marker);
            data.checkFormat();
            data.formatIfNew();
            return data;
        } catch (Exception failure) {
            marker.close();
            throw failure;
        }
    }

    private static UnusableData inUse(Path directory) {
        return new UnusableData(directory, "another broker uses it now", "stop that broker, or choose another directory", null);
    }

    Path log() {
        return directory.resolve("log");
    }

    /** Gives the directory back; closing twice is nothing. */
    @Override
    public void close() {
        try {
            marker.close();
        } catch (IOException failure) {
            throw new UnusableData(directory, "its lock cannot be given back: " + failure, "check the disk", failure);
        } finally {
            TAKEN.remove(directory);
        }
    }

    private static void refuseForeign(Path directory) throws IOException {
        if (Files.exists(directory.resolve(MARKER))) {
            return;
        }
        try (Stream<Path> files = Files.list(directory)) {
            Optional<Path> foreign = files.sorted().findFirst();
            if (foreign.isPresent()) {
                String what = Files.exists(directory.resolve("meta.properties"))
                        ? "it was formatted by another Kafka"
                        : "it holds " + foreign.get().getFileName() + ", which Tierlog did not write";
                throw new UnusableData(directory, what, "choose a new or an empty directory", null);
            }
        }
    }

    private void checkFormat() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MAX_FORMAT_BYTES);
        marker.read(bytes, 0);
        String found = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
        if (found.isEmpty()) {
            marker.write(ByteBuffer.wrap(FORMAT.getBytes(StandardCharsets.UTF_8)), 0);
        } else if (!found.equals(FORMAT)) {
            throw new UnusableData(
                    directory,
                    "it says '" + found.strip() + "' where this version writes '" + FORMAT.strip() + "'",
                    "use the Tierlog version that wrote it, or choose a new directory",
                    null);
        }
    }

    private void formatIfNew() throws Exception {
        if (Files.exists(log().resolve("meta.properties"))) {
            return;
        }
        if (holdsRecords(log())) {
            throw new UnusableData(
                    directory, "its log has lost the file meta.properties", "restore that file, or choose a new directory", null);
        }
        Files.createDirectories(log());
        try (PrintStream silent = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
            new Formatter()
                    .setPrintStream(silent)
                    .setNodeId(BrokerProperties.NODE_ID)
                    .setClusterId(Uuid.randomUuid().toString())
                    .addDirectory(log().toString())
                    .setMetadataLogDirectory(log().toString())
                    .setControllerListenerName(BrokerProperties.CONTROLLER_LISTENER)
                    .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
                    .setFeatureLevel("transaction.version", (short) 2)
                    .run();
        }
    }

    private static boolean holdsRecords(Path log) throws IOException {
        if (!Files.isDirectory(log)) {
            return false;
        }
        try (Stream<Path> files = Files.list(log)) {
            return files.anyMatch(Files::isDirectory);
        }
    }
}
