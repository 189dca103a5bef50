/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.broker.BrokerProcess;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.process.ChildProcess;
import io.tierlog.ops.process.ChildProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A live page in a JVM of its own ({@link DashboardMain}) on one core. One thread. */
final class DashboardProcess implements AutoCloseable {
    private static final Duration START = Duration.ofMinutes(6);
    private static final Duration STOP = Duration.ofSeconds(30);
    private static final Duration ANSWER = Duration.ofMinutes(2);

    private final ChildProcess process;
    private final int port;
    private final int processors;

    /**
     * Its memory.
     *
     * @param heap bytes in use after a collection
     * @param resident bytes of the process
     */
    record Memory(long heap, long resident) {}

    private DashboardProcess(ChildProcess process, String[] ready) {
        this.process = process;
        this.port = Integer.parseInt(ready[0]);
        this.processors = Integer.parseInt(ready[1]);
    }

    /** Starts one and waits until it has its partitions. */
    static DashboardProcess start(String servers, Topics topics, Path directory, int heapMb, OneCore core) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        List<String> options = new ArrayList<>(BrokerProcess.javaOptions(heapMb));
        options.addAll(core.options());
        ChildProcess.Builder program = ChildProcess.java(
                        "the live page", options, DashboardMain.class, List.of(servers, topics.prefix(), directory.resolve("state").toString()))
                .through(core.program())
                .input()
                .log(directory.resolve("dashboard.err"))
                .readyWhen(line -> line.startsWith(DashboardMain.READY));
        try {
            ChildProcess process = program.startReady(START);
            return new DashboardProcess(process, process.awaitReady(START).substring(DashboardMain.READY.length()).split(" ", -1));
        } catch (ChildProcessException e) {
            throw failed(e);
        }
    }

    private static BenchException failed(ChildProcessException e) {
        return BenchException.failed(e.getMessage(), "give it more with --heap-mb, or write less").causedBy(e);
    }

    int port() {
        return port;
    }

    /** Processors that its JVM counts. */
    int processors() {
        return processors;
    }

    /** Processor time that it has used, in nanoseconds. */
    long cpuNs() {
        return process.cpuNanos();
    }

    boolean alive() {
        return process.isAlive();
    }

    /** The last lines of its log. */
    String tail() {
        return process.tail();
    }

    /** Its memory after a collection, for which it stands still. */
    Memory memory() throws InterruptedException {
        try {
            String line = process.ask("heap", answer -> answer.startsWith(DashboardMain.HEAP), ANSWER);
            return new Memory(Long.parseLong(line.substring(DashboardMain.HEAP.length())), process.residentBytes());
        } catch (ChildProcessException e) {
            throw failed(e);
        }
    }

    @Override
    public void close() {
        process.endInput(STOP);
    }
}
