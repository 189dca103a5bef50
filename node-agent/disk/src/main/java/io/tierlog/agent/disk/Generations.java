/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Optional;

/**
 * Gives every write a generation that no write of this tier has had, in any process: they are reserved in the label a million at a time. Safe for
 * use by several threads. Trade-off: a process skips the unused part of its last reservation.
 */
final class Generations {
    private static final long AT_A_TIME = 1 << 20;

    private final SegmentIo io;
    private final Bytes tier;
    private long next;
    private long reserved;

    private Generations(SegmentIo io, TierLabel label) {
        this.io = io;
        this.tier = label.tier();
        this.next = label.generations();
        this.reserved = label.generations();
    }

    /**
     * Reads the label, or makes it for a tier that has none.
     *
     * @throws DiskTierException when the tier was made with another alignment, or has blocks but no label
     */
    static Generations open(SegmentIo io) throws IOException {
        Optional<byte[]> found = io.label();
        if (found.isEmpty()) {
            if (!io.list().isEmpty()) {
                throw new DiskTierException("there are segments but no label: this is not a disk tier, or its label was removed;"
                        + " remove the segments to start over");
            }
            byte[] id = new byte[RecordHeader.TIER_ID_BYTES];
            new SecureRandom().nextBytes(id);
            return new Generations(io, new TierLabel(Bytes.wrapUnshared(id), io.alignBytes(), 1));
        }
        TierLabel label = TierLabel.decode(found.get());
        if (label.alignBytes() != io.alignBytes()) {
            throw new DiskTierException("the disk tier was made with alignment " + label.alignBytes() + " and is opened with "
                    + io.alignBytes() + ": set alignBytes to " + label.alignBytes() + ", or remove its files to start over");
        }
        return new Generations(io, label);
    }

    Bytes tier() {
        return tier;
    }

    /** The next generation, 1 or more. */
    synchronized long next() throws IOException {
        if (next == reserved) {
            io.writeLabel(new TierLabel(tier, io.alignBytes(), reserved + AT_A_TIME).encode());
            reserved += AT_A_TIME;
        }
        return next++;
    }
}
