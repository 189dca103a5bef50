/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import java.util.Arrays;

/**
 * The checksums of a publisher's last batches, by their numbers. They reach further back than the queue of a subscription, so that a batch that an
 * answer has overtaken is known when it comes out of the queue. Trade-off: 64 KiB for a publisher with as many batches.
 */
final class Checksums {
    /** Most numbers, count. */
    static final int MOST = 16_384;

    private static final int FEWEST = 64;

    /** By the number's last bits; 0 is none. */
    private int[] ring = new int[FEWEST];

    private long oldest;
    private long newest = -1;

    private int place(long seq) {
        return (int) (seq & (ring.length - 1));
    }

    private static int stored(int crc32c) {
        return crc32c == 0 ? 1 : crc32c;
    }

    /** A batch with a higher number than all before. */
    void put(long seq, int crc32c) {
        if (newest < 0 || seq - newest >= MOST) {
            clear();
            oldest = seq;
        } else {
            oldest = Math.max(oldest, seq - MOST + 1);
            while (seq - oldest >= ring.length) {
                grow();
            }
            for (long hole = newest + 1; hole < seq; hole++) {
                ring[place(hole)] = 0;
            }
        }
        ring[place(seq)] = stored(crc32c);
        newest = seq;
    }

    private void grow() {
        int[] small = ring;
        ring = new int[small.length * 2];
        for (long seq = oldest; seq <= newest; seq++) {
            ring[place(seq)] = small[(int) (seq & (small.length - 1))];
        }
    }

    private int of(long seq) {
        return seq < oldest || seq > newest ? 0 : ring[place(seq)];
    }

    /** Whether the batch of that number is remembered and was another one. */
    boolean differs(Frame frame) {
        int known = of(frame.seq());
        return known != 0 && known != stored(frame.crc32c());
    }

    /** Whether the batch of that number is remembered and was the same. */
    boolean matches(Frame frame) {
        return of(frame.seq()) == stored(frame.crc32c());
    }

    /** The lowest number that may be remembered; 0 when there is none. */
    long oldest() {
        return oldest;
    }

    void clear() {
        Arrays.fill(ring, 0);
        oldest = 0;
        newest = -1;
    }
}
