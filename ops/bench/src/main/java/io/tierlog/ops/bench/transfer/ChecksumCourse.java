/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.BenchException;
import java.util.List;

/** What checksums cost: CRC32C of every host page, by one thread. Every byte that moves to or from a tier is read once more for this. */
final class ChecksumCourse implements Course {
    private final HostBlocks host;

    ChecksumCourse(HostBlocks host) {
        this.host = host;
    }

    @Override
    public String title() {
        return "checksum";
    }

    @Override
    public List<Contest> contests() {
        return List.of(new Contest("CRC32C of blocks in host memory, one thread", new Way("Tierlog", this::sums), List.of(), 0));
    }

    private Sample sums() {
        long[] took = new long[host.shape().blocks()];
        long start = System.nanoTime();
        for (int block = 0; block < took.length; block++) {
            long began = System.nanoTime();
            if (host.pool().crc32c(block) != host.crc32c(block)) {
                throw BenchException.failed("block " + block + " has changed in host memory", "look at the memory of this machine");
            }
            took[block] = System.nanoTime() - began;
        }
        return Sample.of(host.shape().bytes(), System.nanoTime() - start, took);
    }

    @Override
    public void close() {
        // Nothing is its own.
    }
}
