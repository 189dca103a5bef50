/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A child process whose standard output a thread of its own reads to the end, so that the process never blocks on a full pipe.
 *
 * <pre>
 *   try (ChildProcess child = ChildProcess.java("broker", List.of("-Xmx512m"), BrokerMain.class, List.of("/tmp/data"))
 *           .input().log(log).readyWhen(line -> line.startsWith("ready ")).start()) {
 *       String ready = child.awaitReady(Duration.ofSeconds(60));
 *       String answer = child.ask("size", line -> line.startsWith("size "), Duration.ofSeconds(5));
 *   }
 * </pre>
 *
 * <p>The starter closes it. Any thread may close or kill it while another waits for it; one thread at a time calls {@link #ask}.
 */
public final class ChildProcess implements AutoCloseable {
    private static final Duration STOP = Duration.ofSeconds(20);
    private static final Path NOTHING = Path.of("/dev/null");
    private static final int SHOWN_LINES = 15;

    private final String name;
    private final Process process;
    private final Optional<Path> log;
    private final Expectation ready;
    private final CompletableFuture<Void> read = new CompletableFuture<>();
    private final Deque<String> last = new ArrayDeque<>();
    private volatile Expectation answer = new Expectation(_ -> false);

    /** A line that a caller waits for. */
    private record Expectation(Predicate<String> accepts, CompletableFuture<String> line) {
        Expectation(Predicate<String> accepts) {
            this(accepts, new CompletableFuture<>());
        }

        void offer(String offered) {
            if (!line.isDone() && accepts.test(offered)) {
                line.complete(offered);
            }
        }
    }

    private ChildProcess(Builder builder, Process process) {
        this.name = builder.name;
        this.process = process;
        this.log = builder.log;
        this.ready = new Expectation(builder.ready);
        // No virtual one: a read of a pipe keeps its carrier, and with as many children as processors the virtual threads here can stand still.
        Thread.ofPlatform().daemon().name("child-" + name).start(() -> read(builder.lines));
    }

    /** How a process is started; by default with an empty standard input, this process's standard error, and no reader of its lines. */
    public static final class Builder {
        private final String name;
        private List<String> command;
        private Optional<Path> log = Optional.empty();
        private boolean input;
        private boolean classPath;
        private String hiddenVariables = "";
        private Map<String, String> variables = Map.of();
        private Predicate<String> ready = _ -> false;
        private Consumer<String> lines = _ -> {};

        private Builder(String name, List<String> command) {
            this.name = name;
            this.command = List.copyOf(command);
        }

        /** Starts it through another program, which becomes it: {@code taskset -c 1} gives it one core. */
        public Builder through(List<String> program) {
            List<String> whole = new ArrayList<>(program);
            whole.addAll(command);
            command = List.copyOf(whole);
            return this;
        }

        /** Appends standard error to {@code file}. */
        public Builder log(Path file) {
            log = Optional.of(file);
            return this;
        }

        /** Keeps standard input open until {@link #endInput} or the end of this process, for {@link #ask}. */
        public Builder input() {
            input = true;
            return this;
        }

        /** Removes the environment variables whose names begin so. */
        public Builder withoutVariables(String prefix) {
            hiddenVariables = prefix;
            return this;
        }

        /** Sets environment variables. */
        public Builder variables(Map<String, String> set) {
            variables = Map.copyOf(set);
            return this;
        }

        /** The line of standard output that {@link #awaitReady} waits for. */
        public Builder readyWhen(Predicate<String> line) {
            ready = line;
            return this;
        }

        /** Receives every line of standard output, in the thread that reads them. */
        public Builder lines(Consumer<String> consumer) {
            lines = consumer;
            return this;
        }

        /**
         * Starts it, and waits for the line that {@link #readyWhen} names.
         *
         * @throws ChildProcessException when it cannot be started, or does not become ready in time: then it is killed
         */
        public ChildProcess startReady(Duration limit) throws InterruptedException {
            ChildProcess process = start();
            boolean isReady = false;
            try {
                process.awaitReady(limit);
                isReady = true;
                return process;
            } finally {
                if (!isReady) {
                    process.kill();
                }
            }
        }

        /** @throws ChildProcessException when it cannot be started */
        public ChildProcess start() {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectError(log.map(file -> Redirect.appendTo(file.toFile())).orElse(Redirect.INHERIT))
                    .redirectInput(input ? Redirect.PIPE : Redirect.from(NOTHING.toFile()));
            if (!hiddenVariables.isEmpty()) {
                builder.environment().keySet().removeIf(variable -> variable.startsWith(hiddenVariables));
            }
            builder.environment().putAll(variables);
            if (classPath) {
                builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
            }
            try {
                return new ChildProcess(this, builder.start());
            } catch (IOException e) {
                throw new ChildProcessException("cannot start " + name + ": " + e.getMessage(), e);
            }
        }
    }

    /** A program of this machine. */
    public static Builder program(String name, List<String> command) {
        return new Builder(name, command);
    }

    /** A main class on the class path of this process, in the same Java. */
    public static Builder java(String name, List<String> options, Class<?> main, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.add(main.getName());
        command.addAll(arguments);
        Builder builder = new Builder(name, command);
        builder.classPath = true;
        return builder;
    }

    /** The options that this JVM runs with, without debuggers and recordings. */
    public static List<String> ownOptions() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !option.startsWith("-agentlib") && !option.startsWith("-XX:StartFlightRecording"))
                .toList();
    }

    /** System properties of this JVM, for those names that it has, as options of another. */
    public static List<String> properties(String... names) {
        List<String> options = new ArrayList<>();
        for (String name : names) {
            String value = System.getProperty(name);
            if (value != null) {
                options.add("-D" + name + "=" + value);
            }
        }
        return options;
    }

    private void read(Consumer<String> lines) {
        Throwable end = new IOException("the process ended");
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                remember(line);
                lines.accept(line);
                ready.offer(line);
                answer.offer(line);
            }
        } catch (IOException | RuntimeException e) {
            end = e;
        } finally {
            read.complete(null);
            ready.line.completeExceptionally(end);
            answer.line.completeExceptionally(end);
        }
    }

    private void remember(String line) {
        synchronized (last) {
            if (last.size() == SHOWN_LINES) {
                last.removeFirst();
            }
            last.addLast(line);
        }
    }

    /**
     * Waits for the line that the builder names as ready, and returns it.
     *
     * @throws ChildProcessException when the process ended before, or did not become ready in time
     */
    public String awaitReady(Duration limit) throws InterruptedException {
        return await(ready, limit, "did not start");
    }

    /**
     * Writes a line to the standard input, and returns the next line of output that {@code isAnswer} accepts.
     *
     * @throws ChildProcessException when the process has ended, or does not answer in time
     */
    public String ask(String line, Predicate<String> isAnswer, Duration limit) throws InterruptedException {
        Expectation next = new Expectation(isAnswer);
        answer = next;
        try {
            Writer in = process.outputWriter(StandardCharsets.UTF_8);
            in.write(line + "\n");
            in.flush();
        } catch (IOException e) {
            throw new ChildProcessException(name + " takes no input: " + tail(), e);
        }
        if (read.isDone()) {
            next.line.completeExceptionally(new IOException("the process ended"));
        }
        return await(next, limit, "did not answer '" + line + "'");
    }

    private String await(Expectation expected, Duration limit, String what) throws InterruptedException {
        try {
            return expected.line.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new ChildProcessException(name + " " + what + ": " + tail(), e);
        }
    }

    /** The last lines of its log, or of its output where it has no log. */
    public String tail() {
        List<String> lines = List.of();
        try {
            lines = log.isPresent() ? Files.readAllLines(log.get()) : lines;
        } catch (IOException e) {
            lines = List.of("its log cannot be read: " + e.getMessage());
        }
        if (lines.isEmpty()) {
            synchronized (last) {
                lines = List.copyOf(last);
            }
        }
        String shown = String.join(System.lineSeparator(), lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()));
        return shown.isBlank() ? "it printed nothing" : shown;
    }

    /** Its name, as given to the builder. */
    public String name() {
        return name;
    }

    /** Process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Processor time that it has used so far, in nanoseconds; 0 where the system does not report it. */
    public long cpuNanos() {
        return process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
    }

    /** Bytes of its memory that are resident; 0 where the system does not report it. */
    public long residentBytes() {
        try {
            return Files.readAllLines(Path.of("/proc", String.valueOf(pid()), "status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1_024)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }

    /** Waits for its end at most so long; whether it has ended. */
    public boolean endsWithin(Duration limit) throws InterruptedException {
        return process.waitFor(limit);
    }

    /** Waits for its end and for the last line of its output; its exit code. */
    public int exitCode() throws InterruptedException {
        int code = process.waitFor();
        read.join();
        return code;
    }

    /** Ends it as kill -9 does, and waits until it is gone. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Closes its standard input and waits for its end; kills it when it does not end in time. */
    public void endInput(Duration limit) {
        try {
            process.outputWriter(StandardCharsets.UTF_8).close();
        } catch (IOException e) {
            // The process is gone already, and its input with it.
            process.destroy();
        }
        end(limit);
    }

    /** Asks it to end by a signal; kills it when it does not end within 20 s. */
    @Override
    public void close() {
        process.destroy();
        end(STOP);
    }

    private void end(Duration limit) {
        try {
            if (!process.waitFor(limit)) {
                kill();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
