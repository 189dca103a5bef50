/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.tierlog.ops.cli.CliError;
import io.tierlog.ops.cli.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Another {@code tierlog} command in a process of its own, on the same class path and Java.
 *
 * <p>It is ready when it has printed its line {@code {"event":"ready",...}}. What it says on standard error goes to a file. It ends when this
 * is closed, and with this process.
 */
final class ChildProcess implements AutoCloseable {
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration STOP = Duration.ofSeconds(20);
    private static final int SHOWN_LINES = 15;

    private final String name;
    private final Process process;
    private final JsonNode ready;
    private final Thread killer;

    private ChildProcess(String name, Process process, JsonNode ready, Thread killer) {
        this.name = name;
        this.process = process;
        this.ready = ready;
        this.killer = killer;
    }

    /** Runs {@code arguments} and waits until it is ready; its standard error goes to {@code logs/NAME.log}. */
    static ChildProcess start(String name, Path logs, List<String> arguments) throws InterruptedException {
        Path log = logs.resolve(name + ".log");
        Process process;
        try {
            process = new ProcessBuilder(commandLine(arguments))
                    .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .start();
        } catch (IOException e) {
            throw new CliError("cannot start " + name + ": " + e, "is there memory and disk left?", CliError.FAILURE, e);
        }
        Thread killer = new Thread(process::destroyForcibly, "stop-" + name);
        try {
            Runtime.getRuntime().addShutdownHook(killer);
        } catch (IllegalStateException e) {
            process.destroyForcibly();
            throw new CliError(name + " was not started: the demo ends", "start it again", CliError.FAILURE, e);
        }
        try {
            return new ChildProcess(name, process, awaitReady(process), killer);
        } catch (IOException | TimeoutException | ExecutionException e) {
            process.destroyForcibly();
            throw new CliError(name + " did not start: " + tail(log), "its whole output is in " + log, CliError.FAILURE, e);
        }
    }

    /** The command line of {@code tierlog} with {@code arguments} in a process like this one. */
    static List<String> commandLine(List<String> arguments) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !option.startsWith("-agentlib") && !option.startsWith("-XX:StartFlightRecording"))
                .forEach(line::add);
        line.add("-cp");
        line.add(System.getProperty("java.class.path"));
        line.add(Main.class.getName());
        line.addAll(arguments);
        return line;
    }

    private static JsonNode awaitReady(Process process)
            throws IOException, InterruptedException, TimeoutException, ExecutionException {
        CompletableFuture<JsonNode> found = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> read(process, found));
        return found.get(READY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Reads standard output to its end, so that the process never stands still on a full pipe. */
    private static void read(Process process, CompletableFuture<JsonNode> found) {
        ObjectMapper mapper = new ObjectMapper();
        try (BufferedReader reader = process.inputReader()) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                JsonNode json = parsed(mapper, line);
                if ("ready".equals(json.path("event").asText())) {
                    found.complete(json);
                }
            }
            found.completeExceptionally(new IOException("it ended"));
        } catch (IOException e) {
            found.completeExceptionally(e);
        }
    }

    /** The line as JSON; what is none says nothing. */
    private static JsonNode parsed(ObjectMapper mapper, String line) {
        try {
            return line.startsWith("{") ? mapper.readTree(line) : MissingNode.getInstance();
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    private static String tail(Path log) {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join(System.lineSeparator(), lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()));
        } catch (IOException e) {
            return "it said nothing";
        }
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    /** What it printed when it was ready. */
    JsonNode ready() {
        return ready;
    }

    /** Ends it as kill -9 does, and waits until it is gone. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
        forget();
    }

    /** Asks it to end, and kills it when it does not in time. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        forget();
    }

    private void forget() {
        try {
            Runtime.getRuntime().removeShutdownHook(killer);
        } catch (IllegalStateException ignored) {
            // The process ends already, and the hook has run or will.
        }
    }
}
