/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The host pages that all tiers move: block n is in page n, its content never changes, and its checksum is at hand. */
final class HostBlocks implements AutoCloseable {
    static final String NAMESPACE = "bench";
    private static final int KEY_BYTES = 16;
    private static final long SEED = 7;
    /** Bytes of a page that are overwritten before it is filled again. */
    private static final long SPOILT_BYTES = 64;

    private final Shape shape;
    private final HostPool pool;
    private final int[] sums;

    /** Maps the pages, as one slab, and fills them. */
    HostBlocks(Shape shape) {
        this.shape = shape;
        this.pool = HostPool.allocate(shape.blocks(), shape.blockBytes(), new HostPool.Options(true, OptionalInt.empty(), Long.MAX_VALUE / 4));
        this.sums = new int[shape.blocks()];
        SplittableRandom random = new SplittableRandom(SEED);
        byte[] content = new byte[shape.blockBytes()];
        for (int block = 0; block < sums.length; block++) {
            random.nextBytes(content);
            MemorySegment.copy(content, 0, pool.page(block), ValueLayout.JAVA_BYTE, 0, content.length);
            sums[block] = pool.crc32c(block);
        }
    }

    HostPool pool() {
        return pool;
    }

    Shape shape() {
        return shape;
    }

    int crc32c(int block) {
        return sums[block];
    }

    /** The name of a block. */
    Bytes key(int block) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(KEY_BYTES).putInt(KEY_BYTES - Integer.BYTES, block).array());
    }

    /** All bytes, one after the other. */
    MemorySegment memory() {
        return pool.slabs().getFirst();
    }

    /** Overwrites the beginning of every page, so that a read that brings no bytes fails the check. */
    void spoil() {
        for (int block = 0; block < sums.length; block++) {
            pool.page(block).asSlice(0, Math.min(SPOILT_BYTES, shape.blockBytes())).fill((byte) 0);
        }
    }

    /** What is wrong with a unit of one block; null when it is right. */
    @Nullable String wrong(int block, List<UnitResult> results) {
        UnitResult result = results.getFirst();
        if (results.size() == 1 && result.status() == BlockStatus.ARRIVED && result.crc32c() == sums[block]) {
            return null;
        }
        return "block " + block + " ended " + result.status() + ", " + result.reason() + ", with checksum " + result.crc32c() + " instead of "
                + sums[block];
    }

    @Override
    public void close() {
        pool.close();
    }
}
