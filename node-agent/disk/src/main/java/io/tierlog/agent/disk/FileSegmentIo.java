/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Segments as files of a directory, past the page cache where the file system lets them.
 *
 * <pre>
 *   tierlog-disk                 the label
 *   lock                         held while a process has the tier
 *   NUMBER.segment               20 digits; NUMBER.new while it is made
 * </pre>
 *
 * <p>Safe for use by several threads; one process at a time. Trade-off: an open file for each segment.
 */
public final class FileSegmentIo implements SegmentIo {
    private static final String SUFFIX = ".segment";
    private static final String UNFINISHED = ".new";

    /**
     * O_DIRECT, where this Java has it. By name: javac warns of its package, which is exported but not standard, and the warning cannot be
     * suppressed.
     */
    private static final Optional<OpenOption> DIRECT = direct();

    private final Path directory;
    private final int alignBytes;
    private final FileChannel lockFile;
    private final Set<OpenOption> options;
    private final @Nullable Preallocation preallocation;
    private volatile boolean reserves;
    private final String description;

    private FileSegmentIo(Path directory, int alignBytes, boolean reserve, FileChannel lockFile) {
        this.directory = directory;
        this.alignBytes = alignBytes;
        this.lockFile = lockFile;
        String whyNot = whyNotDirect();
        this.options = whyNot.isEmpty()
                ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, DIRECT.orElseThrow())
                : Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
        this.preallocation = reserve ? Preallocation.in(directory).orElse(null) : null;
        this.reserves = preallocation != null;
        this.description = directory + ", aligned to " + alignBytes + ", "
                + (whyNot.isEmpty() ? "O_DIRECT" : "through the page cache: " + whyNot);
    }

    /**
     * Takes the directory, made new if need be.
     *
     * @param alignBytes what the tier pads to, 512 or 4,096
     * @throws DiskTierException when another process has it
     */
    public static FileSegmentIo open(Path directory, int alignBytes) throws IOException {
        return open(directory, alignBytes, true);
    }

    /**
     * Takes the directory, made new if need be.
     *
     * @param reserve whether to reserve the space of new segments where that can be done; without it writes may find the disk full
     * @throws DiskTierException when another process has it
     */
    static FileSegmentIo open(Path directory, int alignBytes, boolean reserve) throws IOException {
        Files.createDirectories(directory);
        FileChannel lockFile = FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean taken = false;
        try {
            FileLock lock = lockFile.tryLock();
            taken = lock != null;
        } catch (OverlappingFileLockException e) {
            throw new DiskTierException("the disk tier " + directory + " is open in this process already (" + e.getMessage() + ")");
        } finally {
            if (!taken) {
                lockFile.close();
            }
        }
        if (!taken) {
            throw new DiskTierException("the disk tier " + directory + " is in use by another process: end it, or give this one another directory");
        }
        FileSegmentIo io = new FileSegmentIo(directory, alignBytes, reserve, lockFile);
        io.removeUnfinished();
        return io;
    }

    /** Bytes of the segment files in {@code directory}; 0 when there are none. */
    public static long heldBytes(Path directory) throws IOException {
        long bytes = 0;
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(one -> one.toString().endsWith(SUFFIX)).toList()) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }

    @Override
    public String description() {
        return description + (reserves ? ", space reserved" : ", space not reserved");
    }

    @Override
    public int alignBytes() {
        return alignBytes;
    }

    @Override
    public boolean reservesSpace() {
        return reserves;
    }

    @Override
    public List<Long> list() throws IOException {
        List<Long> numbers = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                String number = name.substring(0, name.length() - SUFFIX.length());
                if (number.matches("\\d{20}")) {
                    numbers.add(Long.parseLong(number));
                }
            }
        }
        numbers.sort(null);
        return numbers;
    }

    @Override
    public SegmentFile create(long number, long bytes) throws IOException {
        Path unfinished = directory.resolve(number + UNFINISHED);
        try {
            if (preallocation == null || !preallocation.create(unfinished, bytes)) {
                reserves = false;
                createSparse(unfinished, bytes);
            }
            // The size must be durable before the name is, or a loss of power could leave a short segment.
            try (FileChannel file = FileChannel.open(unfinished, StandardOpenOption.WRITE)) {
                file.force(true);
            }
            Files.move(unfinished, path(number), StandardCopyOption.ATOMIC_MOVE);
            forceDirectory();
            return open(number);
        } catch (IOException e) {
            Files.deleteIfExists(unfinished);
            throw FileSegment.typed(e);
        }
    }

    @Override
    public SegmentFile open(long number) throws IOException {
        return new FileSegment(path(number), options);
    }

    @Override
    public void delete(long number) throws IOException {
        Files.deleteIfExists(path(number));
    }

    @Override
    public long usableBytes() throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
    }

    @Override
    public Optional<byte[]> label() throws IOException {
        try {
            return Optional.of(Files.readAllBytes(directory.resolve("tierlog-disk")));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    @Override
    public void writeLabel(byte[] label) throws IOException {
        Path unfinished = directory.resolve("tierlog-disk" + UNFINISHED);
        try (FileChannel file = FileChannel.open(
                unfinished, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(label);
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(true);
        } catch (IOException e) {
            throw FileSegment.typed(e);
        }
        Files.move(unfinished, directory.resolve("tierlog-disk"), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        forceDirectory();
    }

    @Override
    public void close() {
        try {
            lockFile.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the lock of " + directory + " cannot be given back", e);
        }
    }

    private Path path(long number) {
        return directory.resolve("%020d".formatted(number) + SUFFIX);
    }

    private static void createSparse(Path file, long bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), bytes - 1);
        }
    }

    private void removeUnfinished() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + UNFINISHED)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
    }

    private void forceDirectory() throws IOException {
        if (directory.getFileSystem() != FileSystems.getDefault()) {
            return; // only real ones have directories that can be opened
        }
        try (FileChannel self = FileChannel.open(directory, StandardOpenOption.READ)) {
            self.force(true);
        }
    }

    /** Tries one direct write; its failure, or empty. */
    private String whyNotDirect() {
        if (DIRECT.isEmpty()) {
            return "this Java has no O_DIRECT";
        }
        if (directory.getFileSystem() != FileSystems.getDefault()) {
            return "a file system of this process has no O_DIRECT";
        }
        Path probe = directory.resolve("probe" + UNFINISHED);
        try {
            try (FileChannel file = FileChannel.open(
                            probe, StandardOpenOption.CREATE, StandardOpenOption.WRITE, DIRECT.get());
                    Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(alignBytes, alignBytes);
                file.write(bytes.asByteBuffer(), 0);
                return "";
            } finally {
                Files.deleteIfExists(probe);
            }
        } catch (IOException | UnsupportedOperationException e) {
            return "the file system refuses O_DIRECT (" + (e.getMessage() == null ? e.toString() : e.getMessage()) + ")";
        }
    }

    private static Optional<OpenOption> direct() {
        try {
            return Stream.ofNullable(Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants())
                    .flatMap(Stream::of)
                    .filter(constant -> constant.toString().equals("DIRECT"))
                    .map(OpenOption.class::cast)
                    .findFirst();
        } catch (ClassNotFoundException e) {
            return Optional.empty();
        }
    }
}
