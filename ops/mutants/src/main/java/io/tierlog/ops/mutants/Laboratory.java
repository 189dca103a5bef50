/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import io.tierlog.ops.mutants.Mutant.Killer;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Makes one mutant at a time and sets its killer on it. Nothing in the source tree or its target directories is written to: the edited source
 * is compiled alone into a directory of its own, which stands first on the class path of a process of its own.
 *
 * <p>Safe for use by several threads. The price: a start of a JVM for each mutant.
 */
final class Laboratory {
    /** What became of a mutant. */
    enum Verdict {
        /** The killer noticed. */
        KILLED,
        /** The killer did not notice: the guard has no test that bites. */
        SURVIVED,
        /** The edit does not apply any more, does not compile, or its killer is not there: the list must be mended. */
        STALE
    }

    /**
     * The end of one mutant.
     *
     * @param detail the first failure, or what is to be mended
     */
    record Outcome(Mutant mutant, Verdict verdict, String detail, Duration took) {}

    /**
     * What a laboratory works on.
     *
     * @param root of the source tree
     * @param classPath of the cores and their tests
     * @param simulation class path of the simulator; empty when there is none
     * @param limit how long one killer may take; one that takes longer has noticed
     */
    record Setup(Path root, List<Path> classPath, List<Path> simulation, Duration limit) {
        Setup {
            classPath = List.copyOf(classPath);
            simulation = List.copyOf(simulation);
        }
    }

    private static final String SIMULATOR = "io.tierlog.ops.simulation.SimulateMain";
    private static final List<String> JVM =
            List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-XX:TieredStopAtLevel=1", "-Xmx1g");

    private final Setup setup;

    Laboratory(Setup setup) {
        this.setup = setup;
    }

    /** All the tests that kill, without a mutant: what is wrong with them, or empty when all pass. */
    Optional<String> control(List<Mutant> mutants) throws IOException, InterruptedException {
        Set<String> methods = new LinkedHashSet<>();
        for (Mutant mutant : mutants) {
            if (mutant.killer() instanceof Killer.Tests tests) {
                methods.addAll(tests.methods());
            }
        }
        if (methods.isEmpty()) {
            return Optional.empty();
        }
        Ended ended = run(setup.classPath(), KillerMain.class.getName(), List.copyOf(methods), setup.limit().multipliedBy(10));
        return ended.code() == KillerMain.PASSED ? Optional.empty() : Optional.of(ended.said());
    }

    /** Makes the mutant and lets its killer loose. */
    Outcome examine(Mutant mutant) throws IOException, InterruptedException {
        long beganNs = System.nanoTime();
        Path place = Files.createTempDirectory("tierlog-mutant-");
        try {
            Optional<String> broken = make(mutant, place);
            Verdict verdict = Verdict.STALE;
            String detail = broken.orElse("");
            if (broken.isEmpty()) {
                Ended ended = unleash(mutant.killer(), place.resolve("classes"));
                verdict = verdict(mutant.killer(), ended);
                detail = verdict == Verdict.SURVIVED ? "not noticed by " + mutant.killer() : ended.said();
            }
            return new Outcome(mutant, verdict, detail, Duration.ofNanos(System.nanoTime() - beganNs));
        } finally {
            delete(place);
        }
    }

    private static Verdict verdict(Killer killer, Ended ended) {
        if (ended.code() == KillerMain.PASSED) {
            return Verdict.SURVIVED;
        }
        boolean told = killer instanceof Killer.Simulate || ended.code() == KillerMain.FAILED || ended.code() == Ended.TOO_LONG;
        return told ? Verdict.KILLED : Verdict.STALE;
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
        java.io.StringWriter said = new java.io.StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<String> options = List.of("-d", classes.toString(), "-cp", path(setup.classPath()), "-parameters", "-proc:none", "-nowarn");
            boolean good = compiler.getTask(said, files, null, options, null, files.getJavaFileObjects(source)).call();
            return good ? Optional.empty() : Optional.of("does not compile: " + firstLine(said.toString()));
        }
    }

    private Ended unleash(Killer killer, Path classes) throws IOException, InterruptedException {
        List<Path> path = new ArrayList<>(List.of(classes));
        return switch (killer) {
            case Killer.Tests(List<String> methods) -> {
                path.addAll(setup.classPath());
                yield run(path, KillerMain.class.getName(), methods, setup.limit());
            }
            case Killer.Simulate(List<String> arguments) -> {
                if (setup.simulation().isEmpty()) {
                    throw new MutantsException("the simulator is not built: mvn -pl ops/simulation -am package");
                }
                path.addAll(setup.simulation());
                yield run(path, SIMULATOR, arguments, setup.limit());
            }
        };
    }

    // --- processes

    /** How a process has ended, and the last thing it said. */
    private record Ended(int code, String said) {
        static final int TOO_LONG = -1;
    }

    private static Ended run(List<Path> classPath, String main, List<String> arguments, Duration limit) throws IOException, InterruptedException {
        Path log = Files.createTempFile("tierlog-mutant-", ".log");
        try {
            List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
            command.addAll(JVM);
            command.addAll(List.of("-cp", path(classPath), main));
            command.addAll(arguments);
            Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
            try {
                if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                    return new Ended(Ended.TOO_LONG, "not at its end after " + limit.toSeconds() + " s");
                }
            } finally {
                process.destroyForcibly().waitFor();
            }
            return new Ended(process.exitValue(), lastLine(Files.readString(log)));
        } finally {
            Files.delete(log);
        }
    }

    private static String path(List<Path> classPath) {
        return String.join(File.pathSeparator, classPath.stream().map(Path::toString).toList());
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }

    private static String lastLine(String text) {
        return Arrays.stream(text.split("\n")).filter(line -> !line.isBlank()).reduce("", (first, second) -> second);
    }

    private static void delete(Path place) throws IOException {
        try (Stream<Path> all = Files.walk(place)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
