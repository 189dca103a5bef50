/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import io.tierlog.ops.mutants.MutationRunner.Outcome;
import io.tierlog.ops.mutants.MutationRunner.Setup;
import io.tierlog.ops.mutants.MutationRunner.Verdict;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Runs mutants and prints what became of each. Exit code 0 when all were killed, 1 when one survived or its entry must be mended, 2 when nothing
 * could be run. {@code ops/mutants/run} starts it.
 */
final class MutantsMain {
    private static final String USAGE = """
            Usage: ops/mutants/run [--list] [--take=N] [--seed=S] [--jobs=N] [--seconds=N] [NAME...]
            Takes out one guard after the other, and fails when no test notices.
              --list       say what there is, and run nothing
              --take=N     run N of them, chosen by the seed (default: all)
              --seed=S     another seed chooses others (default: 0)
              --jobs=N     so many at a time (default: 2)
              --seconds=N  longest time for one, if it does not take a third of that
                           without a mutant; tests that take longer have noticed (default: 60)
              NAME         run those of these names, or whose names begin so
            """;

    /** What is mutated: the cores, and what keeps a few of their promises below them. */
    static final List<String> MODULES = List.of(
            "controller/core", "controller/http", "controller/directory", "node-agent/core", "node-agent/app", "events");

    private final Path root;
    private final PrintStream out;
    private final List<String> names = new ArrayList<>();
    private boolean list;
    private int take = Integer.MAX_VALUE;
    private long seed;
    private int jobs = 2;
    private int seconds = 60;

    private MutantsMain(Path root, PrintStream out) {
        this.root = root;
        this.out = out;
    }

    /**
     * Runs mutants.
     *
     * @param arguments the root of the source tree, and what {@code --help} says
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        MutantsMain main = new MutantsMain(Path.of(arguments[0]).toAbsolutePath().normalize(), out);
        try {
            System.exit(main.run(Arrays.asList(arguments).subList(1, arguments.length)));
        } catch (MutantsException e) {
            out.println("error: " + e.getMessage());
            System.exit(2);
        }
    }

    private int run(List<String> arguments) throws IOException, InterruptedException {
        if (arguments.contains("--help")) {
            out.print(USAGE);
            return 0;
        }
        arguments.forEach(this::option);
        List<Mutant> mutants = chosen(MutantList.readAll(root.resolve("ops/mutants")));
        if (list) {
            mutants.forEach(mutant -> out.printf("%-50s %-8s %s%n", mutant.name(), mutant.guards(), mutant.file()));
            return 0;
        }
        long beganNs = System.nanoTime();
        List<Outcome> outcomes;
        try (MutationRunner runner = new MutationRunner(new Setup(root, classes(), libraries(), Duration.ofSeconds(seconds)))) {
            Optional<String> wrong = runner.control(mutants);
            if (wrong.isPresent()) {
                throw new MutantsException("the killing tests fail without a mutant, so their failures prove nothing: " + wrong.get());
            }
            outcomes = examine(runner, mutants);
        }
        long survived = outcomes.stream().filter(one -> one.verdict() == Verdict.SURVIVED).count();
        long stale = outcomes.stream().filter(one -> one.verdict() == Verdict.STALE).count();
        out.printf("%d mutants: %d killed, %d SURVIVED, %d stale; %d s%n", outcomes.size(), outcomes.size() - survived - stale, survived, stale,
                Duration.ofNanos(System.nanoTime() - beganNs).toSeconds());
        return survived + stale == 0 ? 0 : 1;
    }

    private void option(String argument) {
        try {
            if (argument.equals("--list")) {
                list = true;
            } else if (argument.startsWith("--take=")) {
                take = Integer.parseInt(value(argument));
            } else if (argument.startsWith("--seed=")) {
                seed = Long.parseLong(value(argument));
            } else if (argument.startsWith("--jobs=")) {
                jobs = Integer.parseInt(value(argument));
            } else if (argument.startsWith("--seconds=")) {
                seconds = Integer.parseInt(value(argument));
            } else if (argument.startsWith("-")) {
                throw new MutantsException("there is no " + argument + "; see --help");
            } else {
                names.add(argument);
            }
        } catch (NumberFormatException e) {
            throw new MutantsException(argument + " needs a number");
        }
        if (take < 1 || jobs < 1 || seconds < 1) {
            throw new MutantsException(argument + " must be 1 or more");
        }
    }

    private static String value(String argument) {
        return argument.substring(argument.indexOf('=') + 1);
    }

    private List<Mutant> chosen(List<Mutant> all) {
        List<Mutant> chosen = new ArrayList<>(all);
        if (!names.isEmpty()) {
            for (String name : names) {
                if (all.stream().noneMatch(mutant -> mutant.name().startsWith(name))) {
                    throw new MutantsException("there is no mutant " + name + "; --list says what there is");
                }
            }
            chosen.removeIf(mutant -> names.stream().noneMatch(name -> mutant.name().startsWith(name)));
        }
        if (take < chosen.size()) {
            Collections.shuffle(chosen, new Random(seed));
            chosen = chosen.subList(0, take);
        }
        return List.copyOf(chosen);
    }

    private List<Outcome> examine(MutationRunner runner, List<Mutant> mutants) throws InterruptedException {
        List<Outcome> outcomes = new ArrayList<>();
        try (ExecutorService workers = Executors.newFixedThreadPool(jobs)) {
            List<Future<Outcome>> running = mutants.stream().map(mutant -> workers.submit(() -> runner.examine(mutant))).toList();
            for (Future<Outcome> one : running) {
                Outcome outcome = one.get();
                outcomes.add(outcome);
                out.printf("%-8s %-50s %-8s %5.1f s  %s%n",
                        outcome.verdict() == Verdict.SURVIVED ? "SURVIVED" : outcome.verdict().name().toLowerCase(Locale.ROOT),
                        outcome.mutant().name(), outcome.mutant().guards(), outcome.took().toMillis() / 1_000.0, cut(outcome.detail()));
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof MutantsException known ? known : new IllegalStateException(e.getCause());
        }
        return outcomes;
    }

    private static String cut(String detail) {
        return detail.length() > 160 ? detail.substring(0, 160) + " ..." : detail;
    }

    /** What each mutant loads again: the modules and their tests, every other module, and Avro, which caches classes by the names of their types. */
    private List<Path> classes() {
        Set<Path> path = new LinkedHashSet<>();
        for (String module : MODULES) {
            Path tests = root.resolve(module).resolve("target/test-classes");
            if (!Files.isDirectory(tests)) {
                throw new MutantsException("there is no " + tests + ": the tests are not built");
            }
            path.add(root.resolve(module).resolve("target/classes"));
            path.add(tests);
        }
        ownClassPath().filter(this::isLoadedAnew).forEach(path::add);
        return List.copyOf(path);
    }

    private List<Path> libraries() {
        return ownClassPath().filter(path -> !isLoadedAnew(path)).toList();
    }

    private boolean isLoadedAnew(Path path) {
        return (path.startsWith(root) && !path.startsWith(root.resolve("ops/mutants"))) || String.valueOf(path.getFileName()).startsWith("avro-");
    }

    private static Stream<Path> ownClassPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of);
    }
}
