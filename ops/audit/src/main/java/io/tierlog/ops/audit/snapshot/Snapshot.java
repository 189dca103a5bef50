/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.SnapshotFold;
import io.tierlog.schemas.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;

/** A whole snapshot in its directory. Safe for use by several threads. */
public final class Snapshot implements LogStart {
    /** A file with the checksum of the manifest that was verified. */
    static final String VERIFIED = "verified";

    private static final int BUFFER = 1 << 16;

    private final Path directory;
    private final Manifest manifest;
    private final String text;

    private Snapshot(Path directory, Manifest manifest, String text) {
        this.directory = directory;
        this.manifest = manifest;
        this.text = text;
    }

    /**
     * The snapshot in a directory.
     *
     * @throws AuditException when there is none, or its manifest is damaged
     */
    static Snapshot in(Path directory) {
        try {
            String text = Files.readString(directory.resolve(Manifest.FILE));
            return new Snapshot(directory, Manifest.of(text), text);
        } catch (IOException e) {
            throw damaged(directory, e);
        }
    }

    private static AuditException damaged(Path path, IOException why) {
        return isCheckpoint(path)
                ? new AuditException("the checkpoint " + path + " cannot be used: " + why.getMessage(),
                        "delete it: the audit then goes on from the one before it, or begins at the beginning of the log", why)
                : new AuditException("the snapshot " + path + " cannot be used: " + why.getMessage(),
                        "use an earlier one (snapshot list), and make another with snapshot create", why);
    }

    /** Whether a directory, or one of its files, is of a checkpoint. */
    private static boolean isCheckpoint(Path path) {
        Path above = path.getParent();
        return path.getFileName().toString().startsWith(Checkpoints.KIND)
                || (above != null && above.getFileName() != null && above.getFileName().toString().startsWith(Checkpoints.KIND + "-"));
    }

    /** Its name in the directory of snapshots. */
    public String name() {
        return String.valueOf(directory.getFileName());
    }

    /** Its directory. */
    public Path directory() {
        return directory;
    }

    /** When it was made, milliseconds since 1970. */
    public long createdMs() {
        return manifest.createdMs();
    }

    /** Length of its files, in bytes. */
    public long bytes() {
        return manifest.parts().stream().mapToLong(Manifest.Part::bytes).sum();
    }

    /** Placements in its tables. */
    public long placements() {
        return manifest.parts().stream().mapToLong(Manifest.Part::placements).sum();
    }

    /** Where it stands in each partition, ascending. */
    public List<PartitionStart.At> places() {
        return manifest.parts().stream().map(Manifest.Part::at).toList();
    }

    /** Whether it has a decision that is later than a moment, in a partition that the moment is of. */
    boolean isAfter(Moment moment) {
        return places().stream()
                .filter(at -> moment.onePartition().orElse(at.partition()) == at.partition())
                .anyMatch(at -> at.nextDecision() > 0 && !moment.includes(at.lastDecision(), at.lastTimeMs(), at.lastEvent()));
    }

    /** Name of the snapshot that it went on from; empty when it was folded from the beginning of the log. */
    public String previous() {
        return manifest.previous();
    }

    /** Whether its bytes were compared with a second fold of the log, and it did not change since. */
    public boolean isVerified() {
        try {
            return Files.readString(directory.resolve(VERIFIED)).strip().equals(mark());
        } catch (IOException e) {
            return false;
        }
    }

    /** What {@link #VERIFIED} holds. */
    String mark() {
        return Sha256.hex(text);
    }

    /**
     * Requires that it is of this log.
     *
     * @throws AuditException when it is of other topics, or of another number of partitions
     */
    public void requireOf(Topics topics, int partitions) {
        if (!manifest.events().equals(topics.events()) || manifest.parts().size() != partitions) {
            throw new AuditException("the snapshot " + directory + " is of " + manifest.events() + " with " + manifest.parts().size()
                    + " partitions, and the log is " + topics.events() + " with " + partitions,
                    "give a snapshot of this log, or look at --topic-prefix");
        }
    }

    /** Reads a partition, once its checksum is right. */
    @Override
    public Optional<PartitionStart> of(int partition) {
        if (partition >= manifest.parts().size()) {
            throw new AuditException("the snapshot " + directory + " has no partition " + partition, "give a snapshot of this log");
        }
        Manifest.Part part = manifest.parts().get(partition);
        Path file = directory.resolve(part.file());
        try {
            requireWhole(file, part);
            PartitionStart start = SnapshotFold.read(() -> Files.newInputStream(file));
            if (!start.at().equals(part.at())) {
                throw new IOException(part.file() + " is of another place than " + Manifest.FILE + " says");
            }
            return Optional.of(start);
        } catch (IOException e) {
            throw damaged(file, e);
        }
    }

    /**
     * Reads every file and compares its checksum.
     *
     * @throws AuditException when one is not whole
     */
    public void requireWhole() {
        for (Manifest.Part part : manifest.parts()) {
            Path file = directory.resolve(part.file());
            try {
                requireWhole(file, part);
            } catch (IOException e) {
                throw damaged(file, e);
            }
        }
    }

    private static void requireWhole(Path file, Manifest.Part part) throws IOException {
        MessageDigest digest = Sha256.digest();
        try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
            byte[] buffer = new byte[BUFFER];
            while (in.read(buffer) >= 0) {
                // Only the digest matters.
            }
        }
        if (!Sha256.hex(digest).equals(part.sha256())) {
            throw new IOException("its checksum is wrong");
        }
    }

    Manifest manifest() {
        return manifest;
    }

}
