/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One process of {@link KillingTests} and the pipe to it. For one thread at a time. Trade-off: a mutant that leaves threads behind shares the process
 * with those after it, so the process is replaced after {@value #MUTANTS} mutants, after one that took too long, and when it ends by itself.
 */
final class TestWorker implements AutoCloseable {
    /** An answer of the tests; {@code code} is one of {@link KillingTests}, or {@link #TOO_LONG} or {@link #ENDED}. */
    record Answer(int code, String detail) {}

    /** The tests did not end in time. */
    static final int TOO_LONG = -1;

    /** The process ended without an answer. */
    static final int ENDED = -2;

    /** How many mutants one process tests: class loaders that something still holds take 10 to 20 MB each. */
    private static final int MUTANTS = 25;

    private static final int MAX_DETAIL = 2_000;

    /** How long a killed process may take to end. */
    private static final int CLOSE_S = 10;

    private final List<String> command;
    private final Path directory;
    private Process process;
    private BufferedReader in;
    private BufferedWriter out;
    private int tested;

    /**
     * Starts a process.
     *
     * @param jvm options of the JVM
     * @param libraries class path of the process
     * @param classes directories that each mutant loads again
     * @param directory where the tests run
     */
    TestWorker(List<String> jvm, List<Path> libraries, List<Path> classes, Path directory) throws IOException {
        this.directory = directory;
        List<String> start = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        start.addAll(jvm);
        start.addAll(List.of("-cp", String.join(File.pathSeparator, libraries.stream().map(Path::toString).toList())));
        start.add(KillingTests.class.getName());
        classes.forEach(path -> start.add(path.toString()));
        this.command = List.copyOf(start);
        this.process = launch();
        this.in = reader();
        this.out = writer();
    }

    private Process launch() throws IOException {
        return new ProcessBuilder(command).directory(directory.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    private BufferedReader reader() {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private BufferedWriter writer() {
        return new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    }

    private void replace() throws IOException {
        close();
        process = launch();
        in = reader();
        out = writer();
        tested = 0;
    }

    /** Runs the methods with the classes of {@code mutated} before all others. */
    Answer run(Path mutated, List<String> methods, Duration limit) throws IOException, InterruptedException {
        if (tested++ >= MUTANTS || !process.isAlive()) {
            replace();
        }
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        BufferedReader from = in;
        Thread.ofPlatform().daemon().start(() -> answer.complete(read(from)));
        out.write(mutated + "\t" + String.join("\t", methods) + "\n");
        out.flush();
        try {
            Answer received = answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            if (received.code() == ENDED) {
                replace();
            }
            return received;
        } catch (TimeoutException _) {
            replace();
            return new Answer(TOO_LONG, "not at its end after " + limit.toSeconds() + " s");
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Answer read(BufferedReader from) {
        try {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                if (line.startsWith(KillingTests.ANSWER)) {
                    String answer = line.substring(KillingTests.ANSWER.length());
                    int blank = answer.indexOf(' ');
                    String detail = answer.substring(blank + 1);
                    return new Answer(Integer.parseInt(answer.substring(0, blank)), detail.substring(0, Math.min(detail.length(), MAX_DETAIL)));
                }
            }
            return new Answer(ENDED, "the process of the tests ended without an answer");
        } catch (IOException broken) {
            return new Answer(ENDED, "the process of the tests ended without an answer: " + broken.getMessage());
        }
    }

    /** Ends the process and waits for its end, at most {@value #CLOSE_S} seconds: only then does it write nothing more to its directory. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().completeOnTimeout(process, CLOSE_S, TimeUnit.SECONDS).join();
    }
}
