/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.schemas.Sha256;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;

/** The file of one partition of a snapshot that is being made. Confined to one thread. */
final class PartFile {
    private static final int BUFFER = 1 << 16;

    private final SnapshotDirectory directory;
    private final Path file;
    private final MessageDigest digest = Sha256.digest();
    private long bytes;

    PartFile(SnapshotDirectory directory, Path into, int partition) {
        this.directory = directory;
        this.file = into.resolve("partition-" + partition);
    }

    /** Opens it; once. */
    DataOutputStream open() throws IOException {
        return new DataOutputStream(new BufferedOutputStream(new Counting(), BUFFER));
    }

    /** What the manifest says of it, once it is written and closed. */
    Manifest.Part part(PartitionStart.At at, long placements) {
        return new Manifest.Part(at, bytes, Sha256.hex(digest), placements);
    }

    private final class Counting extends DigestOutputStream {
        Counting() throws IOException {
            super(directory.write(file), PartFile.this.digest);
        }

        @Override
        public void write(int one) throws IOException {
            super.write(one);
            bytes++;
        }

        @Override
        public void write(byte[] data, int offset, int length) throws IOException {
            super.write(data, offset, length);
            bytes += length;
        }
    }
}
