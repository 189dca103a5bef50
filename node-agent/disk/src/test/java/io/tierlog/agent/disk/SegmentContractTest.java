/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What every disk must do for a tier. */
abstract class SegmentContractTest {
    static final int PAGE = Blocks.ALIGN;

    /** The disk under test: the same one within a test. */
    abstract SegmentIo io() throws IOException;

    @Test
    void aNewSegmentHasItsSizeAndReadsAsZeros() throws IOException {
        try (SegmentFile file = io().create(7, 4 * PAGE)) {
            assertEquals(4 * PAGE, file.size());
            assertArrayEquals(new byte[PAGE], read(file, 3 * PAGE));
            assertEquals(-1, file.read(Blocks.content(1, PAGE), 4 * PAGE), "behind the end");
        }
        assertEquals(List.of(7L), io().list());
    }

    @Test
    void whatWasWrittenIsReadAndLeavesItsNeighboursAlone() throws IOException {
        try (SegmentFile file = io().create(1, 4 * PAGE)) {
            write(file, 1, 0);
            write(file, 3, 2 * PAGE);
            write(file, 2, PAGE);
            write(file, 4, 2 * PAGE);
            file.force();
            assertArrayEquals(Blocks.bytes(Blocks.content(1, PAGE)), read(file, 0));
            assertArrayEquals(Blocks.bytes(Blocks.content(2, PAGE)), read(file, PAGE));
            assertArrayEquals(Blocks.bytes(Blocks.content(4, PAGE)), read(file, 2 * PAGE));
            assertArrayEquals(new byte[PAGE], read(file, 3 * PAGE));
        }
    }

    @Test
    void aSegmentThatIsOpenedAgainIsTheSame() throws IOException {
        try (SegmentFile file = io().create(1, 2 * PAGE)) {
            write(file, 1, PAGE);
        }
        try (SegmentFile file = io().open(1)) {
            assertArrayEquals(Blocks.bytes(Blocks.content(1, PAGE)), read(file, PAGE));
        }
    }

    @Test
    void aCutSegmentEndsThere() throws IOException {
        try (SegmentFile file = io().create(1, 4 * PAGE)) {
            write(file, 1, 0);
            file.truncate(PAGE);
            assertEquals(PAGE, file.size());
            assertEquals(-1, file.read(Blocks.content(1, PAGE), PAGE));
            assertArrayEquals(Blocks.bytes(Blocks.content(1, PAGE)), read(file, 0));
        }
    }

    @Test
    void segmentsAreListedInOrderAndGoWhenRemoved() throws IOException {
        for (long number : new long[] {10, 9, 100, 1}) {
            io().create(number, PAGE).close();
        }
        assertEquals(List.of(1L, 9L, 10L, 100L), io().list());
        io().delete(9);
        io().delete(9);
        assertEquals(List.of(1L, 10L, 100L), io().list());
        assertThrows(IOException.class, () -> io().open(9));
    }

    @Test
    void theLabelIsReplacedAsAWhole() throws IOException {
        assertEquals(Optional.empty(), io().label());
        io().writeLabel(new byte[] {1, 2, 3});
        io().writeLabel(new byte[] {4, 5});
        assertArrayEquals(new byte[] {4, 5}, io().label().orElseThrow());
        assertEquals(List.of(), io().list(), "it is no segment");
    }

    @Test
    void moreThanTheDiskHasIsTyped() throws IOException {
        assertTrue(io().usableBytes() > PAGE, "usable " + io().usableBytes());
        if (io().reservesSpace()) {
            // More than a file of ext4 can have, which it refuses at once: a little more than the free space would be taken from all other
            // processes of this machine, for a moment, as XFS may still do. FullDiskTest fills a disk of its own.
            assertThrows(NoSpaceException.class, () -> io().create(1, 1L << 55));
            assertEquals(List.of(), io().list(), "nothing is left of it");
        }
    }

    static void write(SegmentFile file, int seed, long at) throws IOException {
        assertEquals(PAGE, file.write(Blocks.content(seed, PAGE), at));
    }

    static byte[] read(SegmentFile file, long at) throws IOException {
        MemorySegment into = Blocks.content(99, PAGE);
        assertEquals(PAGE, file.read(into, at));
        return Blocks.bytes(into);
    }
}
