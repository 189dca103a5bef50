/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.IndexLimits;
import io.tierlog.controller.http.ServerLimits;

/**
 * The bounds of a directory instance. What is over one of them is refused with a reason.
 *
 * @param index of the index of each partition
 * @param server limits of HTTP and gRPC
 * @param keys most keys of one call
 * @param forwardMs how long another instance is waited for, in milliseconds
 * @param forwards most calls to other instances in progress; what is more is UNKNOWN at once
 * @param lookEveryMs distance between two looks at the end of the log, in milliseconds
 * @param staleAfterMs an answer is called stale when its partition was not at the end of the log for so long, in milliseconds
 * @param rocksDbBytes memory of RocksDB in this process, as the controller has it
 * @param commitMs time between two commits, in milliseconds: standbys are behind by that much
 * @param sessionMs after this a silent instance is replaced, in milliseconds
 * @param threads stream threads
 */
public record DirectoryLimits(
        IndexLimits index,
        ServerLimits server,
        int keys,
        int forwardMs,
        int forwards,
        int lookEveryMs,
        int staleAfterMs,
        long rocksDbBytes,
        int commitMs,
        int sessionMs,
        int threads) {
    /**
     * 2 MiB of body, 256 requests of HTTP, 10,000 keys a call, 1 s for another instance and 256 calls to them, a look every 500 ms, stale after 5 s,
     * 128 MiB for RocksDB, a commit a second, 10 s for sessions, one thread.
     */
    public static final DirectoryLimits DEFAULTS = new DirectoryLimits(
            IndexLimits.DEFAULTS, new ServerLimits(2 << 20, 8, 256), 10_000, 1_000, 256, 500, 5_000, 128L << 20, 1_000, 10_000, 1);

    /** Refuses bounds that let nothing through or cannot work together. */
    public DirectoryLimits {
        if (keys < 1 || forwardMs < 1 || forwards < 1 || lookEveryMs < 10 || staleAfterMs < lookEveryMs || commitMs < 10 || threads < 1) {
            throw new IllegalArgumentException("a bound of the directory is too small: " + keys + " keys, " + forwardMs + " ms and " + forwards
                    + " calls to other instances, a look every " + lookEveryMs + " ms, stale after " + staleAfterMs + " ms, a commit every "
                    + commitMs + " ms, " + threads + " threads");
        }
        if (sessionMs < 1_000 || rocksDbBytes < 16L << 20) {
            throw new IllegalArgumentException("a session of " + sessionMs + " ms, or " + rocksDbBytes + " bytes for RocksDB, is too little");
        }
    }

    /** The same with another index. */
    public DirectoryLimits withIndex(IndexLimits other) {
        return new DirectoryLimits(other, server, keys, forwardMs, forwards, lookEveryMs, staleAfterMs, rocksDbBytes, commitMs, sessionMs, threads);
    }

    /** The same with other times. */
    public DirectoryLimits withTimes(int looks, int stale, int commits, int sessions) {
        return new DirectoryLimits(index, server, keys, forwardMs, forwards, looks, stale, rocksDbBytes, commits, sessions, threads);
    }
}
