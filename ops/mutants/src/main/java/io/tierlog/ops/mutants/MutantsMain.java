/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import io.tierlog.ops.mutants.MutationRunner.Outcome;
import io.tierlog.ops.mutants.MutationRunner.Setup;
import io.tierlog.ops.mutants.MutationRunner.Verdict;
import io.tierlog.ops.mutants.Selection.Share;
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
            Usage: ops/mutants/run [--list] [--changed=COMMIT] [--share=TURN/SHARES] [--minutes=N]
                                   [--take=N] [--seed=S] [--jobs=N] [--seconds=N] [NAME...]
            Takes out one guard after the other, and fails when no test notices.
              --list       say what there is, and run nothing
              --changed=COMMIT
                           run those whose source or killing test changed since this branch
                           left COMMIT (default: all)
              --share=TURN/SHARES
                           run one of so many equal shares; with --changed those too. TURN
                           may be any number: 9/4 is the share 1/4 (default: all)
              --minutes=N  begin no further mutant so long after all killing tests have passed
                           without one; the rest is not run, and counted (default: no limit)
              --take=N     run N of them, chosen by the seed (default: all)
              --seed=S     another seed chooses others (default: 0)
              --jobs=N     so many at a time (default: 2)
              --seconds=N  longest time for one, if it does not take a third of that
                           without a mutant; tests that take longer have noticed (default: 60)
              NAME         run those of these names, or whose names begin so
            """;

    /** What is mutated: the cores, and what keeps a few of their promises below them. */
    static final List<String> MODULES = List.of(
            "events/threads", "controller/core", "controller/http", "controller/directory", "node-agent/core", "node-agent/app", "node-agent/bridge",
            "events", "ops/audit");

    private static final int MAX_MINUTES = 100_000;

    private final Path root;
    private final PrintStream out;
    private final List<String> names = new ArrayList<>();
    private boolean list;
    private int take = Integer.MAX_VALUE;
    private long seed;
    private int jobs = 2;
    private int seconds = 60;
    private Optional<String> changed = Optional.empty();
    private Optional<Share> share = Optional.empty();
    private int minutes = Integer.MAX_VALUE;

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
        if (mutants.isEmpty()) {
            out.println("0 mutants: nothing that a mutant changes, and no test that kills one, has changed");
            return 0;
        }
        long beganNs = System.nanoTime();
        List<Outcome> outcomes;
        try (MutationRunner runner = new MutationRunner(new Setup(root, classes(), libraries(), Duration.ofSeconds(seconds)));
                ExecutorService workers = Executors.newFixedThreadPool(jobs)) {
            Optional<String> wrong = runner.control(mutants, workers);
            if (wrong.isPresent()) {
                throw new MutantsException("the killing tests fail without a mutant, so their failures prove nothing: " + wrong.get());
            }
            outcomes = examine(runner, mutants, System.nanoTime() + Duration.ofMinutes(Math.min(minutes, MAX_MINUTES)).toNanos(), workers);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof MutantsException known ? known : new IllegalStateException(e.getCause());
        }
        long survived = outcomes.stream().filter(one -> one.verdict() == Verdict.SURVIVED).count();
        long stale = outcomes.stream().filter(one -> one.verdict() == Verdict.STALE).count();
        int left = mutants.size() - outcomes.size();
        out.printf("%d mutants: %d killed, %d SURVIVED, %d stale%s; %d s%n", mutants.size(), outcomes.size() - survived - stale, survived, stale,
                left == 0 ? "" : ", " + left + " not run because --minutes=" + minutes + " are over",
                Duration.ofNanos(System.nanoTime() - beganNs).toSeconds());
        return survived + stale == 0 ? 0 : 1;
    }

    private void option(String argument) {
        try {
            if (argument.equals("--list")) {
                list = true;
            } else if (argument.startsWith("--take=")) {
                take = Integer.parseInt(value(argument));
            } else if (argument.startsWith("--changed=")) {
                changed = Optional.of(value(argument));
            } else if (argument.startsWith("--share=")) {
                share = Optional.of(Share.of(value(argument)));
            } else if (argument.startsWith("--minutes=")) {
                minutes = Integer.parseInt(value(argument));
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
        if (take < 1 || jobs < 1 || seconds < 1 || minutes < 1) {
            throw new MutantsException(argument + " must be 1 or more");
        }
    }

    private static String value(String argument) {
        return argument.substring(argument.indexOf('=') + 1);
    }

    private List<Mutant> chosen(List<Mutant> all) throws InterruptedException {
        List<Mutant> chosen = new ArrayList<>(all);
        if (!names.isEmpty()) {
            for (String name : names) {
                if (all.stream().noneMatch(mutant -> mutant.name().startsWith(name))) {
                    throw new MutantsException("there is no mutant " + name + "; --list says what there is");
                }
            }
            chosen.removeIf(mutant -> names.stream().noneMatch(name -> mutant.name().startsWith(name)));
        }
        if (changed.isPresent()) {
            Set<String> files = ChangedFiles.since(root, changed.get());
            chosen = share.isPresent()
                    ? Selection.of(chosen, files, share.get())
                    : chosen.stream().filter(mutant -> Selection.hasChanged(mutant, files)).toList();
        } else if (share.isPresent()) {
            chosen = Selection.of(chosen, Set.of(), share.get());
        }
        if (take < chosen.size()) {
            chosen = new ArrayList<>(chosen);
            Collections.shuffle(chosen, new Random(seed));
            chosen = chosen.subList(0, take);
        }
        return List.copyOf(chosen);
    }

    /** All in their order, without those that were not begun before {@code untilNs}. */
    private List<Outcome> examine(MutationRunner runner, List<Mutant> mutants, long untilNs, ExecutorService workers)
            throws InterruptedException, ExecutionException {
        List<Outcome> outcomes = new ArrayList<>();
        List<Future<Optional<Outcome>>> running = mutants.stream()
                .map(mutant -> workers.submit(() ->
                        System.nanoTime() - untilNs < 0 ? Optional.of(runner.examine(mutant)) : Optional.<Outcome>empty()))
                .toList();
        for (Future<Optional<Outcome>> one : running) {
            if (one.get().isEmpty()) {
                continue;
            }
            Outcome outcome = one.get().get();
            outcomes.add(outcome);
            out.printf("%-8s %-50s %-8s %5.1f s  %s%n",
                    outcome.verdict() == Verdict.SURVIVED ? "SURVIVED" : outcome.verdict().name().toLowerCase(Locale.ROOT),
                    outcome.mutant().name(), outcome.mutant().guards(), outcome.took().toMillis() / 1_000.0, cut(outcome.detail()));
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
        ownClassPath().filter(this::isReloaded).forEach(path::add);
        return List.copyOf(path);
    }

    private List<Path> libraries() {
        return ownClassPath().filter(path -> !isReloaded(path)).toList();
    }

    private boolean isReloaded(Path path) {
        return (path.startsWith(root) && !path.startsWith(root.resolve("ops/mutants"))) || String.valueOf(path.getFileName()).startsWith("avro-");
    }

    private static Stream<Path> ownClassPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of);
    }
}
