/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

/**
 * How often numbers were used of late, at most 15 times: a count-min sketch of four rows that is halved after ten uses for each block of the
 * capacity. It counts too many where numbers collide, never too few. Confined to one thread.
 */
final class Sketch {
    /** Four bytes in each of the four rows, for one to two columns a block; the larger is stated. */
    static final int BYTES_PER_BLOCK = 8;

    private static final int ROWS = 4;
    private static final int MOST = 15;
    private static final int USES_PER_BLOCK = 10;
    private static final long[] SEEDS = {0x9FB2_1C65_1E98_DF25L, 0xD6E8_FEB8_6659_FD93L, 0x7E4A_91C3_5D2B_F06DL, 0x1B87_35E9_C4D6_A2F3L};

    private final byte[][] counts;
    private final int mask;
    private final long mostUses;
    private long uses;

    Sketch(int capacity) {
        int columns = Integer.highestOneBit(Math.max(16, capacity - 1)) << 1;
        this.counts = new byte[ROWS][columns];
        this.mask = columns - 1;
        this.mostUses = (long) USES_PER_BLOCK * capacity;
    }

    void add(long id) {
        for (int row = 0; row < ROWS; row++) {
            int column = column(row, id);
            if (counts[row][column] < MOST) {
                counts[row][column]++;
            }
        }
        if (++uses >= mostUses) {
            halve();
        }
    }

    int count(long id) {
        int least = MOST;
        for (int row = 0; row < ROWS; row++) {
            least = Math.min(least, counts[row][column(row, id)]);
        }
        return least;
    }

    private int column(int row, long id) {
        long mixed = (id ^ SEEDS[row]) * SEEDS[(row + 1) % ROWS];
        return (int) (mixed ^ mixed >>> 32) & mask;
    }

    private void halve() {
        for (byte[] row : counts) {
            for (int i = 0; i < row.length; i++) {
                row[i] >>= 1;
            }
        }
        uses /= 2;
    }
}
