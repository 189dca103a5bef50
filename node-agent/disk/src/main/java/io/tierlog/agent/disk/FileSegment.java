/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/**
 * A segment in a file.
 *
 * <p>Java closes a channel under every thread that uses it when one of them is interrupted. Then it is opened again here, and a thread that was
 * inside gets an {@link InterruptedIOException} and may try again. Safe for use by several threads.
 */
final class FileSegment implements SegmentFile {
    private final Path path;
    private final Set<OpenOption> options;
    private volatile FileChannel channel;
    private boolean closed;

    FileSegment(Path path, Set<OpenOption> options) throws IOException {
        this.path = path;
        this.options = options;
        this.channel = FileChannel.open(path, options);
    }

    /** What is done with the channel. */
    private interface Call<T> {
        T on(FileChannel channel) throws IOException;
    }

    @Override
    public long size() throws IOException {
        return call(FileChannel::size);
    }

    @Override
    public int write(MemorySegment from, long at) throws IOException {
        return call(file -> file.write(from.asByteBuffer(), at));
    }

    @Override
    public int read(MemorySegment into, long at) throws IOException {
        return call(file -> file.read(into.asByteBuffer(), at));
    }

    @Override
    public void force() throws IOException {
        call(file -> {
            file.force(false);
            return file;
        });
    }

    @Override
    public void truncate(long bytes) throws IOException {
        call(file -> file.truncate(bytes));
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        channel.close();
    }

    private <T> T call(Call<T> call) throws IOException {
        FileChannel current = channel;
        try {
            return call.on(current);
        } catch (ClosedChannelException e) {
            reopen(current, e);
            InterruptedIOException interrupted = new InterruptedIOException("interrupted in " + path.getFileName());
            interrupted.initCause(e);
            throw interrupted;
        } catch (IOException e) {
            throw typed(e);
        }
    }

    private synchronized void reopen(FileChannel broken, ClosedChannelException cause) throws IOException {
        if (closed) {
            throw cause;
        }
        if (channel == broken) {
            channel = FileChannel.open(path, options);
        }
    }

    /** Java reports a full disk only in the text of the exception. */
    static IOException typed(IOException e) {
        String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        boolean full = message.contains("no space left") || message.contains("quota exceeded") || message.contains("out of disk space");
        if (!full) {
            return e;
        }
        NoSpaceException typed = new NoSpaceException("the disk is full: " + e.getMessage());
        typed.initCause(e);
        return typed;
    }
}
