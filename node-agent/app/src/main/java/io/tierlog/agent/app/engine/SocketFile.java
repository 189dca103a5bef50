/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The file of a Unix socket. It is bound in a directory that only this user may enter and takes its name when its mode is 0600, so that at no moment
 * other users can connect; what a dead process has left under that name is replaced, what a live one listens on is not.
 *
 * <p>For one thread. Trade-offs: two processes that start at the same moment for the same path do not see each other, and the later one has it. A
 * process that is killed between binding and naming leaves an empty directory {@code .engineNUMBER}.
 */
final class SocketFile implements AutoCloseable {
    /** Longest path that Linux accepts, its closing zero not counted. */
    private static final int MOST_PATH_BYTES = 107;

    private final Path path;
    private final Path nest;
    private @Nullable Object ours;

    /**
     * Checks whether the path is free.
     *
     * @throws IOException when it is too long, something else lies there, or another process listens there
     */
    SocketFile(Path path) throws IOException {
        this.path = path.toAbsolutePath();
        Path directory = this.path.getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new IOException(path + ": there is no such directory");
        }
        // No process id: agents in containers that share the directory are all process 1.
        this.nest = directory.resolve(".engine" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt()));
        if (longest() > MOST_PATH_BYTES) {
            throw new IOException(path + " is too long for a socket: " + longest() + " bytes with the name it is made under, at most "
                    + MOST_PATH_BYTES);
        }
        if (Files.exists(this.path, LinkOption.NOFOLLOW_LINKS)) {
            if (!Files.readAttributes(this.path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).isOther()) {
                throw new IOException(path + " is there already and is no socket");
            }
            if (isAlive()) {
                throw new IOException("another process listens on " + path);
            }
        }
    }

    private int longest() {
        return Math.max(bytes(path), bytes(first()));
    }

    private static int bytes(Path some) {
        return some.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    private boolean isAlive() {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(path));
        } catch (IOException e) {
            return false; // no process accepts there
        }
    }

    /** Where the socket is to be bound, in a directory made for it. */
    UnixDomainSocketAddress bindAt() throws IOException {
        Files.createDirectory(nest, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        return UnixDomainSocketAddress.of(first());
    }

    private Path first() {
        return nest.resolve("s");
    }

    /** The socket is bound: it gets its mode and its name. */
    void publish() throws IOException {
        Files.setPosixFilePermissions(first(), PosixFilePermissions.fromString("rw-------"));
        Files.move(first(), path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        ours = key();
        Files.deleteIfExists(nest);
    }

    private @Nullable Object key() throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
    }

    /** Takes the file away, if it is still the one that was published. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(first());
        Files.deleteIfExists(nest);
        if (ours != null && Files.exists(path, LinkOption.NOFOLLOW_LINKS) && Objects.equals(ours, key())) {
            Files.delete(path);
        }
        ours = null;
    }
}
