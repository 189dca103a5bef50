/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.cli.tidy.Rule.Finding;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The source tree keeps the project's rules, and each rule is shown to fire. */
class TidyTest {
    private static final String CORE = "controller/core/src/main/java/io/tierlog/A.java";
    private static final String AGENT_CORE = "node-agent/core/src/main/java/io/tierlog/A.java";
    private static final String APP = "node-agent/app/src/main/java/io/tierlog/A.java";
    private static final String TEST = "events/src/test/java/io/tierlog/ATest.java";

    @Test
    void theSourceTreeIsTidy() throws Exception {
        SourceTree tree = SourceTree.read(Path.of(System.getProperty("tierlog.root")));

        assertTrue(tree.files().stream().anyMatch(file -> file.path().equals("ops/cli/pom.xml")), "this is not the root");
        List<Finding> findings = tree.findings();
        assertTrue(findings.isEmpty(), () -> findings.stream().map(Finding::toString).collect(Collectors.joining("\n", "\n", "")));
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource
    void aRuleFires(String rule, String path, String line) {
        SourceFile bad = new SourceFile(path, "package x;\n" + line + "\n");

        assertEquals(List.of(rule + " " + path + ":2"), findings(bad));
    }

    static Stream<Arguments> aRuleFires() {
        return Stream.of(
                Arguments.of("clock in a core", CORE, "long now = System.currentTimeMillis();"),
                Arguments.of("clock in a core", AGENT_CORE, "long now = System.nanoTime();"),
                Arguments.of("clock in a core", CORE, "var now = Instant.now();"),
                Arguments.of("clock in a core", CORE, "import static java.lang.System.nanoTime; class A { long a = nanoTime(); }"),
                Arguments.of("chance in a core", CORE, "var random = new Random(7);"),
                Arguments.of("chance in a core", AGENT_CORE, "int a = ThreadLocalRandom.current().nextInt();"),
                Arguments.of("chance in a core", CORE, "var id = UUID.randomUUID();"),
                Arguments.of("chance in a core", CORE, "double a = Math.random();"),
                Arguments.of("unordered table in a core", CORE, "Map<A, B> map = new HashMap<>();"),
                Arguments.of("unordered table in a core", AGENT_CORE, "Set<A> set = new java.util.HashSet<>();"),
                Arguments.of("outside world in a core", CORE, "import org.apache.kafka.common.Uuid;"),
                Arguments.of("outside world in a core", AGENT_CORE, "import static jcuda.driver.JCudaDriver.cuInit;"),
                Arguments.of("unfinished work", APP, "// TO" + "DO later"),
                Arguments.of("unfinished work", "README.md", "FIX" + "ME"),
                Arguments.of("unfinished work", "pom.xml", "<!-- XX" + "X -->"),
                Arguments.of("path of one machine", "README.md", "see /wo" + "rk/notes"),
                Arguments.of("path of one machine", APP, "Path.of(\"/ro" + "ot/.m2\")"),
                Arguments.of("path of one machine", "pom.xml", "<dir>/fa" + "rm/x</dir>"),
                Arguments.of("test switched off", TEST, "@Disabled(\"flaky\")"),
                Arguments.of("sleep in a test", TEST, "Thread.sleep(100);"),
                Arguments.of("swallowed exception", APP, "try { a(); } catch (Exception e) { }"),
                Arguments.of("swallowed exception", APP, "try { a(); } catch (final Throwable _) { /* never mind */ }"),
                Arguments.of("swallowed exception", APP, "try { a(); } catch (A | java.lang.Exception e) {}"),
                Arguments.of("wide gap", CORE, "    public     long level() {"),
                Arguments.of("long line", APP, "/" + "/".repeat(150)),
                Arguments.of("long line", "ops/tierlog", "#" + " a".repeat(75)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    void whatIsFineIsLeftAlone(String path, String line) {
        assertEquals(List.of(), findings(new SourceFile(path, "package x;\n" + line + "\n")));
    }

    static Stream<Arguments> whatIsFineIsLeftAlone() {
        return Stream.of(
                Arguments.of(APP, "long now = System.currentTimeMillis(); var random = new Random(7);"),
                Arguments.of(APP, "Map<A, B> map = new HashMap<>(); // may use a HashMap"),
                Arguments.of(CORE, "Map<A, B> map = new LinkedHashMap<>(); // no HashMap, no System.nanoTime()"),
                Arguments.of(CORE, "String a = \"Instant.now() and \\\" new Random(7)\"; char quote = '\"'; /* HashSet */"),
                Arguments.of(CORE, "/** \"unbalanced */ String text = \"/*\"; // */"),
                Arguments.of(CORE, "long tickMs(Tick tick) { return tick.nowMs(); }"),
                Arguments.of("README.md", "https://example.org/work/a and ops/work/b and $HOME/work/c and ~/work/d"),
                Arguments.of("README.md", "a".repeat(500)),
                Arguments.of(APP, "Thread.sleep(100);"),
                Arguments.of(TEST, "try { a(); } catch (Exception e) { fail(e); }"),
                Arguments.of(APP, "/".repeat(150)));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "Thread.ofPlatform().daemon().start(this::run);", "Thread.ofVirtual().start(this::run);", "Thread.startVirtualThread(this::run);",
        "new Thread(this::run, \"a\");", "class A extends Thread {}", "a = Executors.newVirtualThreadPerTaskExecutor();",
        "a = Executors.newFixedThreadPool(2, factory);", "a = new ScheduledThreadPoolExecutor(1);", "a = new ThreadPoolExecutor(1, 1, 0, S, q);"
    })
    void aPlainThreadInAServiceIsFound(String line) {
        String found = "plain thread in a service " + APP + ":2";
        assertEquals(List.of(found), threads(APP, line));
        assertEquals(List.of(), threads(TEST, line));
        assertEquals(List.of(), threads("ops/bench/src/main/java/io/tierlog/A.java", line));
        assertEquals(List.of(), threads("node-agent/app/src/main/java/io/tierlog/agent/app/loop/AgentLoop.java", line));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "thread = Supervised.start(name, this::run);", "a = Executors.newFixedThreadPool(2,\n Supervised.pool(name));",
        "a = new ThreadPoolExecutor(1, 1, 0, S, q, Supervised.pool(name));", "Thread.sleep(1);", "Thread.currentThread().interrupt();"
    })
    void aSupervisedThreadIsFine(String line) {
        assertEquals(List.of(), threads(APP, line));
    }

    private static List<String> threads(String path, String line) {
        return PlainThreads.RULE.findings(new SourceFile(path, "package x;\n" + line + "\n")).map(one -> one.rule() + " " + one.where()).toList();
    }

    /** An entry of the list without a plain thread would hide the next one. */
    @Test
    void whatIsListedStartsAPlainThread() throws Exception {
        List<SourceFile> files = SourceTree.read(Path.of(System.getProperty("tierlog.root"))).files();
        Set<String> starting = files.stream().filter(PlainThreads::startsOne).map(SourceFile::path).collect(Collectors.toSet());
        assertEquals(Set.of(), PlainThreads.MAY.keySet().stream().filter(path -> !starting.contains(path)).collect(Collectors.toSet()));
    }

    @Test
    void aFileThatIsTooLongIsFoundAndOneThatIsNotIsNot() {
        assertEquals(List.of(), findings(new SourceFile(APP, "int a;\n".repeat(600))));
        assertEquals(List.of("long file " + APP + ":601"), findings(new SourceFile(APP, "int a;\n".repeat(601))));
    }

    @Test
    void aPackageWithoutDescriptionIsFound() {
        String test = "events/src/test/java/io/tierlog/a";
        String main = "events/src/main/java/io/tierlog/a";

        assertEquals(List.of("no package-info " + main), packages(main + "/A.java"));
        assertEquals(List.of("no package-info " + test), packages(test + "/ATest.java"));
        assertEquals(List.of(), packages(main + "/A.java", main + "/package-info.java", test + "/ATest.java"));
        assertEquals(List.of(), packages(test + "/ATest.java", test + "/package-info.java"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    void anOldWordIsFound(String path, String line, String better) {
        List<Finding> findings = OldWords.findings(new SourceFile(path, "package x;\n" + line + "\n")).toList();

        assertEquals(List.of("old word " + path + ":2 write instead: " + better),
                findings.stream().map(finding -> finding.rule() + " " + finding.where() + " " + finding.reason()).toList());
    }

    static Stream<Arguments> anOldWordIsFound() {
        String subject = "say the subject: no request, no caller, no other node";
        String reports = "reports, returns, records; sends, receives";
        return Stream.of(
                Arguments.of(APP, "// No" + "body waits for it", subject),
                Arguments.of(APP, "String a = \"no" + "body waits\";", subject),
                Arguments.of(TEST, "    void no" + "bodyWaits() {}", subject),
                Arguments.of(APP, "    private static List<String> no" + "bodyWaits(int most) {", subject),
                Arguments.of(APP, "    private final Map<String, Long> no" + "body = new TreeMap<>();", subject),
                Arguments.of("README.md", "What no" + "body needs", subject),
                Arguments.of("schemas/src/main/avro/a.avdl", "/** No" + "body. */", subject),
                Arguments.of("schemas/a.proto", "// what is sa" + "id", reports),
                Arguments.of("a/b.json", "\"description\": \"It is to" + "ld.\"", reports),
                Arguments.of(APP, "/** What was sa" + "id. */", reports),
                Arguments.of(APP, "final class Engine" + "Do" + "or {}", "API, endpoint, server, service"),
                Arguments.of(APP, "/** of this li" + "fe. */", "incarnation (a number), epoch of a node"));
    }

    /** Two words may stand on two lines of a comment; the finding names the first. */
    @Test
    void anOldPhraseIsFoundAcrossLines() {
        SourceFile file = new SourceFile(APP, "/**\n * What is\n * to" + "ld to it.\n */\n");

        assertEquals(List.of(APP + ":2"), OldWords.findings(file).map(Finding::where).toList());
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    void otherWordsAreLeftAlone(String path, String line) {
        assertEquals(List.of(), OldWords.findings(new SourceFile(path, line)).toList());
    }

    static Stream<Arguments> otherWordsAreLeftAlone() {
        return Stream.of(
                Arguments.of(APP, "no" + "body.call(); // an identifier is not prose"),
                Arguments.of(APP, "void no" + "bodyWaits() {} // only names of types and tests are read"),
                Arguments.of(APP, "// the indo" + "ors lifecycle, a lifetime"),
                Arguments.of("README.md", "--do" + "or-socket PATH is a flag"),
                Arguments.of("a/scenario.jsonl", "no" + "body"));
    }

    private static List<String> packages(String... paths) {
        SourceTree tree = new SourceTree(Arrays.stream(paths).map(path -> new SourceFile(path, "")).toList());
        return tree.findings().stream().map(finding -> finding.rule() + " " + finding.where()).toList();
    }

    private static List<String> findings(SourceFile file) {
        return Rule.ALL.stream()
                .flatMap(rule -> rule.findings(file))
                .map(finding -> finding.rule() + " " + finding.where())
                .distinct()
                .toList();
    }
}
