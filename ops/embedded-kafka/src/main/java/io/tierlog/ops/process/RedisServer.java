/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The {@code redis-server} of this machine, in memory alone unless its options say more, on a free port of loopback. One thread. */
public final class RedisServer implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<String> command;
    private final int port;
    private ChildProcess process;

    private RedisServer(List<String> command, int port) throws InterruptedException {
        this.command = command;
        this.port = port;
        this.process = run();
    }

    /** The program; empty where it is not installed. */
    public static Optional<Path> program() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .map(place -> Path.of(place, "redis-server"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Starts one that answers when this returns.
     *
     * @param directory for its files; made if need be
     * @param options more of them, as {@code redis-server} takes them
     * @throws ChildProcessException when it does not start
     */
    public static RedisServer start(Path program, Path directory, String... options) throws InterruptedException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<String> command = new ArrayList<>(List.of(program.toString(), "--port", String.valueOf(port),
                "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.toString()));
        command.addAll(List.of(options));
        return new RedisServer(command, port);
    }

    private ChildProcess run() throws InterruptedException {
        return ChildProcess.program("redis-server", command).readyWhen(line -> line.contains("Ready to accept")).startReady(PATIENCE);
    }

    /** Port on 127.0.0.1. */
    public int port() {
        return port;
    }

    /** The process. */
    public ChildProcess process() {
        return process;
    }

    /** Ends it as kill -9 does. */
    public void kill() throws InterruptedException {
        process.kill();
    }

    /** Starts it again on the same port after {@link #kill}. */
    public void restart() throws InterruptedException {
        process = run();
    }

    @Override
    public void close() {
        process.close();
    }
}
