/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import java.util.PriorityQueue;

/** The queue in front of a link of one node: pieces in the order in which they came, each to the first worker that is free. For one thread. */
final class Channel {
    private final VirtualTime time;
    private final HardwareModel.Link link;
    private final PriorityQueue<Long> freeAtMicros = new PriorityQueue<>();
    private long bytes;

    Channel(VirtualTime time, HardwareModel.Link link) {
        this.time = time;
        this.link = link;
        for (int i = 0; i < link.workers(); i++) {
            freeAtMicros.add(0L);
        }
    }

    /** Moves blocks, and runs {@code done} when the last piece has come to rest. */
    void move(int blocks, long blockBytes, Runnable done) {
        bytes += blocks * blockBytes;
        long end = time.nowMicros();
        int left = blocks;
        do {
            int piece = Math.min(left, link.pieceBlocks());
            end = Math.max(end, take(link.micros(piece * blockBytes)));
            left -= piece;
        } while (left > 0);
        time.at(end, done);
    }

    /** Takes a worker for so long, and runs {@code done} at the end. */
    void work(long micros, Runnable done) {
        time.at(take(micros), done);
    }

    private long take(long micros) {
        long end = Math.max(time.nowMicros(), freeAtMicros.remove()) + micros;
        freeAtMicros.add(end);
        return end;
    }

    long bytes() {
        return bytes;
    }
}
