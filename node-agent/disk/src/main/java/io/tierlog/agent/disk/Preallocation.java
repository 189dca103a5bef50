/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reserves the space of a file with {@code posix_fallocate}, which Java does not offer: a segment that is there can then always be filled.
 * Stateless and safe for use by several threads. Trade-off: three native calls per segment, on systems whose C library has them.
 */
final class Preallocation {
    private static final int MODE_OWNER_ONLY = 0600;
    private static final int ENOSPC = 28;
    private static final int EDQUOT = 122;
    private static final int EFBIG = 27;

    private final MethodHandle creat;
    private final MethodHandle fallocate;
    private final MethodHandle close;

    private Preallocation(MethodHandle creat, MethodHandle fallocate, MethodHandle close) {
        this.creat = creat;
        this.fallocate = fallocate;
        this.close = close;
    }

    /** The calls, when this system has them and {@code directory} lies in its own file systems. */
    static Optional<Preallocation> in(Path directory) {
        if (directory.getFileSystem() != FileSystems.getDefault() || !"Linux".equals(System.getProperty("os.name"))) {
            return Optional.empty();
        }
        MethodHandle creat = handle("creat", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        MethodHandle fallocate = handle("posix_fallocate",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        MethodHandle close = handle("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        return creat == null || fallocate == null || close == null
                ? Optional.empty()
                : Optional.of(new Preallocation(creat, fallocate, close));
    }

    /**
     * Makes {@code file} new with {@code bytes} bytes that read as zeros and have their space.
     *
     * @return false when the file system cannot reserve; the file is there then, and empty
     * @throws NoSpaceException when there is not that much space
     */
    boolean create(Path file, long bytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(file.toAbsolutePath().toString());
            int descriptor = (int) creat.invokeExact(name, MODE_OWNER_ONLY);
            if (descriptor < 0) {
                throw new IOException(file + " cannot be created");
            }
            int error = (int) fallocate.invokeExact(descriptor, 0L, bytes);
            int closed = (int) close.invokeExact(descriptor);
            if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
                throw new NoSpaceException("no space to reserve " + bytes + " bytes for " + file + " (errno " + error + ")");
            }
            return error == 0 && closed == 0;
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a native call declares no exception", e);
        }
    }

    @SuppressWarnings("restricted") // the launcher enables native access
    private static @Nullable MethodHandle handle(String name, FunctionDescriptor shape) {
        Linker linker = Linker.nativeLinker();
        SymbolLookup lookup = linker.defaultLookup();
        return lookup.find(name).map(symbol -> linker.downcallHandle(symbol, shape)).orElse(null);
    }
}
