/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.broker;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.process.ChildProcess;
import io.tierlog.ops.process.ChildProcessException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A Kafka broker in a JVM of its own, from the class path of this one: a broker that shares the heap and the collector of what is measured
 * would be measured with it. Safe for use by several threads.
 */
public final class BrokerProcess implements AutoCloseable {
    /** Most time that a start takes. */
    private static final Duration START = Duration.ofMinutes(2);

    private static final List<String> JAVA = List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

    private final ChildProcess process;
    private final String bootstrapServers;

    private BrokerProcess(ChildProcess process, String bootstrapServers) {
        this.process = process;
        this.bootstrapServers = bootstrapServers;
    }

    /**
     * Starts a broker on any free port of loopback and waits until it serves.
     *
     * @param directory where the broker keeps its log and its output
     * @throws BenchException when it does not start
     */
    public static BrokerProcess start(Path directory) throws InterruptedException {
        try {
            Files.createDirectories(directory);
        } catch (IOException failure) {
            throw new UncheckedIOException("the broker process cannot be run", failure);
        }
        ChildProcess.Builder broker = ChildProcess.java(
                        "the broker process", javaOptions(512), BrokerMain.class, List.of(directory.resolve("broker").toString()))
                .input()
                .log(directory.resolve("broker.err"))
                .readyWhen(line -> line.startsWith(BrokerMain.READY));
        try {
            ChildProcess process = broker.startReady(START);
            return new BrokerProcess(process, process.awaitReady(START).substring(BrokerMain.READY.length()));
        } catch (ChildProcessException failure) {
            throw BenchException.failed(
                            failure.getMessage(),
                            "look for a lack of memory or of space in the temporary directory, or name a running cluster with --bootstrap-servers")
                    .causedBy(failure);
        }
    }

    /** Options of a server's JVM with a heap of so many MiB, and the log settings of this process: a server logs to its standard output. */
    public static List<String> javaOptions(int heapMb) {
        List<String> options = new ArrayList<>(JAVA);
        options.add("-Xmx" + heapMb + "m");
        options.addAll(ChildProcess.properties("logback.configurationFile", "tierlog.log.level"));
        return options;
    }

    /** HOST:PORT for clients. */
    public String bootstrapServers() {
        return bootstrapServers;
    }

    /** Processor time that it has used so far, in nanoseconds; 0 where the system does not report it. */
    public long cpuNanos() {
        return process.cpuNanos();
    }

    /** Kills the process, since nothing that it wrote is needed any more, and waits until it has ended. */
    @Override
    public void close() {
        process.endInput(Duration.ZERO);
    }
}
