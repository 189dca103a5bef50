/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A directory instance in a JVM of its own, with the bounds that ship. One thread asks it how many partitions it answers from an index. */
final class InstanceProcess implements AutoCloseable {
    private static final String READY = "ready ";
    private static final String INDEXES = "indexes ";

    private final Process process;
    private final BufferedReader out;
    private final PrintWriter in;
    private final int grpcPort;

    private InstanceProcess(Process process, Path errors) throws IOException {
        this.process = process;
        out = process.inputReader(StandardCharsets.UTF_8);
        in = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        try {
            grpcPort = Integer.parseInt(answer(READY));
        } catch (IOException e) {
            process.destroyForcibly();
            throw new IOException(String.join("\n", Files.readAllLines(errors)), e);
        }
    }

    /** Starts one and waits until it listens. */
    static InstanceProcess start(PlacementLog log, Path directory) throws IOException {
        List<String> line = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-Xmx256m",
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        String logging = System.getProperty("logback.configurationFile");
        if (logging != null) {
            line.add("-Dlogback.configurationFile=" + logging);
        }
        line.addAll(List.of(InstanceProcess.class.getName(), log.access.bootstrapServers(), log.topics.prefix(),
                directory.resolve("state").toString()));
        Files.createDirectories(directory);
        Path errors = directory.resolve("errors");
        ProcessBuilder builder = new ProcessBuilder(line).redirectError(errors.toFile());
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        return new InstanceProcess(builder.start(), errors);
    }

    /** The next line that begins so, without the beginning; others are of the log. */
    private String answer(String begin) throws IOException {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(begin)) {
                return line.substring(begin.length());
            }
        }
        throw new IOException("the instance has ended");
    }

    int grpcPort() {
        return grpcPort;
    }

    /** Partitions that it answers from an index of its own. */
    int indexes() {
        try {
            in.println("indexes");
            return Integer.parseInt(answer(INDEXES));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Ends it as kill -9 does, and waits until it is gone. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() {
        in.close();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** Arguments: bootstrap servers, prefix of the topics, state directory. It ends with its input. */
    public static void main(String[] arguments) throws Exception {
        DirectoryConfig config = DirectoryConfig.of(KafkaAccess.of(arguments[0]), new Topics(arguments[1]), Path.of(arguments[2]));
        try (DirectoryApp app = DirectoryApp.start(config);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            if (!app.awaitRunning(Duration.ofMinutes(1))) {
                throw new IOException("the directory is " + app.streams().state());
            }
            System.out.println(READY + app.grpcPort());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(INDEXES + app.streams().indexes());
            }
        }
    }
}
