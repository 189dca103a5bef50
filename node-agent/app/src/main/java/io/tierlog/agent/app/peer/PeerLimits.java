/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

/**
 * What bounds reads across nodes.
 *
 * @param chunkBytes largest chunk of a block, 1 to 1 MiB
 * @param threads threads that send, and as many that receive, 1 or more
 * @param calls reads of other nodes that wait or are sent at once; one more is UNAVAILABLE
 * @param blocksPerCall most blocks in one read, 1 or more
 * @param readMs longest time of a read, the wait for its grant included, in milliseconds, 1 or more
 * @param bytesInFlight most bytes that this agent reads from others at once; a single unit may have more
 * @param channels other nodes that are connected at once, 1 or more
 */
public record PeerLimits(int chunkBytes, int threads, int calls, int blocksPerCall, long readMs, long bytesInFlight, int channels) {
    /** Chunks of 256 KiB, 2 threads, 64 calls of 4,096 blocks, 5 s, 1 GiB, 64 nodes. */
    public static final PeerLimits DEFAULTS = new PeerLimits(256 << 10, 2, 64, 4_096, 5_000, 1L << 30, 64);

    static final int MOST_CHUNK_BYTES = 1 << 20;

    public PeerLimits {
        if (chunkBytes < 1 || chunkBytes > MOST_CHUNK_BYTES) {
            throw new IllegalArgumentException("a chunk has 1 to " + MOST_CHUNK_BYTES + " bytes, not " + chunkBytes);
        }
        if (threads < 1 || calls < 1 || blocksPerCall < 1 || readMs < 1 || bytesInFlight < 1 || channels < 1) {
            throw new IllegalArgumentException("peer limits are 1 or more: threads " + threads + ", calls " + calls + ", blocksPerCall "
                    + blocksPerCall + ", readMs " + readMs + ", bytesInFlight " + bytesInFlight + ", channels " + channels);
        }
    }
}
