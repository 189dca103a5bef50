/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.bench.broker.BrokerProcess;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.process.ChildProcess;
import io.tierlog.ops.process.ChildProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A directory in a JVM of its own ({@link DirectoryMain}). One thread. */
final class DirectoryProcess implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration START = Duration.ofMinutes(6);
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final Duration ANSWER = Duration.ofMinutes(5);

    private final ChildProcess process;
    private final int httpPort;
    private final int grpcPort;

    private DirectoryProcess(ChildProcess process, String[] ports) {
        this.process = process;
        this.httpPort = Integer.parseInt(ports[0]);
        this.grpcPort = Integer.parseInt(ports[1]);
    }

    /** Starts one and waits until it has its partitions. */
    static DirectoryProcess start(String servers, String prefix, Path directory, int heapMb) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        ChildProcess.Builder program = ChildProcess.java(
                        "the directory process", BrokerProcess.javaOptions(heapMb), DirectoryMain.class,
                        List.of(servers, prefix, directory.resolve("state").toString()))
                .input()
                .log(directory.resolve("directory.err"))
                .readyWhen(line -> line.startsWith(DirectoryMain.READY));
        try {
            ChildProcess process = program.startReady(START);
            return new DirectoryProcess(process, process.awaitReady(START).substring(DirectoryMain.READY.length()).split(" ", -1));
        } catch (ChildProcessException e) {
            throw failed(e);
        }
    }

    private static BenchException failed(ChildProcessException e) {
        return BenchException.failed(e.getMessage(), "look for a lack of memory").causedBy(e);
    }

    /** The next line that begins so. Others are log lines. */
    private String ask(String command, String begin) throws InterruptedException {
        try {
            return process.ask(command, line -> line.startsWith(begin), ANSWER);
        } catch (ChildProcessException e) {
            throw failed(e);
        }
    }

    int httpPort() {
        return httpPort;
    }

    int grpcPort() {
        return grpcPort;
    }

    /** Blocks that it holds, and bytes of their index. */
    record Size(long blocks, long indexBytes) {}

    /** Its size at this moment. */
    Size size() throws InterruptedException {
        String[] words = ask("size", DirectoryMain.SIZE).split(" ", -1);
        return new Size(Long.parseLong(words[1]), Long.parseLong(words[2]));
    }

    /** Runs the load loop inside the directory's process. */
    LoadLoop.Outcome run(LoadLoop.Cell cell, boolean lookup) throws IOException, InterruptedException {
        String command = String.join(" ", "run", String.valueOf(cell.blocks()), String.valueOf(cell.batch()), String.valueOf(cell.present()),
                String.valueOf(cell.clients()), String.valueOf(cell.cellMs()), String.valueOf(lookup));
        return JSON.readValue(ask(command, "{"), LoadLoop.Outcome.class);
    }

    /** Processor time that it has used, in nanoseconds. */
    long cpuNs() {
        return process.cpuNanos();
    }

    /** Bytes of its memory that are resident. */
    long residentBytes() {
        return process.residentBytes();
    }

    /** Ends it in good order, so that all its state is on the disk. */
    @Override
    public void close() {
        process.endInput(STOP);
    }
}
