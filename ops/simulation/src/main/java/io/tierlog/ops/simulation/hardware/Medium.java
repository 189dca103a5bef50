/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.hardware;

import io.tierlog.ops.simulation.engine.Oracle;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A disk or the shared store: objects with headers, whose reads are verified like the shipped ones. Below the verification faults happen on demand:
 * lost or torn writes, flipped bits, missing shards, no space, no answer. Outlives agents. For one thread.
 */
public final class Medium {
    /** What becomes of a write that reports success. */
    public enum Lie {
        /** Nothing is kept. */
        LOST,
        /** The header is whole, half of the bytes are. */
        TORN,
        /** The bytes of another block are kept. */
        MISDIRECTED
    }

    /** What a read returns instead of the block, whole and with a checksum that fits. */
    public enum Misread {
        /** The bytes of another block. */
        ANOTHER,
        /** The placement before. */
        OLDER
    }

    /** One block that is held. */
    public static final class Held {
        final String namespace;
        final Block block;
        final long generation;
        final int crc32c;
        final byte[] bytes;

        Held(String namespace, Block block, long generation, int crc32c, byte[] bytes) {
            this.namespace = namespace;
            this.block = block;
            this.generation = generation;
            this.crc32c = crc32c;
            this.bytes = bytes;
        }

        /** What else must match. */
        public String namespace() {
            return namespace;
        }

        /** The block. */
        public Block block() {
            return block;
        }

        /** Rises with every write of the same key. */
        public long generation() {
            return generation;
        }

        /** The bytes as they are now. */
        public byte[] bytes() {
            return bytes;
        }

        /** Checksum in the header. */
        public int crc32c() {
            return crc32c;
        }
    }

    /** What became of one block: the status, the reason, checksum and generation, and the bytes of a read that was verified. */
    @SuppressWarnings("ArrayRecordComponent") // Handed on at once, never compared.
    record Answer(
            BlockStatus status, OperationReason reason, int crc32c, long generation, byte @Nullable [] bytes, @Nullable Misread misread) {
        static Answer failed(OperationReason why) {
            return new Answer(BlockStatus.FAILED, why, 0, 0, null, null);
        }
    }

    private record Name(String namespace, Bytes key) {}

    /** A lie that waits for its write, and the listener of its execution. */
    private record Pending(Lie lie, Runnable onUse) {}

    /** A misread that waits for its read, and the listener of its execution. */
    private record PendingRead(Misread misread, Runnable onUse) {}

    private static final int MOST_LIES = 4;

    private final int capacity;
    private final SequencedMap<Name, Held> held = new LinkedHashMap<>();
    private final Deque<Pending> lies = new ArrayDeque<>();
    private final Deque<PendingRead> misreads = new ArrayDeque<>();
    private final Map<Name, Long> lostAt = new HashMap<>();
    private long losses;
    private boolean full;
    private boolean reachable = true;
    private long generations;

    /** One that holds at most so many blocks. */
    public Medium(int capacity) {
        this.capacity = capacity;
    }

    /** Nothing more is taken, or something is again. */
    public void full(boolean now) {
        full = now;
    }

    /** Whether it answers at all. */
    public void reachable(boolean now) {
        reachable = now;
    }

    boolean reachable() {
        return reachable;
    }

    /** True while it answers and accepts what it has space for. */
    public boolean well() {
        return reachable && !full && lies.isEmpty();
    }

    /** The next write reports success and is not what it says. */
    public void lie(Lie lie) {
        lie(lie, () -> {});
    }

    /**
     * The next write that no other lie waits for reports success and is not what it says.
     *
     * @param onUse runs when that write comes, if one does
     * @return false when {@value #MOST_LIES} wait already, and this one is dropped
     */
    public boolean lie(Lie lie, Runnable onUse) {
        return lies.size() < MOST_LIES && lies.add(new Pending(lie, onUse));
    }

    /**
     * The next read of a block that serves, which no other misread waits for, returns something else.
     *
     * @param onUse runs when that read comes, if one does
     * @return false when {@value #MOST_LIES} wait already, and this one is dropped
     */
    public boolean misread(Misread misread, Runnable onUse) {
        return misreads.size() < MOST_LIES && misreads.add(new PendingRead(misread, onUse));
    }

    /** No more lies and misreads. */
    public void honest() {
        lies.clear();
        misreads.clear();
    }

    /** Number of blocks. */
    public int size() {
        return held.size();
    }

    /** True when there is an object of that name, whatever is in it. */
    public boolean holds(String namespace, Bytes key) {
        return held.containsKey(new Name(namespace, key));
    }

    /** Everything, in the order in which it was written. */
    public List<Held> all() {
        return new ArrayList<>(held.values());
    }

    /** Puts a whole block, as an earlier process left it. */
    public void put(String namespace, Block block, Oracle oracle) {
        byte[] bytes = new byte[oracle.blockBytes()];
        oracle.fill(namespace, block.key(), bytes);
        held.put(new Name(namespace, block.key()), new Held(namespace, block, ++generations, crc(bytes), bytes));
    }

    /** One byte of a block flips; false when it is not there. */
    public boolean corrupt(String namespace, Bytes key) {
        Held one = held.get(new Name(namespace, key));
        if (one == null) {
            return false;
        }
        one.bytes[one.bytes.length / 3] ^= 0x10;
        return true;
    }

