/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.engine.workload.BlockKey;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContentOracleTest {
    private static final BlockKey KEY = BlockKey.of(7);
    private final ContentOracle oracle = new ContentOracle("model/tenant-0");

    private static byte[] filled(ContentOracle oracle, BlockKey key, int size) {
        byte[] page = new byte[size];
        oracle.fill(key, MemorySegment.ofArray(page));
        return page;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 64, 1_021})
    void anyFlippedBitAtAnyPositionIsFoundWhereItIs(int size) {
        byte[] page = filled(oracle, KEY, size);
        assertEquals(ContentOracle.EQUAL, oracle.compare(KEY, MemorySegment.ofArray(page)));
        for (int bit = 0; bit < size * 8; bit++) {
            page[bit / 8] ^= (byte) (1 << bit % 8);
            assertEquals(bit / 8, oracle.compare(KEY, MemorySegment.ofArray(page)));
            page[bit / 8] ^= (byte) (1 << bit % 8);
        }
    }

    @Test
    void keysAndNamespacesHaveDifferentContent() {
        Set<String> beginnings = new HashSet<>();
        for (String namespace : new String[] {"model/tenant-0", "model/tenant-1", "model/tenant-00"}) {
            for (long id = 0; id < 2_000; id++) {
                byte[] page = filled(new ContentOracle(namespace), BlockKey.of(id), 16);
                assertTrue(beginnings.add(new String(page, java.nio.charset.StandardCharsets.ISO_8859_1)), () -> namespace);
            }
        }
    }

    @Test
    void contentUnderAnotherNameIsFoundAtItsFirstBytes() {
        byte[] page = filled(oracle, KEY, 4_096);
        assertTrue(oracle.compare(BlockKey.of(8), MemorySegment.ofArray(page)) < 8);
        assertTrue(new ContentOracle("model/tenant-1").compare(KEY, MemorySegment.ofArray(page)) < 8);
    }

    @Test
    void aPageShiftedWithinItselfIsFound() {
        byte[] page = filled(oracle, KEY, 4_096);
        byte[] shifted = new byte[4_096];
        System.arraycopy(page, 8, shifted, 0, 4_088);
        System.arraycopy(page, 0, shifted, 4_088, 8);
        assertNotEquals(ContentOracle.EQUAL, oracle.compare(KEY, MemorySegment.ofArray(shifted)));
    }

    @Test
    void keysOfDifferentIdsDiffer() {
        Set<BlockKey> keys = new HashSet<>();
        for (long id = 0; id < 200_000; id++) {
            assertTrue(keys.add(BlockKey.of(id)));
        }
    }
}
