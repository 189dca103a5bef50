/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import io.tierlog.ops.mutants.Mutant.Killer;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Makes one mutant at a time and runs its killing tests. It writes neither to the source tree nor to its target directories: the edited source is
 * compiled alone into a directory of its own, and the tests load that directory before the module's classes.
 *
 * <p>Safe for use by several threads. Tests run in as many {@link TestWorker} processes as there are threads, the simulator and scenarios in
 * processes of their own. The class path of these includes the mutated module, so a mutant of the cores reaches them too.
 */
final class MutationRunner implements AutoCloseable {
    /** What became of a mutant. */
    enum Verdict {
        /** A killing test failed. */
        KILLED,
        /** No killing test failed: nothing tests the guard. */
        SURVIVED,
        /**
         * The edit no longer applies or does not compile, a killing test does not exist, or its process ended without a result: correct the list.
         */
        STALE
    }

    /**
     * The end of one mutant.
     *
     * @param detail the first failure, or what to correct in the list
     */
    record Outcome(Mutant mutant, Verdict verdict, String detail, Duration took) {}

    /**
     * What a runner works on.
     *
     * @param root of the source tree
     * @param classes directories and jars that each mutant loads again: what is mutated, its tests, and libraries that cache its classes
     * @param libraries all other libraries, JUnit and this module
     * @param limit the least time for one mutant; one that took long without a mutant gets {@value #PATIENCE} times that
     */
    record Setup(Path root, List<Path> classes, List<Path> libraries, Duration limit) {
        Setup {
            classes = List.copyOf(classes);
            libraries = List.copyOf(libraries);
        }

        List<Path> classPath() {
            return Stream.concat(classes.stream(), libraries.stream()).toList();
        }
    }