    /** The block is there no longer; false when it was not. */
    public boolean lose(String namespace, Bytes key) {
        return lose(new Name(namespace, key));
    }

    private boolean lose(Name name) {
        lostAt.put(name, ++losses);
        return held.remove(name) != null;
    }

    /** How many blocks it has lost so far. */
    public long losses() {
        return losses;
    }

    /** Whether it has lost the block after it had lost {@code losses} blocks. */
    public boolean hasLostSince(long losses, String namespace, Bytes key) {
        return lostAt.getOrDefault(new Name(namespace, key), 0L) > losses;
    }

    /** A byte of the block at a position flips, or it is lost altogether; false when nothing is held. */
    public boolean spoil(int position, boolean lose) {
        if (held.isEmpty()) {
            return false;
        }
        Held one = all().get(position % held.size());
        if (lose) {
            lose(one.namespace, one.block.key());
        } else {
            one.bytes[position % one.bytes.length] ^= (byte) (1 << (position % Byte.SIZE));
        }
        return true;
    }

    Answer write(String namespace, Block block, int crc32c, byte[] page) {
        if (crc(page) != crc32c) {
            return Answer.failed(OperationReason.CHECKSUM);
        }
        if (!reachable) {
            return Answer.failed(OperationReason.STORE_UNAVAILABLE);
        }
        Name name = new Name(namespace, block.key());
        Held there = held.get(name);
        if (there != null) {
            return new Answer(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, there.crc32c, there.generation, null, null);
        }
        if (full || held.size() >= capacity) {
            return Answer.failed(OperationReason.NO_ROOM);
        }
        long generation = ++generations;
        byte[] bytes = page.clone();
        Pending pending = lies.poll();
        Lie lie = pending == null ? null : pending.lie;
        if (lie == Lie.TORN) {
            Arrays.fill(bytes, bytes.length / 2, bytes.length, (byte) 0);
        } else if (lie == Lie.MISDIRECTED) {
            bytes = held.isEmpty() ? new byte[bytes.length] : held.firstEntry().getValue().bytes.clone();
        }
        if (lie != Lie.LOST) {
            held.put(name, new Held(namespace, block, generation, crc32c, bytes));
        }
        if (pending != null) {
            pending.onUse.run();
        }
        return new Answer(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc32c, generation, null, null);
    }

    /** Deletes an object of exactly this generation; generations are never given twice. */
    Answer delete(String namespace, Bytes key, long generation) {
        Name name = new Name(namespace, key);
        Held there = held.get(name);
        if (!reachable) {
            return Answer.failed(OperationReason.STORE_UNAVAILABLE);
        }
        if (there == null || there.generation != generation) {
            return Answer.failed(there == null ? OperationReason.NOT_FOUND : OperationReason.STALE_GENERATION);
        }
        lose(name);
        return new Answer(BlockStatus.GONE, OperationReason.COMPLETED, 0, generation, null, null);
    }

    /** Reads and verifies; {@code generation} 0 stands for any. A copy that is not what it should be is held no longer. */
    Answer read(String namespace, Bytes key, long generation) {
        Name name = new Name(namespace, key);
        Held there = held.get(name);
        if (!reachable) {
            return Answer.failed(OperationReason.STORE_UNAVAILABLE);
        }
        if (there == null) {
            return Answer.failed(OperationReason.NOT_FOUND);
        }
        if (generation != 0 && generation != there.generation) {
            return Answer.failed(OperationReason.STALE_GENERATION);
        }
        if (crc(there.bytes) != there.crc32c) {
            lose(name);
            return Answer.failed(OperationReason.CHECKSUM);
        }
        Answer other = misread(name, there);
        return other == null
                ? new Answer(BlockStatus.ARRIVED, OperationReason.COMPLETED, there.crc32c, there.generation, there.bytes, null)
                : other;
    }

    private @Nullable Answer misread(Name name, Held there) {
        PendingRead pending = misreads.peek();
        boolean older = pending != null && pending.misread == Misread.OLDER;
        Held returned = older ? there : held.entrySet().stream()
                .filter(one -> !one.getKey().equals(name)).map(Map.Entry::getValue)
                .filter(one -> crc(one.bytes) == one.crc32c && one.crc32c != there.crc32c).findFirst().orElse(null);
        if (pending == null || returned == null) {
            return null;
        }
        misreads.remove();
        pending.onUse.run();
        long generation = older ? there.generation - 1 : there.generation;
        return new Answer(BlockStatus.ARRIVED, OperationReason.COMPLETED, returned.crc32c, generation, returned.bytes, pending.misread);
    }

    Answer drop(String namespace, Bytes key, long generation) {
        Name name = new Name(namespace, key);
        Held there = held.get(name);
        if (!reachable) {
            return Answer.failed(OperationReason.IO);
        }
        if (there == null) {
            return Answer.failed(OperationReason.NOT_FOUND);
        }
        if (generation != 0 && generation != there.generation) {
            return Answer.failed(OperationReason.STALE_GENERATION);
        }
        held.remove(name);
        return new Answer(BlockStatus.GONE, OperationReason.COMPLETED, 0, there.generation, null, null);
    }

    static int crc(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length);
        return (int) crc.getValue();
    }
}
