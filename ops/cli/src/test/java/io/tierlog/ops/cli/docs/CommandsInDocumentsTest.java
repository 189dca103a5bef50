/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.cli.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * No command stands in a document without a test.
 *
 * <p>Every code block names its language, and commands stand in blocks of {@code sh} alone. A command of {@code ops/tierlog} goes through the
 * real command tree: its options are parsed, and the few that need neither a cluster nor minutes are run here ({@link #RUN_HERE}). What the
 * others do is shown by the tests of those commands. Everything else needs an entry below, which names the test that runs it, or what is
 * checked of it. Trade-off: a command that runs for minutes is only parsed.
 */
class CommandsInDocumentsTest {
    private static final Set<String> LANGUAGES = Set.of("sh", "text", "json", "yaml", "java");
    private static final Pattern COMMAND = Pattern.compile("(ops/|mvn |curl |/usr/bin/|apt-get |\\$ ).*");

    /** Cheap, and without side effects. */
    private static final Set<String> RUN_HERE = Set.of(
            "ops/tierlog policy check ops/examples/policy-tiered.yaml",
            "ops/tierlog whatif --workload scans --one-tier 5% --policies lru,default,turns,optimum",
            "ops/tierlog scenario run ops/examples/case.jsonl",
            "ops/tierlog scenario defaults");

    /** The tests that run all curl lines of a document, and compare the status with the one behind the line. */
    private static final Map<String, String> CURL_TESTS = Map.of(
            "docs/operate.md", "controller/streams/src/test/java/io/tierlog/controller/streams/OperateDocumentTest.java",
            "docs/migrate.md", "controller/streams/src/test/java/io/tierlog/controller/streams/OperateDocumentTest.java",
            "docs/directory.md", "controller/directory/src/test/java/io/tierlog/controller/directory/DirectoryDocumentTest.java");

    private static final String VLLM_TEST = "ops/cli/src/test/java/io/tierlog/ops/cli/VllmConnectorTest.java";
    private static final String ENGINE_TEST = "ops/cli/src/test/java/io/tierlog/ops/cli/EngineExampleTest.java";

    @Test
    void everyCodeBlockNamesItsLanguageAndCommandsStandInShellBlocks() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Document document : Document.all()) {
            for (Document.Block block : document.blocks()) {
                if (!LANGUAGES.contains(block.language())) {
                    wrong.add(document.path() + ": a block of '" + block.language() + "': " + block.lines().getFirst());
                }
                if (!block.language().equals("sh")) {
                    block.lines().stream().filter(line -> COMMAND.matcher(line).matches()).forEach(line -> wrong.add(document.path() + ": " + line));
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void everyCommandIsCovered() throws IOException {
        List<String> findings = new ArrayList<>();
        int commands = 0;
        for (Document document : Document.all()) {
            List<String> all = new ArrayList<>();
            document.blocks().stream().filter(block -> block.language().equals("sh")).forEach(block -> all.addAll(block.commands()));
            document.spans().stream().filter(span -> COMMAND.matcher(span).matches() && span.contains(" ")).forEach(all::add);
            for (String command : all) {
                finding(document.path(), command).ifPresent(finding -> findings.add(document.path() + ": " + command + ": " + finding));
            }
            commands += all.size();
        }
        assertEquals(List.of(), findings);
        assertTrue(commands > 60, commands + " commands");
    }

    /** Flags that the prose names exist. */
    @Test
    void everyFlagExists() throws IOException {
        Set<String> flags = new TreeSet<>();
        collectFlags(new CommandLine(new Main()), flags);
        List<String> unknown = new ArrayList<>();
        for (Document document : Document.all()) {
            document.spans().stream()
                    .filter(span -> span.startsWith("--"))
                    .map(span -> span.split("[ =]", 2)[0])
                    .filter(flag -> !flags.contains(flag))
                    .forEach(flag -> unknown.add(document.path() + ": " + flag));
        }
        assertEquals(List.of(), unknown);
    }

    private static void collectFlags(CommandLine line, Set<String> flags) {
        for (OptionSpec option : line.getCommandSpec().options()) {
            for (String name : option.names()) {
                flags.add(name);
                if (option.negatable()) {
                    flags.add(name.startsWith("--no-") ? "--" + name.substring(5) : "--no-" + name.substring(2));
                }
            }
        }
        line.getSubcommands().values().forEach(child -> collectFlags(child, flags));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "ops/tierlog demo --request 500", "ops/tierlog agnt", "ops/tierlog agent --host 64GiB", "ops/no-such-script", "ops/bench-core --quik",
        "mvn -pl node-agent/cude verify", "mvn -Pgpux verify", "curl -s $API/v1/nodes # 200: nodes", "rm -rf build"
    })
    void aCommandThatDoesNotHoldIsFound(String command) throws IOException {
        assertTrue(finding("README.md", command).isPresent());
    }

    /** What is wrong with a command; empty when a test covers it. */
    private static Optional<String> finding(String document, String line) throws IOException {
        String command = line.replaceFirst("\\s+#\\s.*$", "").replaceFirst("\\s+>\\s+\\S+$", "")
                .replaceFirst("^eval \"\\$\\((.+)\\)\"$", "$1").strip();
        if (command.matches("[A-Z_]+=.*")) {
            return Optional.empty();
        }
        if (command.startsWith("curl ")) {
            String test = CURL_TESTS.get(document);
            return test == null ? Optional.of("no test runs the curl lines of this document") : exists(test);
        }
        if (command.startsWith("/usr/bin/python3 ops/examples/engine.py")) {
            return exists(ENGINE_TEST);
        }
        if (command.equals("node-agent/vllm/build-wheel")) {
            return exists(VLLM_TEST);
        }
        if (command.startsWith("apt-get install ")) {
            String example = Files.readString(Document.ROOT.resolve("ops/examples/engine.py"));
            return Stream.of(command.substring(16).split(" ", -1)).filter(name -> !example.contains(name)).findFirst();
        }
        if (command.startsWith("ops/tierlog")) {
            return tierlog(command);
        }
        if (command.startsWith("ops/")) {
            return script(command);
        }
        return command.startsWith("mvn ") ? maven(command) : Optional.of("no test covers it");
    }

    private static Optional<String> exists(String file) {
        return Files.exists(Document.ROOT.resolve(file)) ? Optional.empty() : Optional.of("there is no " + file);
    }

    private static Optional<String> tierlog(String command) {
        String[] words = words(command).skip(1).toArray(String[]::new);
        CommandLine line = new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true);
        if (RUN_HERE.contains(command)) {
            StringWriter said = new StringWriter();
            line.setOut(new PrintWriter(said)).setErr(new PrintWriter(said));
            String[] absolute = Stream.of(words).map(word -> word.startsWith("ops/") ? Document.ROOT.resolve(word).toString() : word)
                    .toArray(String[]::new);
            return line.execute(absolute) == 0 ? Optional.empty() : Optional.of(said.toString());
        }
        try {
            line.parseArgs(words);
            return Optional.empty();
        } catch (ParameterException misuse) {
            return Optional.of(String.valueOf(misuse.getMessage()));
        }
    }

    /** The words of a command line; double and single quotes hold one together. */
    private static Stream<String> words(String command) {
        return Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)").matcher(command).results()
                .map(word -> word.group(1) != null ? word.group(1) : word.group(2) != null ? word.group(2) : word.group(3));
    }

    /** A script is there, may be run, and knows the flags. */
    private static Optional<String> script(String command) throws IOException {
        List<String> words = words(command).toList();
        Path file = Document.ROOT.resolve(words.getFirst());
        if (!Files.isExecutable(file) || Files.isDirectory(file)) {
            return Optional.of("there is no such script");
        }
        String text = Files.readString(file);
        return words.stream()
                .filter(word -> word.startsWith("--"))
                .map(word -> word.split("=", 2)[0])
                .filter(flag -> !text.contains(flag))
                .map(flag -> "it has no " + flag)
                .findFirst();
    }

    /** CI runs {@code mvn verify}; of the others, modules and profiles exist. */
    private static Optional<String> maven(String command) throws IOException {
        List<String> words = words(command).toList();
        for (int i = 1; i < words.size(); i++) {
            String word = words.get(i);
            if (words.get(i - 1).equals("-pl")) {
                for (String module : word.split(",", -1)) {
                    if (!Files.exists(Document.ROOT.resolve(module).resolve("pom.xml"))) {
                        return Optional.of("there is no module " + module);
                    }
                }
            } else if (word.startsWith("-P") && !hasProfile(word.substring(2))) {
                return Optional.of("there is no profile " + word.substring(2));
            }
        }
        return Optional.empty();
    }

    private static boolean hasProfile(String profile) throws IOException {
        try (Stream<Path> poms = Files.find(Document.ROOT, 3, (file, attributes) -> file.endsWith("pom.xml"))) {
            for (Path pom : poms.toList()) {
                if (Files.readString(pom).contains("<id>" + profile + "</id>")) {
                    return true;
                }
            }
        }
        return false;
    }
}
