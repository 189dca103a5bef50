/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.BenchException;
import java.util.List;
import org.HdrHistogram.Histogram;

/** The cost of checksums: CRC32C of every host page, by one thread. The agent reads every byte that moves to or from a tier once more for this. */
final class ChecksumBench implements TierBench {
    private final HostBlocks host;

    ChecksumBench(HostBlocks host) {
        this.host = host;
    }

    @Override
    public String title() {
        return "checksum";
    }

    @Override
    public List<Comparison> comparisons() {
        return List.of(new Comparison("CRC32C of blocks in host memory, one thread", new Variant("Tierlog", this::sums), List.of(), 0));
    }

    private Sample sums() {
        Histogram took = Sample.times();
        long start = System.nanoTime();
        for (int block = 0; block < host.shape().blocks(); block++) {
            long began = System.nanoTime();
            if (host.pool().crc32c(block) != host.crc32c(block)) {
                throw BenchException.failed("block " + block + " has changed in host memory", "look at the memory of this machine");
            }
            took.recordValue(System.nanoTime() - began);
        }
        return Sample.of(host.shape().bytes(), System.nanoTime() - start, took);
    }

    @Override
    public void close() {
        // It holds no resource.
    }
}
