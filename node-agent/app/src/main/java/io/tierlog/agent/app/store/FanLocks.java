/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.events.Causes;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Who removes objects of a fan directory, or raises its floor, is alone while it does: among the threads of this process and among all processes.
 *
 * <pre>
 *   locks/NN      empty, never removed; NN is the first two digits of the fan directories that it stands for, of all namespaces
 * </pre>
 *
 * <p>Two locks are taken, in this order. First one of this process, because file locks are held by processes and not by threads; it is found by
 * what the directory {@code locks} is for the operating system, so that several stores on one directory, by whatever path, share it. Then the lock
 * of the file, which the operating system gives back when a process dies. A process that closes a file loses all its locks of that file, whichever
 * thread took them (fcntl, POSIX): so the files locked are no others' and are opened and closed only here, under the
 * first lock. That is why the floors,
 * which every put opens, are other files.
 *
 * <p>Safe for use by several threads and processes; no work takes a second lock. Trade-off: one lock stands for 16 fan directories of each
 * namespace, and where a server takes a lock back from a client that is silent (NFS 4, after its lease), a remover that stood still for so
 * long is not alone any more.
 */
final class FanLocks {
    /** No lock was granted: it is held for too long, or the file system has none; the cause says what it suffers, if anything. */
    static final class NoLockException extends IOException {
        private static final long serialVersionUID = 1L;

        NoLockException(String message) {
            super(message);
        }

        NoLockException(String message, Exception cause) {
            super(message, cause);
        }
    }

    /** What is done by one at a time. */
    interface Work<T> {
        T run() throws IOException;
    }

    private static final int DIGITS = 2;
    private static final long BETWEEN_TRIES_NANOS = 2_000_000;
    private static final ReentrantLock[] IN_THIS_PROCESS = Stream.generate(ReentrantLock::new).limit(256).toArray(ReentrantLock[]::new);

    private final Path directory;
    private final Duration longestWait;

    /** The wait is for each of the two locks. */
    FanLocks(Path directory, Duration longestWait) {
        this.directory = directory;
        this.longestWait = longestWait;
    }

    Path directory() {
        return directory;
    }

    /** Does work alone for a fan directory; {@link NoLockException} when that cannot be, and the work is not begun. */
    <T> T alone(Path fan, Work<T> work) throws IOException {
        Path path = directory.resolve(fan.getFileName().toString().substring(0, DIGITS));
        ReentrantLock ours = ofThisProcess(path);
        waitFor(ours, path);
        // The file is closed, and with it its lock given back, before the next thread opens it.
        try (FileChannel file = open(path)) {
            waitFor(file, path);
            return work.run();
        } finally {
            ours.unlock();
        }
    }

    private ReentrantLock ofThisProcess(Path path) throws NoLockException {
        try {
            Object key = Files.readAttributes(directory, BasicFileAttributes.class).fileKey();
            Object place = key == null ? directory.toAbsolutePath() : key;
            return IN_THIS_PROCESS[Math.floorMod(Objects.hash(place, path.getFileName().toString()), IN_THIS_PROCESS.length)];
        } catch (IOException e) {
            throw new NoLockException("deletes need file locks, and their directory " + directory + " cannot be opened: " + Causes.of(e), e);
        }
    }

    private void waitFor(ReentrantLock ours, Path path) throws NoLockException {
        boolean locked = false;
        try {
            locked = ours.tryLock(longestWait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!locked) {
            throw new NoLockException("the lock " + path + " was not granted to this process within " + longestWait.toMillis()
                    + " ms; try again");
        }
    }

    private static FileChannel open(Path path) throws NoLockException {
        try {
            return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException | UnsupportedOperationException e) {
            throw new NoLockException("deletes need file locks, and " + path + " cannot be opened: " + Causes.of(e), e);
        }
    }

    private void waitFor(FileChannel file, Path path) throws NoLockException {
        long from = System.nanoTime();
        while (!tryLock(file, path)) {
            if (System.nanoTime() - from > longestWait.toNanos() || Thread.currentThread().isInterrupted()) {
                throw new NoLockException("the lock " + path + " is held by another process for " + longestWait.toMillis() + " ms; try again");
            }
            LockSupport.parkNanos(BETWEEN_TRIES_NANOS);
        }
    }

    private static boolean tryLock(FileChannel file, Path path) throws NoLockException {
        try {
            return file.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            // All threads come through the lock of this process: this would be a second copy of this class in it.
            throw new NoLockException("the lock " + path + " was taken past this class", e);
        } catch (IOException | UnsupportedOperationException e) {
            throw new NoLockException("deletes need file locks, and " + path + " cannot be locked (on NFS mount without nolock): " + Causes.of(e), e);
        }
    }
}
