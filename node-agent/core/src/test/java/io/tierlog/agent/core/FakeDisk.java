/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.tierlog.agent.core.api.AgentInput.FoundOnDisk;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DiskTransfers.DiskObject;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** What is on a disk, as real bytes that outlive the agent. Reads are verified; writes fail as a test wants. */
final class FakeDisk {
    /** What becomes of a write that reports success. */
    enum Lie {
        /** Nothing is kept. */
        LOST,
        /** The header is whole, half of the bytes are. */
        TORN
    }

    private static final class Held {
        final String namespace;
        final Block block;
        final long generation;
        final int crc32c;
        final byte[] bytes;

        Held(String namespace, Block block, long generation, byte[] bytes) {
            this.namespace = namespace;
            this.block = block;
            this.generation = generation;
            this.crc32c = FakePorts.crc(FakePorts.content(namespace, block.key())); // whatever becomes of the bytes
            this.bytes = bytes.clone();
        }
    }

    private final SequencedMap<String, Held> held = new LinkedHashMap<>();
    final Deque<Lie> lies = new ArrayDeque<>();
    boolean full;
    private long generations;

    UnitResult write(String namespace, PageWrite write, byte[] page) {
        Bytes key = write.key();
        if (FakePorts.crc(page) != write.crc32c()) {
            return FakePorts.failed(OperationReason.CHECKSUM);
        }
        assertArrayEquals(FakePorts.content(namespace, key), page, () -> "wrong content written to the disk under " + key);
        Held there = held.get(FakePorts.name(namespace, key));
        if (there != null) {
            return new UnitResult(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, there.crc32c, there.generation);
        }
        if (full) {
            return FakePorts.failed(OperationReason.NO_ROOM);
        }
        Lie lie = lies.poll();
        long generation = ++generations;
        if (lie != Lie.LOST) {
            byte[] half = Arrays.copyOf(Arrays.copyOf(page, page.length / 2), page.length);
            put(namespace, new Block(write.index(), key, write.parent()), generation, lie == Lie.TORN ? half : page);
        }
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, write.crc32c(), generation);
    }

    private void put(String namespace, Block block, long generation, byte[] bytes) {
        held.put(FakePorts.name(namespace, block.key()), new Held(namespace, block, generation, bytes));
    }

    UnitResult read(String namespace, PageRead read, byte[] into) {
        Held there = held.get(FakePorts.name(namespace, read.key()));
        if (there == null) {
            return FakePorts.failed(OperationReason.NOT_FOUND);
        }
        if (there.generation != read.generation()) {
            return FakePorts.failed(OperationReason.STALE_GENERATION);
        }
        System.arraycopy(there.bytes, 0, into, 0, into.length);
        if (FakePorts.crc(there.bytes) != there.crc32c) {
            held.remove(FakePorts.name(namespace, read.key()));
            return FakePorts.failed(OperationReason.CHECKSUM);
        }
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, there.crc32c, there.generation);
    }

    UnitResult drop(String namespace, DiskObject drop) {
        Held there = held.get(FakePorts.name(namespace, drop.key()));
        if (there == null) {
            return FakePorts.failed(OperationReason.NOT_FOUND);
        }
        if (drop.generation() != 0 && drop.generation() != there.generation) {
            return FakePorts.failed(OperationReason.STALE_GENERATION);
        }
        held.remove(FakePorts.name(namespace, drop.key()));
        return new UnitResult(BlockStatus.GONE, OperationReason.COMPLETED, 0, there.generation);
    }

    // --- for tests

    boolean holds(Prompt prompt, int index) {
        return held.containsKey(FakePorts.name(prompt.namespace(), prompt.keys().get(index)));
    }

    int size() {
        return held.size();
    }

    /** Puts whole blocks, as an earlier process left them. */
    void put(Prompt prompt, int from, int to) {
        for (int i = from; i < to; i++) {
            put(prompt.namespace(), prompt.block(i), ++generations, FakePorts.content(prompt.namespace(), prompt.keys().get(i)));
        }
    }

    /** One bit of the block flips where it lies. */
    void rot(Prompt prompt, int index) {
        Held there = held.get(FakePorts.name(prompt.namespace(), prompt.keys().get(index)));
        if (there == null) {
            throw new IllegalArgumentException("not there: block " + index);
        }
        there.bytes[5] ^= 4;
    }

    /** One bit of the block flips where it lies, if it is there. */
    void rot(String namespace, Bytes key) {
        Held there = held.get(FakePorts.name(namespace, key));
        if (there != null) {
            there.bytes[9] ^= 2;
        }
    }

    /** One bit of some block flips. */
    void rotOldest() {
        held.values().stream().findFirst().ifPresent(there -> there.bytes[7] ^= 1);
    }

    void lose(Prompt prompt, int index) {
        held.remove(FakePorts.name(prompt.namespace(), prompt.keys().get(index)));
    }

    /** What a start finds by the headers. */
    List<FoundOnDisk> found() {
        List<FoundOnDisk> found = new ArrayList<>();
        held.values().forEach(one -> found.add(
                new FoundOnDisk(one.namespace, one.block, one.generation, one.crc32c, FakePorts.BLOCK_BYTES)));
        return found;
    }
}
