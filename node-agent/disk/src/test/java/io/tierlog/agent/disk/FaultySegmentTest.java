/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.agent.disk.FaultySegmentIo.Fault;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract on a faulty disk without faults, and what each fault does to the bytes. */
class FaultySegmentTest extends SegmentContractTest {
    private static final byte[] WANTED = Blocks.bytes(Blocks.content(1, PAGE));

    private final FaultySegmentIo io = new FaultySegmentIo(new MemorySegmentIo(PAGE, 1L << 30));
    @SuppressWarnings("NullAway.Init")
    private SegmentFile file;

    @Override
    SegmentIo io() {
        return io;
    }

    @BeforeEach
    void makeASegment() throws IOException {
        SegmentFile made = io.create(50, 4 * PAGE);
        io.delete(50); // the contract begins with an empty disk; the open file stays
        file = made;
    }

    @Test
    void shortWritesAreReportedAndLostTailsAreNot() throws IOException {
        io.inject(Fault.SHORT_WRITE, Fault.LOST_TAIL);
        assertEquals(PAGE - 512, file.write(Blocks.content(1, PAGE), 0));
        assertEquals(PAGE, file.write(Blocks.content(1, PAGE), PAGE));
        byte[] written = Arrays.copyOf(Arrays.copyOf(WANTED, PAGE - 512), PAGE);
        assertArrayEquals(written, read(file, 0));
        assertArrayEquals(written, read(file, PAGE));
    }

    @Test
    void errorsAreThrown() throws IOException {
        io.inject(Fault.TORN_WRITE, Fault.INTERRUPTED_WRITE, Fault.NO_SPACE, Fault.WRITE_ERROR);
        assertThrows(IOException.class, () -> file.write(Blocks.content(1, PAGE), 0));
        assertThrows(InterruptedIOException.class, () -> file.write(Blocks.content(1, PAGE), PAGE));
        assertThrows(NoSpaceException.class, () -> file.write(Blocks.content(1, PAGE), 2 * PAGE));
        assertThrows(IOException.class, () -> file.write(Blocks.content(1, PAGE), 2 * PAGE));
        byte[] half = Arrays.copyOf(Arrays.copyOf(WANTED, PAGE / 2), PAGE);
        assertArrayEquals(half, read(file, 0));
        assertArrayEquals(half, read(file, PAGE));
        assertArrayEquals(new byte[PAGE], read(file, 2 * PAGE));
        io.inject(Fault.READ_ERROR, Fault.INTERRUPTED_READ);
        assertThrows(IOException.class, () -> read(file, 0));
        assertThrows(InterruptedIOException.class, () -> read(file, 0));
        io.inject(Fault.FORCE_FAILS);
        assertThrows(IOException.class, file::force);
        file.force();
    }

    @Test
    void wrongBytesAndWrongPlaces() throws IOException {
        io.inject(Fault.BIT_FLIP, Fault.NONE_WRITE, Fault.MISDIRECTED);
        write(file, 1, 0);
        byte[] flipped = read(file, 0);
        assertFalse(Arrays.equals(WANTED, flipped));
        flipped[PAGE / 2] ^= 0x10;
        assertArrayEquals(WANTED, flipped);
        write(file, 2, PAGE);
        write(file, 3, 2 * PAGE);
        assertArrayEquals(Blocks.bytes(Blocks.content(3, PAGE)), read(file, PAGE), "it lies one write too early");
        assertArrayEquals(new byte[PAGE], read(file, 2 * PAGE));
        io.inject(Fault.READ_BIT_FLIP);
        assertFalse(Arrays.equals(new byte[PAGE], read(file, 2 * PAGE)));
        assertArrayEquals(new byte[PAGE], read(file, 2 * PAGE));
    }
}
