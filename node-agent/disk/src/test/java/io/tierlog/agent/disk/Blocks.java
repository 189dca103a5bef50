/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.disk.BlockWrite.Position;
import io.tierlog.agent.disk.DiskLimits.Compaction;
import io.tierlog.agent.disk.DiskLimits.Space;
import io.tierlog.agent.disk.DiskLimits.Work;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;

/** Blocks with contents of their own, and small tiers to put them in. */
final class Blocks {
    static final int ALIGN = 4_096;
    /** Bytes of a block: two pages. */
    static final int BLOCK = 8_192;
    /** On disk: a page of header and two of block. */
    static final int RECORD = 12_288;
    /** Capacity for four blocks. */
    static final int SEGMENT = 4 * RECORD;

    static final Namespace MODEL = Namespace.of("model");
    static final Bytes ROOT = Bytes.ofHex("00112233445566778899aabbccddeeff");

    private Blocks() {}

    /** Up to ten segments of four blocks each, one of them kept for compaction. */
    static DiskLimits limits() {
        return new DiskLimits(
                new Space(10L * SEGMENT, 0, SEGMENT, ALIGN),
                new DiskLimits.Blocks(1_000, BLOCK, 200, 10),
                new Work(2, 2, 100, 100L * BLOCK, 4, 3),
                new Compaction(50, 2L * RECORD),
                ForcePolicy.NEVER);
    }

    static SegmentIo memory() {
        return new MemorySegmentIo(ALIGN, 1L << 30);
    }

    static BlockFile open(SegmentIo io) throws IOException {
        return open(io, limits());
    }

    static BlockFile open(SegmentIo io, DiskLimits limits) throws IOException {
        return BlockFile.open(io, limits, progress -> {});
    }

    static Bytes key(int seed) {
        return Bytes.ofHex("%032x".formatted(seed));
    }

    static MemorySegment content(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed * 31L + length).nextBytes(bytes);
        return Arena.ofAuto().allocate(length, ALIGN).copyFrom(MemorySegment.ofArray(bytes));
    }

    static Position position(int seed) {
        return new Position(seed, seed == 0 ? Bytes.EMPTY : key(seed - 1), ROOT);
    }

    static BlockWrite block(int seed) {
        return block(seed, List.of(content(seed, BLOCK)));
    }

    static BlockWrite block(int seed, List<MemorySegment> pieces) {
        return new BlockWrite(key(seed), position(seed), pieces, Checksums.crc32c(pieces));
    }

    static DiskResult write(BlockFile file, int seed) {
        return file.write(MODEL, List.of(block(seed))).getFirst();
    }

    static DiskResult read(BlockFile file, int seed, MemorySegment into) {
        return file.read(MODEL, List.of(new BlockRead(key(seed), 0, List.of(into)))).getFirst();
    }

    static DiskResult read(BlockFile file, int seed) {
        return read(file, seed, page());
    }

    static DiskResult drop(BlockFile file, int seed) {
        return file.drop(MODEL, List.of(new BlockDrop(key(seed), 0))).getFirst();
    }

    static MemorySegment page() {
        return Arena.ofAuto().allocate(BLOCK, ALIGN);
    }

    static void writeAll(BlockFile file, int from, int to) {
        for (int seed = from; seed < to; seed++) {
            assertEquals(BlockStatus.ARRIVED, write(file, seed).status(), "block " + seed);
        }
    }

    /** The block is there and has exactly its bytes. */
    static void assertServed(BlockFile file, int seed) {
        MemorySegment page = page();
        DiskResult result = read(file, seed, page);
        assertEquals(BlockStatus.ARRIVED, result.status(), "block " + seed + ": " + result.detail());
        assertArrayEquals(bytes(content(seed, BLOCK)), bytes(page), "block " + seed);
    }

    static void assertReason(OperationReason reason, DiskResult result) {
        assertEquals(reason, result.reason(), result.detail());
        assertEquals(BlockStatus.FAILED, result.status());
    }

    static byte[] bytes(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }
}
