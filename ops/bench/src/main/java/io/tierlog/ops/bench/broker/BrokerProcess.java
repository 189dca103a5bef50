/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.broker;

import io.tierlog.ops.bench.BenchException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Kafka broker in a JVM of its own, from the class path of this one: a broker that shares the heap and the collector of what is measured
 * would be measured with it. Safe for use by several threads.
 */
public final class BrokerProcess implements AutoCloseable {
    private static final int STOP_SECONDS = 5;
    private static final int LAST_WORDS = 5;

    /** The log of the broker is set up as that of this process: what it writes to its standard output is read here. */
    private static final List<String> LOG_SETTINGS = List.of("logback.configurationFile", "tierlog.log.level");

    private final Process process;
    private final String bootstrapServers;

    private BrokerProcess(Process process, String bootstrapServers) {
        this.process = process;
        this.bootstrapServers = bootstrapServers;
    }

    /**
     * Starts a broker on any free port of loopback and waits until it serves.
     *
     * @param directory where the broker keeps its log and its output
     * @throws BenchException when it does not start
     */
    public static BrokerProcess start(Path directory) {
        Path output = directory.resolve("broker.err");
        ProcessBuilder builder = new ProcessBuilder(commandLine(directory));
        // In the environment, for a class path can be longer than an argument may be.
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.redirectError(output.toFile());
        try {
            Files.createDirectories(directory);
            Process process = builder.start();
            String ready = firstLine(process);
            if (!ready.startsWith(BrokerMain.READY)) {
                process.destroyForcibly();
                throw BenchException.failed(
                        "the broker process did not start: " + lastWords(output),
                        "look for a lack of memory or of room in the temporary directory, or name a running cluster with --bootstrap-servers");
            }
            return new BrokerProcess(process, ready.substring(BrokerMain.READY.length()));
        } catch (IOException failure) {
            throw new UncheckedIOException("the broker process cannot be run", failure);
        }
    }

    private static List<String> commandLine(Path directory) {
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Xmx512m"));
        for (String name : LOG_SETTINGS) {
            String value = System.getProperty(name);
            if (value != null) {
                line.add("-D" + name + "=" + value);
            }
        }
        line.add(BrokerMain.class.getName());
        line.add(directory.resolve("broker").toString());
        return line;
    }

    /** HOST:PORT for clients. */
    public String bootstrapServers() {
        return bootstrapServers;
    }

    /** Ends the process, without any ceremony since nothing it wrote is needed any more, and waits until it has ended. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Empty when the process ended without one. The reader stays open with the process. */
    private static String firstLine(Process process) throws IOException {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        return line == null ? "" : line;
    }

    private static String lastWords(Path output) throws IOException {
        List<String> lines = Files.exists(output) ? Files.readAllLines(output) : List.of();
        String last = String.join(" | ", lines.subList(Math.max(0, lines.size() - LAST_WORDS), lines.size()));
        return last.isEmpty() ? "it said nothing" : last;
    }
}
