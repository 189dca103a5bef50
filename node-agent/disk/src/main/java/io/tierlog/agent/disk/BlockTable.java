/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks are held and where, and which are being written. Safe for use by several threads; guarded by the monitor of {@link Segments}, so
 * that a block and its segment change together.
 *
 * <p>Trade-off: at most {@link DiskLimits#BYTES_PER_BLOCK} of heap per block. Parent, root, index and namespace text are read
 * from the headers when needed.
 */
final class BlockTable {
    private final Segments segments;
    private final DiskLimits limits;
    private final Map<BlockName, Entry> entries = new HashMap<>();
    private final Set<BlockName> claims = new HashSet<>();
    private final Map<Bytes, Held> namespaces = new HashMap<>();

    /** A block held: where, and what it must be. */
    record Entry(Segment segment, long offset, long generation, int length, int crc32c) {}

    /** One digest for all blocks of a namespace, with their number. */
    private static final class Held {
        private final Bytes digest;
        private int blocks;

        Held(Bytes digest) {
            this.digest = digest;
        }
    }

    /** What a claim found. */
    sealed interface Claim {
        /** The caller has the claim until it publishes or abandons the block. */
        record Granted() implements Claim {}

        /** The block is there. */
        record There(Entry entry) implements Claim {}

        /** Another one writes it. */
        record Taken() implements Claim {}

        /** The index is full. */
        record Full(String detail) implements Claim {}
    }

    BlockTable(Segments segments, DiskLimits limits) {
        this.segments = segments;
        this.limits = limits;
    }

    /** Asks to write a block; never waits. */
    Claim claim(BlockName name) {
        synchronized (segments) {
            Entry entry = entries.get(name);
            if (entry != null) {
                return new Claim.There(entry);
            }
            if (claims.contains(name)) {
                return new Claim.Taken();
            }
            if (entries.size() + claims.size() >= limits.blocks().most()) {
                return new Claim.Full("the disk tier holds " + entries.size() + " blocks and may hold no more: drop some");
            }
            if (!namespaces.containsKey(name.namespace()) && namespaces.size() >= limits.blocks().namespaces()) {
                return new Claim.Full("the disk tier holds blocks of " + namespaces.size() + " namespaces and may hold no more: drop some");
            }
            claims.add(name);
            return new Claim.Granted();
        }
    }

    /**
     * Like {@link #claim}, but waits for the thread that has it; an interrupt is kept for later. The caller has no claim itself: two could wait
     * for each other.
     */
    Claim awaitClaim(BlockName name) {
        boolean interrupted = false;
        try {
            synchronized (segments) {
                while (claims.contains(name)) {
                    try {
                        segments.wait();
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
                return claim(name);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The block of a claim is down: from now on it is read. */
    void publish(BlockName name, Entry entry) {
        synchronized (segments) {
            claims.remove(name);
            put(name, entry);
            segments.notifyAll();
        }
    }

    /** The block of a claim was not written. */
    void giveUp(BlockName name) {
        synchronized (segments) {
            claims.remove(name);
            segments.notifyAll();
        }
    }

    /** The block, its segment kept from being removed until {@link Segments#release}; null when it is not held. */
    @Nullable Entry acquire(BlockName name) {
        synchronized (segments) {
            Entry entry = entries.get(name);
            if (entry != null) {
                entry.segment.users++;
            }
            return entry;
        }
    }

    /** True while the block is held at that place. */
    boolean isCurrent(BlockName name, Entry entry) {
        synchronized (segments) {
            return entry.equals(entries.get(name));
        }
    }

    /** The block, if it is held at that place. */
    @Nullable Entry at(BlockName name, Segment segment, long offset) {
        synchronized (segments) {
            Entry entry = entries.get(name);
            return entry != null && entry.segment == segment && entry.offset == offset ? entry : null;
        }
    }

    /** Removes the block if it is held at that place; then its segment is kept from being removed until {@link Segments#release}. */
    boolean remove(BlockName name, Entry entry) {
        synchronized (segments) {
            if (!entries.remove(name, entry)) {
                return false;
            }
            dead(entry);
            entry.segment.users++;
            Held held = namespaces.get(name.namespace());
            if (held != null && --held.blocks == 0) {
                namespaces.remove(name.namespace());
            }
            return true;
        }
    }

    /** Moves the block if it is held at {@code from}. */
    boolean move(BlockName name, Entry from, Entry to) {
        synchronized (segments) {
            if (!entries.replace(name, from, to)) {
                return false;
            }
            dead(from);
            live(to);
            return true;
        }
    }

    /** At start: adds a block found, or keeps the one there is when that is newer; returns the one that lost, or null. */
    @Nullable Entry found(BlockName name, Entry entry) {
        synchronized (segments) {
            Entry other = entries.get(name);
            if (other == null) {
                put(name, entry);
                return null;
            }
            if (other.generation > entry.generation) {
                return entry;
            }
            move(name, other, entry);
            return other;
        }
    }

    int size() {
        synchronized (segments) {
            return entries.size();
        }
    }

    private void put(BlockName name, Entry entry) {
        Held held = namespaces.computeIfAbsent(name.namespace(), Held::new);
        held.blocks++;
        entries.put(new BlockName(held.digest, name.key()), entry);
        live(entry);
    }

    private void live(Entry entry) {
        entry.segment.liveBlocks++;
        entry.segment.liveBytes += limits.recordBytes(entry.length);
    }

    private void dead(Entry entry) {
        entry.segment.liveBlocks--;
        entry.segment.liveBytes -= limits.recordBytes(entry.length);
    }
}
