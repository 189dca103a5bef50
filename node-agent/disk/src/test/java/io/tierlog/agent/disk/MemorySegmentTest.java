/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The contract on the simulated disk, and how it loses power. */
class MemorySegmentTest extends SegmentContractTest {
    private final MemorySegmentIo io = new MemorySegmentIo(PAGE, 1L << 30);

    @Override
    SegmentIo io() {
        return io;
    }

    @Test
    void aLossOfPowerKeepsWhatWasForced() throws IOException {
        SegmentFile file = io.create(1, 2 * PAGE);
        write(file, 1, 0);
        file.force();
        io.crash(new Random(1));
        assertArrayEquals(Blocks.bytes(Blocks.content(1, PAGE)), read(file, 0));
    }

    @Test
    void ofWhatWasNotForcedAllOrNothingOrAnySectorIsThere() throws IOException {
        Set<Integer> kept = new TreeSet<>();
        for (int seed = 0; seed < 50; seed++) {
            MemorySegmentIo disk = new MemorySegmentIo(PAGE, 1L << 20);
            SegmentFile file = disk.create(1, PAGE);
            write(file, 1, 0);
            disk.crash(new Random(seed));
            byte[] now = read(file, 0);
            byte[] wanted = Blocks.bytes(Blocks.content(1, PAGE));
            int sectors = 0;
            for (int i = 0; i < PAGE; i += 512) {
                byte[] sector = Arrays.copyOfRange(now, i, i + 512);
                boolean there = Arrays.equals(sector, Arrays.copyOfRange(wanted, i, i + 512));
                assertTrue(there || Arrays.equals(sector, new byte[512]), "a sector is old or new");
                sectors += there ? 1 : 0;
            }
            kept.add(sectors);
        }
        assertTrue(kept.contains(0) && kept.contains(8) && kept.size() > 3, "sectors kept: " + kept);
        assertEquals(8, PAGE / 512);
    }
}
