/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.server;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.process.ChildProcess;
import io.tierlog.ops.process.ChildProcessException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.jar.JarFile;

/**
 * S3Mock, a server of S3 for tests, with its objects in files: one Java program, on a free port. It checks no signatures. One thread; {@link #close}
 * from any.
 */
public final class S3MockProcess implements AutoCloseable {
    /** The bucket that is there from the start. */
    public static final String BUCKET = "blocks";

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final ChildProcess process;
    private final int port;

    private S3MockProcess(ChildProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /**
     * Starts one.
     *
     * @param program S3Mock's file that java can run
     * @param directory for its objects
     * @throws BenchException when it is no such program, or does not start
     */
    public static S3MockProcess start(Path program, Path directory) throws IOException, InterruptedException {
        check(program);
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Files.createDirectories(directory);
        ChildProcess.Builder mock = ChildProcess.program("S3Mock", List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx1g", "-jar", program.toString(),
                        "--server.port=0", "--http.port=" + port, "--com.adobe.testing.s3mock.store.initialBuckets=" + BUCKET,
                        "--com.adobe.testing.s3mock.store.root=" + directory.toAbsolutePath()))
                .readyWhen(line -> line.contains("Started S3MockApplication"));
        try {
            return new S3MockProcess(mock.startReady(PATIENCE), port);
        } catch (ChildProcessException e) {
            throw BenchException.failed("S3Mock did not start: " + e.getMessage(), "start it by hand: java -jar " + program).causedBy(e);
        }
    }

    private static void check(Path program) {
        try (JarFile jar = new JarFile(program.toFile())) {
            if (jar.getManifest() == null || jar.getManifest().getMainAttributes().getValue("Main-Class") == null) {
                throw new IOException("it has no main class");
            }
        } catch (IOException e) {
            throw BenchException.badInput("--s3mock " + program + " is no program of Java: " + e.getMessage(), "name S3Mock's -exec.jar").causedBy(e);
        }
    }

    /** On the loopback address, HTTP. */
    public int port() {
        return port;
    }

    @Override
    public void close() {
        process.close();
    }
}
