/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A rule about single files: where it applies and which lines break it.
 *
 * @param name short, for the report
 * @param reason why, and what to do instead
 */
record Rule(String name, String reason, Predicate<SourceFile> scope, Function<SourceFile, List<Integer>> broken) {
    private static final Pattern CORE = Pattern.compile("(controller|node-agent)/core/src/main/.*\\.java");
    private static final Pattern MADE_BY_HAND = Pattern.compile(".*\\.(java|avdl|proto|sh|js|css|html)|\\.ci/run|ops/tierlog");
    private static final int MAX_COLUMNS = 150;
    private static final int MAX_LINES = 600;

    // Built from halves, so that this file does not break its own rules.
    private static final String UNFINISHED = "\\b(" + "TO" + "DO|FIX" + "ME|XX" + "X)\\b";
    private static final String MACHINE_PATH = "(?<![\\w.$})/~-])/(work|ro" + "ot|farm)/";

    static final List<Rule> ALL = List.of(
            code(
                    "clock in a core",
                    "time arrives as a record or through a port",
                    Rule::isCore,
                    "\\bInstant\\s*\\.\\s*now\\b|\\b(currentTimeMillis|nanoTime)\\s*\\("),
            code(
                    "chance in a core",
                    "ids and choices are functions of the log",
                    Rule::isCore,
                    "\\bnew\\s+Random\\b|\\bThreadLocalRandom\\b|\\bUUID\\s*\\.\\s*randomUUID\\b|\\bMath\\s*\\.\\s*random\\b"),
            code(
                    "unordered table in a core",
                    "its iteration order is not part of the log; use a sorted, linked or enum one",
                    Rule::isCore,
                    "\\b(HashMap|HashSet)\\b"),
            code(
                    "outside world in a core",
                    "Kafka and CUDA stay behind ports",
                    Rule::isCore,
                    "\\bimport\\s+(static\\s+)?(org\\.apache\\.kafka|jcuda)\\b"),
            text("unfinished work", "do it, or write an issue", file -> true, UNFINISHED),
            text("path of one machine", "it exists on no other machine", file -> true, MACHINE_PATH),
            code("test switched off", "make it pass or delete it", SourceFile::isJava, "@Disabled\\b"),
            code(
                    "sleep in a test",
                    "await the condition with a deadline",
                    file -> file.isJava() && file.path().contains("/src/test/"),
                    "\\bThread\\s*\\.\\s*sleep\\b"),
            code(
                    "swallowed exception",
                    "handle it, name it, or let it go",
                    SourceFile::isJava,
                    "\\bcatch\\s*\\(\\s*(final\\s+)?([\\w.|\\s]*\\b)?(Throwable|Exception)\\s+\\w+\\s*\\)\\s*\\{\\s*\\}"),
            code("wide gap", "one space between modifiers", SourceFile::isJava, "\\b(public|protected|private|static|final) {2,}"),
            new Rule("long line", "at most " + MAX_COLUMNS + " columns", Rule::isMadeByHand, Rule::longLines),
            new Rule("long file", "at most " + MAX_LINES + " lines", Rule::isMadeByHand, Rule::tooManyLines));

    /** The findings in a file, one a line. */
    Stream<Finding> findings(SourceFile file) {
        if (!scope.test(file)) {
            return Stream.empty();
        }
        return broken.apply(file).stream().map(line -> new Finding(name, file.path() + ":" + line, reason));
    }

    static Rule code(String name, String reason, Predicate<SourceFile> scope, String pattern) {
        Pattern compiled = Pattern.compile(pattern);
        return new Rule(name, reason, scope, file -> file.linesWith(compiled, file.code()));
    }

    private static Rule text(String name, String reason, Predicate<SourceFile> scope, String pattern) {
        Pattern compiled = Pattern.compile(pattern);
        return new Rule(name, reason, scope, file -> file.linesWith(compiled, file.text()));
    }

    private static boolean isCore(SourceFile file) {
        return CORE.matcher(file.path()).matches();
    }

    private static boolean isMadeByHand(SourceFile file) {
        return MADE_BY_HAND.matcher(file.path()).matches();
    }

    private static List<Integer> longLines(SourceFile file) {
        List<Integer> lines = new ArrayList<>();
        int number = 0;
        for (String line : file.text().lines().toList()) {
            number++;
            if (line.codePointCount(0, line.length()) > MAX_COLUMNS) {
                lines.add(number);
            }
        }
        return lines;
    }

    private static List<Integer> tooManyLines(SourceFile file) {
        long lines = file.text().lines().count();
        return lines > MAX_LINES ? List.of((int) lines) : List.of();
    }

    /** One place that breaks a rule. */
    record Finding(String rule, String where, String reason) {
        @Override
        public String toString() {
            return where + ": " + rule + " (" + reason + ")";
        }
    }
}
