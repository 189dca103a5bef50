/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.server;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.process.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The Redis that is installed on this machine, in memory alone, on a free port. One thread; {@link #close} from any. */
public final class RedisProcess implements AutoCloseable {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int ANSWER_MS = 1_000;
    private static final byte[] PING = "PING\r\n".getBytes(StandardCharsets.US_ASCII);

    private final ChildProcess process;
    private final int port;
    private final String version;

    private RedisProcess(ChildProcess process, int port, String version) {
        this.process = process;
        this.port = port;
        this.version = version;
    }

    /**
     * Starts one; empty where it is not installed.
     *
     * @param further arguments of the server
     */
    public static Optional<RedisProcess> start(Path directory, String... further) throws IOException, InterruptedException {
        Optional<Path> program = Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .map(place -> Path.of(place, "redis-server"))
                .filter(Files::isExecutable)
                .findFirst();
        if (program.isEmpty()) {
            return Optional.empty();
        }
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Files.createDirectories(directory);
        List<String> command = new ArrayList<>(List.of(program.get().toString(), "--port", String.valueOf(port),
                "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.toString()));
        command.addAll(List.of(further));
        ChildProcess process = ChildProcess.program("redis-server", command).start();
        long deadline = System.nanoTime() + PATIENCE_NS;
        while (!answers(port)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                process.kill();
                throw BenchException.failed("redis-server did not start: " + process.tail(), "start it by hand, or leave Redis out");
            }
            LockSupport.parkNanos(20_000_000);
        }
        return Optional.of(new RedisProcess(process, port, version(program.get())));
    }

    private static boolean answers(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(ANSWER_MS);
            socket.getOutputStream().write(PING);
            return socket.getInputStream().read() == '+';
        } catch (IOException e) {
            // It does not listen yet.
            return false;
        }
    }

    private static String version(Path program) throws InterruptedException {
        List<String> lines = new ArrayList<>();
        try (ChildProcess asked = ChildProcess.program("redis-server", List.of(program.toString(), "--version")).lines(lines::add).start()) {
            int _ = asked.exitCode();
        }
        return String.join(" ", lines).strip().replaceAll(".* v=([\\d.]+).*", "Redis $1");
    }

    /** On the loopback address. */
    public int port() {
        return port;
    }

    /** Its name and version. */
    public String version() {
        return version;
    }

    /** Processor time that it has used. */
    public long cpuNs() {
        return process.cpuNanos();
    }

    @Override
    public void close() {
        process.close();
    }
}
