/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A simulated disk on the heap of one process, of a given size, that can lose power: {@link #crash} keeps what was forced and any part of what
 * was not. Making, cutting and removing a segment is durable at once.
 *
 * <p>Safe for use by several threads; for tests and simulation. Trade-off: every write is kept twice until it is forced.
 */
public final class MemorySegmentIo implements SegmentIo {
    private static final int SECTOR_BYTES = 512;

    private final int alignBytes;
    private final long diskBytes;
    private final TreeMap<Long, Image> images = new TreeMap<>();
    private byte @Nullable [] label;

    /** What one segment holds: as read now, as after a loss of power, and the writes between the two. */
    private static final class Image {
        private byte[] now;
        private byte[] durable;
        private final List<Write> unforced = new ArrayList<>();

        Image(int bytes) {
            now = new byte[bytes];
            durable = new byte[bytes];
        }
    }

    /** A write that a loss of power may undo. */
    private static final class Write {
        private final int at;
        private final byte[] bytes;

        Write(int at, byte[] bytes) {
            this.at = at;
            this.bytes = bytes;
        }
    }

    /** A disk of {@code diskBytes} bytes. */
    public MemorySegmentIo(int alignBytes, long diskBytes) {
        this.alignBytes = alignBytes;
        this.diskBytes = diskBytes;
    }

    /** Loses power: of each write that was not forced, all, none, or some of its sectors remain. */
    public synchronized void crash(RandomGenerator random) {
        for (Image image : images.values()) {
            for (Write write : image.unforced) {
                int fate = random.nextInt(3);
                for (int from = 0; from < write.bytes.length; from += SECTOR_BYTES) {
                    int length = Math.min(SECTOR_BYTES, Math.min(write.bytes.length, image.durable.length - write.at) - from);
                    if (length > 0 && (fate == 0 || (fate == 1 && random.nextBoolean()))) {
                        System.arraycopy(write.bytes, from, image.durable, write.at + from, length);
                    }
                }
            }
            image.unforced.clear();
            image.now = image.durable.clone();
        }
    }

    @Override
    public String description() {
        return "a simulated disk of " + diskBytes + " bytes";
    }

    @Override
    public int alignBytes() {
        return alignBytes;
    }

    @Override
    public boolean reservesSpace() {
        return true;
    }

    @Override
    public synchronized List<Long> list() {
        return List.copyOf(images.keySet());
    }

    @Override
    public synchronized SegmentFile create(long number, long bytes) throws IOException {
        if (bytes > usableBytes()) {
            throw new NoSpaceException("the simulated disk is full");
        }
        if (images.containsKey(number)) {
            throw new IOException("segment " + number + " is there already");
        }
        images.put(number, new Image(Math.toIntExact(bytes)));
        return open(number);
    }

    @Override
    public synchronized SegmentFile open(long number) throws IOException {
        Image image = images.get(number);
        if (image == null) {
            throw new NoSuchFileException("segment " + number);
        }
        return new Opened(image);
    }

    @Override
    public synchronized void delete(long number) {
        images.remove(number);
    }

    @Override
    public synchronized long usableBytes() {
        return diskBytes - images.values().stream().mapToLong(image -> image.now.length).sum();
    }

    @Override
    public synchronized Optional<byte[]> label() {
        return Optional.ofNullable(label).map(byte[]::clone);
    }

    @Override
    public synchronized void writeLabel(byte[] bytes) {
        label = bytes.clone();
    }

    @Override
    public void close() {
        // The disk stays, for the next process.
    }

    /** An open segment. */
    private final class Opened implements SegmentFile {
        private final Image image;
        private boolean closed;

        Opened(Image image) {
            this.image = image;
        }

        @Override
        public long size() throws IOException {
            synchronized (MemorySegmentIo.this) {
                return open().now.length;
            }
        }

        @Override
        public int write(MemorySegment from, long at) throws IOException {
            byte[] bytes = from.toArray(ValueLayout.JAVA_BYTE);
            synchronized (MemorySegmentIo.this) {
                Image to = open();
                if (at + bytes.length > to.now.length) {
                    to.now = Arrays.copyOf(to.now, Math.toIntExact(at + bytes.length));
                    to.durable = Arrays.copyOf(to.durable, to.now.length);
                }
                System.arraycopy(bytes, 0, to.now, (int) at, bytes.length);
                to.unforced.add(new Write((int) at, bytes));
                return bytes.length;
            }
        }

        @Override
        public int read(MemorySegment into, long at) throws IOException {
            synchronized (MemorySegmentIo.this) {
                Image from = open();
                if (at >= from.now.length) {
                    return -1;
                }
                int length = (int) Math.min(into.byteSize(), from.now.length - at);
                MemorySegment.copy(from.now, (int) at, into, ValueLayout.JAVA_BYTE, 0, length);
                return length;
            }
        }

        @Override
        public void force() throws IOException {
            synchronized (MemorySegmentIo.this) {
                open().unforced.clear();
                image.durable = image.now.clone();
            }
        }

        @Override
        public void truncate(long bytes) throws IOException {
            synchronized (MemorySegmentIo.this) {
                if (bytes < open().now.length) {
                    image.now = Arrays.copyOf(image.now, (int) bytes);
                    image.durable = Arrays.copyOf(image.durable, (int) bytes);
                }
            }
        }

        @Override
        public void close() {
            synchronized (MemorySegmentIo.this) {
                closed = true;
            }
        }

        private Image open() throws IOException {
            if (closed) {
                throw new ClosedChannelException();
            }
            return image;
        }
    }
}
