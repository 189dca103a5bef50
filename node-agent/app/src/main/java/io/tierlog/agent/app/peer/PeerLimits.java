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
 * @param grantMs longest wait of a read for its grant, in milliseconds, 1 or more: then the store is asked
 * @param bytesInFlight most bytes that this agent reads from others at once; a single unit may have more
 * @param channels other nodes that are connected at once, 1 or more
 * @param lookups questions to the directory under way at once, 1 or more
 * @param bytesPerSecond most bytes that are sent to other nodes in a second, 1 or more
 */
public record PeerLimits(
        int chunkBytes, int threads, int calls, int blocksPerCall, long readMs, long grantMs, long bytesInFlight, int channels, int lookups,
        long bytesPerSecond) {
    /** Bytes are sent as fast as they are read. */
    public static final long UNBOUNDED = Long.MAX_VALUE;

    /** Chunks of 256 KiB, 2 threads, 64 calls of 4,096 blocks, 5 s of which 1 s for the grant, 1 GiB, 64 nodes, 64 questions, as fast as it goes. */
    public static final PeerLimits DEFAULTS = new PeerLimits(256 << 10, 2, 64, 4_096, 5_000, 1_000, 1L << 30, 64, 64, UNBOUNDED);

    static final int MOST_CHUNK_BYTES = 1 << 20;

    public PeerLimits {
        if (chunkBytes < 1 || chunkBytes > MOST_CHUNK_BYTES) {
            throw new IllegalArgumentException("a chunk has 1 to " + MOST_CHUNK_BYTES + " bytes, not " + chunkBytes);
        }
        if (threads < 1 || calls < 1 || blocksPerCall < 1 || readMs < 1 || grantMs < 1 || bytesInFlight < 1 || channels < 1 || lookups < 1
                || bytesPerSecond < 1) {
            throw new IllegalArgumentException("peer limits are 1 or more: threads " + threads + ", calls " + calls + ", blocksPerCall "
                    + blocksPerCall + ", readMs " + readMs + ", grantMs " + grantMs + ", bytesInFlight " + bytesInFlight + ", channels " + channels
                    + ", lookups " + lookups + ", bytesPerSecond " + bytesPerSecond);
        }
    }

    /** The same with another rate, and chunks of which some go in every second. */
    public PeerLimits withBytesPerSecond(long most) {
        int chunk = (int) Math.max(1, Math.min(chunkBytes, most / 8));
        return new PeerLimits(chunk, threads, calls, blocksPerCall, readMs, grantMs, bytesInFlight, channels, lookups, most);
    }
}