    private static final String SIMULATOR = "io.tierlog.ops.simulation.swarm.SimulateMain";
    private static final String SCENARIOS = "io.tierlog.ops.simulation.ScenarioMain";
    private static final List<String> JVM =
            List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                    "-Xmx1g");

    /** How a line begins that says what the simulator or a scenario has noticed. */
    private static final List<String> VIOLATIONS = List.of("VIOLATION", "{\"result\":\"failed\"");

    /** What both end with when something was violated; a usage that they do not know is 2. */
    private static final int VIOLATED = 1;

    /** How much longer than without a mutant a killer may take. */
    private static final int PATIENCE = 3;

    /** Errors of the machine or of an edit that does not fit, and no invariant's: nothing was noticed. */
    private static final List<String> NO_VIOLATIONS = List.of("OutOfMemoryError", "NoClassDefFoundError", "NoSuchMethodError", "NoSuchFieldError",
            "VerifyError", "ClassFormatError", "IncompatibleClassChangeError", "AbstractMethodError", "the simulator broke");

    private final Setup setup;
    /** How long each run took without a mutant; all tests together took so long as each of them at most. */
    private final Map<Killer, Duration> took = new ConcurrentHashMap<>();
    private volatile Duration tookTests = Duration.ZERO;
    private final Path workPlace;
    private final Queue<TestWorker> idle = new ConcurrentLinkedQueue<>();
    private final Queue<TestWorker> started = new ConcurrentLinkedQueue<>();

    MutationRunner(Setup setup) throws IOException {
        this.setup = setup;
        this.workPlace = Files.createTempDirectory("tierlog-mutants-");
    }

    @Override
    public void close() throws IOException {
        for (TestWorker worker : started) {
            worker.close();
        }
        delete(workPlace);
    }

    /**
     * Runs all killing tests without a mutant; returns a failure, or empty when all pass.
     *
     * @param workers as many run at a time as these have threads
     * @throws ExecutionException when one of them cannot be run
     */
    Optional<String> control(List<Mutant> mutants, ExecutorService workers) throws InterruptedException, ExecutionException {
        Set<String> methods = new LinkedHashSet<>();
        Set<Killer> runs = new LinkedHashSet<>();
        for (Mutant mutant : mutants) {
            switch (mutant.killer()) {
                case Killer.Tests tests -> methods.addAll(tests.methods());
                case Killer.Simulate simulate -> runs.add(simulate);
                case Killer.Scenario scenario -> runs.add(scenario);
            }
        }
        if (!methods.isEmpty()) {
            runs.add(new Killer.Tests(List.copyOf(methods)));
        }
        List<Callable<Optional<String>>> controls = runs.stream().<Callable<Optional<String>>>map(killer -> () -> control(killer)).toList();
        for (Future<Optional<String>> one : workers.invokeAll(controls)) {
            Optional<String> failure = one.get();
            if (failure.isPresent()) {
                return failure;
            }
        }
        return Optional.empty();
    }

    private Optional<String> control(Killer killer) throws IOException, InterruptedException {
        Path place = Files.createTempDirectory("tierlog-mutant-");
        try {
            long beganNs = System.nanoTime();
            Ended ended = runKilling(killer, place, setup.limit().multipliedBy(10));
            remember(killer, Duration.ofNanos(System.nanoTime() - beganNs));
            return ended.code() == KillingTests.PASSED ? Optional.empty() : Optional.of(ended.detail());
        } finally {
            delete(place);
        }
    }

    private void remember(Killer killer, Duration time) {
        if (killer instanceof Killer.Tests) {
            tookTests = time;
        } else {
            took.put(killer, time);
        }
    }

    private Duration limit(Killer killer) {
        Duration before = killer instanceof Killer.Tests ? tookTests : took.getOrDefault(killer, Duration.ZERO);
        Duration patient = before.multipliedBy(PATIENCE);
        return patient.compareTo(setup.limit()) > 0 ? patient : setup.limit();
    }

    /** Makes the mutant and runs its killing tests. */
    Outcome examine(Mutant mutant) throws IOException, InterruptedException {
        long beganNs = System.nanoTime();
        Path place = Files.createTempDirectory("tierlog-mutant-");
        try {
            Optional<String> broken = make(mutant, place);
            Verdict verdict = Verdict.STALE;
            String detail = broken.orElse("");
            if (broken.isEmpty()) {
                Ended ended = runKilling(mutant.killer(), place, limit(mutant.killer()));
                verdict = verdict(mutant.killer(), ended);
                detail = verdict == Verdict.SURVIVED ? "not noticed by " + mutant.killer() : ended.detail();
            }
            return new Outcome(mutant, verdict, detail, Duration.ofNanos(System.nanoTime() - beganNs));
        } finally {
            delete(place);
        }
    }

    private static Verdict verdict(Killer killer, Ended ended) {
        if (ended.code() == KillingTests.PASSED) {
            return Verdict.SURVIVED;
        }
        boolean noticed = switch (killer) {
            case Killer.Simulate _, Killer.Scenario _ -> ended.code() == VIOLATED && ended.violated();
            case Killer.Tests _ -> ended.code() == KillingTests.FAILED || ended.code() == TestWorker.TOO_LONG;
        };
        return noticed ? Verdict.KILLED : Verdict.STALE;
    }

    /** Compiles the edited source; answers with what is wrong, or empty. */
    Optional<String> make(Mutant mutant, Path place) throws IOException {
        Path original = setup.root().resolve(mutant.file());
        if (!Files.isRegularFile(original)) {
            return Optional.of("there is no " + mutant.file());
        }
        Optional<String> edited = mutant.apply(Files.readString(original));
        if (edited.isEmpty()) {
            return Optional.of("the text to replace does not stand exactly once in " + mutant.file());
        }
        Path source = place.resolve("source").resolve(String.valueOf(original.getFileName()));
        Path classes = Files.createDirectories(place.resolve("classes"));
        Files.createDirectories(place.resolve("source"));
        Files.writeString(source, edited.get());
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<String> options = List.of("-d", classes.toString(), "-cp", path(setup.classPath()), "-parameters", "-proc:none", "-nowarn");
            boolean good = compiler.getTask(messages, files, null, options, null, files.getJavaFileObjects(source)).call();
            return good ? Optional.empty() : Optional.of("does not compile: " + firstLine(messages.toString()));
        }
    }

    /** Runs the killing tests, the simulator or the scenario, with the classes that were made in that place before all others. */
    private Ended runKilling(Killer killer, Path place, Duration limit) throws IOException, InterruptedException {
        return switch (killer) {
            case Killer.Tests(List<String> methods) -> {
                TestWorker idling = idle.poll();
                TestWorker worker = idling == null ? start() : idling;
                try {
                    TestWorker.Answer answer = worker.run(place.resolve("classes"), methods, limit);
                    yield new Ended(answer.code(), answer.detail(), false);
                } finally {
                    idle.add(worker);
                }
            }
            case Killer.Simulate(List<String> arguments) -> run(SIMULATOR, arguments, place, limit);
            case Killer.Scenario(String file) -> run(SCENARIOS, List.of("run", setup.root().resolve(file).toString()), place, limit);
        };
    }

    private TestWorker start() throws IOException {
        TestWorker worker = new TestWorker(JVM, setup.libraries(), setup.classes(), workPlace);
        started.add(worker);
        return worker;
    }

    // --- processes

    /** How a run has ended, its last line, and whether it found a violation. */
    private record Ended(int code, String detail, boolean violated) {}

    private Ended run(String main, List<String> arguments, Path place, Duration limit) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(JVM);
        List<Path> path = new ArrayList<>(List.of(place.resolve("classes")));
        path.addAll(setup.classPath());
        command.addAll(List.of("-cp", path(path), main));
        command.addAll(arguments);
        Path log = place.resolve("log");
        Process process = new ProcessBuilder(command).directory(place.toFile()).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                return new Ended(TestWorker.TOO_LONG, "not at its end after " + limit.toSeconds() + " s", false);
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(log);
        String violation = violation(text);
        boolean violated = !violation.isEmpty() && NO_VIOLATIONS.stream().noneMatch(violation::contains);
        return new Ended(process.exitValue(), violation.isEmpty() ? lastLine(text) : violation, violated);
    }

    private static String path(List<Path> classPath) {
        return String.join(File.pathSeparator, classPath.stream().map(Path::toString).toList());
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }

    /** What was violated first: the line that says so, and the line below it; empty when there is none of the kind. */
    private static String violation(String text) {
        List<String> lines = text.lines().dropWhile(line -> VIOLATIONS.stream().noneMatch(line::startsWith)).limit(2).map(String::strip).toList();
        return String.join(": ", lines);
    }

    private static String lastLine(String text) {
        List<String> lines = text.lines().filter(line -> !line.isBlank()).toList();
        return lines.isEmpty() ? "" : lines.getLast();
    }

    private static void delete(Path place) throws IOException {
        try (Stream<Path> all = Files.walk(place)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
