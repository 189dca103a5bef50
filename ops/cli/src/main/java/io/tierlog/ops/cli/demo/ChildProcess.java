/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.RestLine;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
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
import java.util.function.Consumer;

/**
 * Another {@code tierlog} command in a process of its own, on the same class path and Java, and with nothing of this one's settings: its flags
 * say everything.
 *
 * <p>Its creator closes it. Any thread may close or kill it while another waits for it.
 */
final class ChildProcess implements AutoCloseable {
    /** By name: that class knows every command, so no command knows it. */
    private static final String MAIN = "io.tierlog.ops.cli.Main";

    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration STOP = Duration.ofSeconds(20);
    /** On top of the time for that: until the process begins, and until its answer is here. */
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final Path NOTHING = Path.of("/dev/null");
    private static final String LOG_LEVEL = "tierlog.log.level";
    private static final int SHOWN_LINES = 15;

    private final String name;
    private final Process process;
    private final Path log;
    private final CompletableFuture<JsonNode> ready = new CompletableFuture<>();
    private final CompletableFuture<Boolean> atRest = new CompletableFuture<>();
    private final CompletableFuture<Void> read = new CompletableFuture<>();

    private ChildProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
    }

    /** Launches what prints a line {@code {"event":"ready",...}} once it is ready; its standard error is appended to {@code logs/NAME.log}. */
    static ChildProcess service(String name, Path logs, List<String> arguments) {
        Path log = logs.resolve(name + ".log");
        ChildProcess child = new ChildProcess(name, start(name, arguments, Redirect.PIPE, Redirect.appendTo(log.toFile())), log);
        ObjectMapper mapper = new ObjectMapper();
        child.read(line -> {
            JsonNode json = parsed(mapper, line);
            switch (json.path("event").asText()) {
                case "ready" -> child.ready.complete(json);
                case RestLine.EVENT -> child.atRest.complete(json.path(RestLine.COMPLETE).asBoolean());
                default -> {}
            }
        });
        return child;
    }

    /** Launches what speaks for itself: its standard output goes to {@code lines}, its standard error is this process's. */
    static ChildProcess speaking(String name, List<String> arguments, Consumer<String> lines) {
        ChildProcess child = new ChildProcess(name, start(name, arguments, Redirect.from(NOTHING.toFile()), Redirect.INHERIT), NOTHING);
        child.read(lines);
        return child;
    }

    private static Process start(String name, List<String> arguments, Redirect input, Redirect errors) {
        ProcessBuilder builder = new ProcessBuilder(commandLine(arguments))
                .redirectError(errors)
                .redirectInput(input);
        builder.environment().keySet().removeIf(variable -> variable.startsWith("TIERLOG_"));
        try {
            return builder.start();
        } catch (IOException e) {
            throw new CliError("cannot start " + name + ": " + Causes.of(e), "is there memory and disk left?", CliError.FAILURE, e);
        }
    }

    private static List<String> commandLine(List<String> arguments) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !option.startsWith("-agentlib") && !option.startsWith("-XX:StartFlightRecording"))
                .forEach(line::add);
        String level = System.getProperty(LOG_LEVEL);
        if (level != null) {
            line.add("-D" + LOG_LEVEL + "=" + level);
        }
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
        line.addAll(arguments);
        line.addAll(List.of("--config", NOTHING.toString()));
        return line;
    }

    /** Reads standard output to its end, so that the process never stands still on a full pipe. */
    private void read(Consumer<String> lines) {
        // No virtual one: a read of a pipe keeps its carrier.
        Thread.ofPlatform().daemon().start(() -> {
            try (BufferedReader reader = process.inputReader()) {
                reader.lines().forEach(lines);
                ready.completeExceptionally(new IOException("it ended"));
            } catch (IOException | RuntimeException e) {
                ready.completeExceptionally(e);
            } finally {
                atRest.complete(false);
                read.complete(null);
            }
        });
    }

    /** The line as JSON; a missing node when it is not JSON. */
    private static JsonNode parsed(ObjectMapper mapper, String line) {
        try {
            return line.startsWith("{") ? mapper.readTree(line) : MissingNode.getInstance();
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    /**
     * Waits for its ready line, and returns it.
     *
     * @throws CliError when it ended before, or did not become ready in time
     */
    JsonNode awaitReady() throws InterruptedException {
        try {
            return ready.get(READY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new CliError(name + " did not start: " + tail(), "its whole output is in " + log, CliError.FAILURE, e);
        }
    }

    private String tail() {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join(System.lineSeparator(), lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()));
        } catch (IOException e) {
            return "it printed nothing";
        }
    }

    /** Ends the standard input of a service that was started with {@link RestLine#FLAG}: whether it has brought the log to rest within the limit. */
    boolean bringToRest(Duration limit) throws InterruptedException {
        try {
            process.getOutputStream().close();
            return atRest.get(limit.plus(ANSWER).toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | IOException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("that has no exception", e);
        }
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    /** Waits for its end, at most {@code limit}; whether it has ended. */
    boolean endsWithin(Duration limit) throws InterruptedException {
        return process.waitFor(limit);
    }

    /** Waits for its end, and until all it printed has been taken; its exit code. */
    int exitCode() throws InterruptedException {
        int code = process.waitFor();
        read.join();
        return code;
    }

    /** Ends it as kill -9 does, and waits until it is gone. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Asks it to end, kills it when it does not in time, and returns when it is gone. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP)) {
                kill();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
