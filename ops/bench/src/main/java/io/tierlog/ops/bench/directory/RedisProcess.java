/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import io.tierlog.ops.bench.BenchException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The Redis of this machine's packages, in memory alone, on a port of its own. One thread. */
final class RedisProcess implements AutoCloseable {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final Process process;
    private final int port;
    private final String version;

    private RedisProcess(Process process, int port, String version) {
        this.process = process;
        this.port = port;
        this.version = version;
    }

    /** Starts one; empty where it is not installed. */
    static Optional<RedisProcess> start(Path directory) throws IOException {
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
        Process process = new ProcessBuilder(List.of(program.get().toString(), "--port", String.valueOf(port), "--bind", "127.0.0.1",
                        "--save", "", "--appendonly", "no", "--dir", directory.toString()))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("redis.out").toFile())
                .start();
        long deadline = System.nanoTime() + PATIENCE_NS;
        while (true) {
            try (RedisSession session = new RedisSession(port, RedisSession.Command.MGET)) {
                session.memory("used_memory");
                return Optional.of(new RedisProcess(process, port, version(program.get())));
            } catch (IOException e) {
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    process.destroyForcibly();
                    throw BenchException.failed("redis-server did not start: " + Files.readString(directory.resolve("redis.out")).strip(),
                            "start it by hand, or leave it out with --no-redis").causedBy(e);
                }
                LockSupport.parkNanos(20_000_000);
            }
        }
    }

    private static String version(Path program) throws IOException {
        Process asked = new ProcessBuilder(program.toString(), "--version").start();
        String said = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        return said.replaceAll(".* v=([\\d.]+).*", "Redis $1");
    }

    int port() {
        return port;
    }

    String version() {
        return version;
    }

    long cpuNs() {
        return DirectoryProcess.cpuNs(process);
    }

    long residentBytes() {
        return DirectoryProcess.residentBytes(process.pid());
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
