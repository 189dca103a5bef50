/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.hardware;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Lies wait for a write, and report their execution. */
class MediumTest {
    private final Medium medium = new Medium(8);
    private final List<String> told = new ArrayList<>();

    private static Bytes key(int number) {
        return Bytes.ofHex(String.format("%064x", number));
    }

    private Medium.Answer write(int number) {
        byte[] page = {1, 2, 3, (byte) number};
        return medium.write("m", new Block(0, key(number), Bytes.EMPTY), Medium.crc(page), page);
    }

    @Test
    void aLieHappensAtTheNextWriteAndNotBefore() {
        assertTrue(medium.lie(Medium.Lie.TORN, () -> told.add("torn")));
        assertTrue(medium.lie(Medium.Lie.LOST, () -> told.add("lost")));
        assertEquals(List.of(), told);

        assertEquals(OperationReason.COMPLETED, write(1).reason());
        assertEquals(List.of("torn"), told);
        assertEquals(OperationReason.COMPLETED, write(2).reason());
        assertEquals(List.of("torn", "lost"), told);
        assertTrue(medium.well());
        write(3);

        assertEquals(OperationReason.CHECKSUM, medium.read("m", key(1), 0).reason());
        assertEquals(OperationReason.NOT_FOUND, medium.read("m", key(2), 0).reason());
        assertArrayEquals(new byte[] {1, 2, 3, 3}, medium.read("m", key(3), 0).bytes());
        assertNull(medium.read("m", key(2), 0).bytes());
    }

    @Test
    void aWriteThatIsRefusedTellsNoLie() {
        write(1);
        medium.lie(Medium.Lie.LOST, () -> told.add("lost"));
        write(1);
        medium.full(true);
        assertEquals(OperationReason.NO_ROOM, write(2).reason());
        assertEquals(List.of(), told);
    }

    @Test
    void moreLiesThanFourAreNotTaken() {
        for (int i = 0; i < 4; i++) {
            assertTrue(medium.lie(Medium.Lie.LOST, () -> told.add("lost")));
        }
        assertFalse(medium.lie(Medium.Lie.LOST, () -> told.add("one too many")));
        for (int i = 0; i < 8; i++) {
            write(i);
        }
        assertEquals(List.of("lost", "lost", "lost", "lost"), told);
        assertEquals(4, medium.size());
    }
}
