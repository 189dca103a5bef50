/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code tierlog simulate}: prints the table. Exit codes: 0 clean, 1 something was violated or it was interrupted, 2 wrong usage. */
@Command(
        name = "simulate",
        description = "Run the shipped cores in many small simulated worlds with faults.",
        footer = {
            "",
            "An episode is a log, a controller, two or three nodes and a store in one",
            "thread and virtual time. Its seed determines all that happens in it, the",
            "faults included. After 200 requests all faults end, and the world must come",
            "to rest. All bytes that are read are compared with their expected content.",
            "A failure is shrunk; the command that repeats it is printed."
        })
public final class SimulateCommand implements Callable<Integer> {
    private static final int VIOLATED = 1;

    @Spec
    CommandSpec spec;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of the first episode (default: a fresh one).")
    @Nullable Long seed;

    @Option(names = "--episodes", paramLabel = "N", description = "Number of episodes (default: ${DEFAULT-VALUE}).")
    long episodes = 300;

    @Option(names = "--minutes", paramLabel = "M", description = "Begin no further episode after this many minutes (default: ${DEFAULT-VALUE}).")
    double minutes = 60;

    @Option(
            names = "--faults",
            paramLabel = "KIND",
            split = ",",
            description = "Only these kinds of faults, several with commas; none for no faults at all (default: all).")
    @Nullable List<String> faults;

    @Option(names = "--choices", paramLabel = "FILE", description = "Replay a shrunk failure instead.")
    @Nullable Path choices;

    @Option(names = "--directory", paramLabel = "DIR", description = "Directory for the recorded choices of a failure (default: the current one).")
    Path directory = Path.of("");

    @Option(names = "--failures", paramLabel = "N", description = "Stop after N failures (default: ${DEFAULT-VALUE}).")
    int failures = 1;

    @Option(names = "--threads", paramLabel = "N", description = "Episodes at once (default: one for each processor).")
    int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Format format = Format.text;

    /** What {@code --format} takes; the names are what a user types. */
    enum Format {
        /** For people. */
        text,
        /** For programs: one JSON object on stdout, nothing else. */
        json
    }

    @Override
    public Integer call() throws JsonProcessingException {
        Set<FaultKind> allowed = allowed();
        require(episodes >= 1, "--episodes must be 1 or more");
        require(minutes > 0, "--minutes must be more than 0");
        require(threads >= 1, "--threads must be 1 or more");
        require(failures >= 1, "--failures must be 1 or more");
        require(Files.isDirectory(directory.toAbsolutePath()), "--directory: " + directory + " is not a directory");
        SimulationReport report = choices == null ? swarm(allowed) : replay(choices, allowed);
        print(report);
        boolean whole = report.shortfall().isEmpty() || report.shortfall().equals(Swarm.TIME_IS_UP);
        return report.violations() > 0 || !whole ? VIOLATED : 0;
    }

    private SimulationReport replay(Path file, Set<FaultKind> allowed) {
        require(Files.isReadable(file), "--choices: " + file + " cannot be read");
        return Swarm.replay(file, allowed);
    }

    private SimulationReport swarm(Set<FaultKind> allowed) {
        PrintWriter err = spec.commandLine().getErr();
        long first = seed == null ? ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE) : seed;
        Duration limit = Duration.ofMillis((long) (minutes * 60_000));
        Swarm swarm = new Swarm(
                new Swarm.Config(first, episodes, limit, allowed, threads, directory, Duration.ofSeconds(15), failures), line -> {
                    err.println(line);
                    err.flush();
                });
        // Ctrl-C: no further episode begins, and what was done so far is printed.
        Thread hook = new Thread(() -> {
            swarm.stop();
            err.println("interrupted; so far:");
            err.println(swarm.report().text());
            err.flush();
        });
        Runtime.getRuntime().addShutdownHook(hook);
        SimulationReport report = swarm.run();
        Runtime.getRuntime().removeShutdownHook(hook);
        return report;
    }

    private void print(SimulationReport report) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        switch (format) {
            case text -> out.print(report.text());
            case json -> out.println(report.json());
        }
        out.flush();
    }

    private Set<FaultKind> allowed() {
        List<String> named = faults;
        if (named == null) {
            return EnumSet.allOf(FaultKind.class);
        }
        Set<FaultKind> allowed = EnumSet.noneOf(FaultKind.class);
        for (String label : named) {
            if (!label.equals("none")) {
                allowed.add(FaultKind.labelled(label).orElseThrow(() -> misuse("--faults: there is no " + label + "; there are " + labels())));
            }
        }
        return allowed;
    }

    private static String labels() {
        return Arrays.stream(FaultKind.values()).map(FaultKind::label).collect(Collectors.joining(", ")) + ", none";
    }

    private void require(boolean good, String message) {
        if (!good) {
            throw misuse(message);
        }
    }

    private ParameterException misuse(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
