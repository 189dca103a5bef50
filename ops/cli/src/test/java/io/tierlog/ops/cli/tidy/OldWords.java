/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import io.tierlog.ops.cli.tidy.Rule.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The words of {@code old-words.tsv}, which the project no longer uses. Searched are, in Java, comments, strings, and the names of types, methods and
 * fields; in other files the whole text. Flags of commands ({@code --a-flag}) do not count.
 */
final class OldWords {
    static final String RULE = "old word";

    private static final Pattern SEARCHED = Pattern.compile(".*\\.(java|avdl|proto|json|md|vm|sh|py|c|h|yaml|xml)|\\.ci/run|ops/tierlog");
    private static final Pattern FLAG = Pattern.compile("--[a-z][\\w-]*");
    private static final Pattern TYPE_NAME = Pattern.compile("\\b(?:class|interface|record|enum)\\s+([A-Z]\\w*)");
    /** A name before its parameters, after a type: a call has no type before it, or a keyword. */
    private static final Pattern METHOD_NAME =
            Pattern.compile("(?m)^ +(?:[a-z]+ )*?(?!return |throw |new |else )[\\w.]+[\\w.<>\\[\\], ?@]* ([a-z]\\w*)\\([^;\\n]*$");
    private static final Pattern FIELD_NAME =
            Pattern.compile("(?m)^ +(?:public|private|protected|static|final) [\\w.<>\\[\\], ?@]*? ?([a-z]\\w*)(?: =|;)");
    private static final Pattern WORD_END = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=A)(?=[A-Z])");
    /** Between two words: white space, also the line break of a comment. */
    private static final String GAP = "\\\\s+(?:\\\\*\\\\s+|//+\\\\s*)?";

    private static final List<Word> WORDS = load();

    private record Word(Pattern pattern, String better) {
        static Word of(String line) {
            int tab = line.indexOf('\t');
            String pattern = "(?i)(?<![\\w-])(?:" + line.substring(0, tab).replaceAll(" ", GAP) + ")(?![\\w-])";
            return new Word(Pattern.compile(pattern), line.substring(tab + 1));
        }
    }

    private OldWords() {}

    private static List<Word> load() {
        try (InputStream in = Objects.requireNonNull(OldWords.class.getResourceAsStream("/old-words.tsv"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(Word::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The lines of a file that break the rule. */
    static Stream<Finding> findings(SourceFile file) {
        if (!SEARCHED.matcher(file.path()).matches()) {
            return Stream.empty();
        }
        List<Finding> findings = new ArrayList<>();
        String text = file.isJava() ? file.proseAndNames(names(file)) : file.text();
        text = FLAG.matcher(text).replaceAll(flag -> " ".repeat(flag.group().length()));
        for (Word word : WORDS) {
            for (int line : new TreeSet<>(file.linesWith(word.pattern, text))) {
                findings.add(new Finding(RULE, file.path() + ":" + line, "write instead: " + word.better));
            }
        }
        return findings.stream();
    }

    private static List<Name> names(SourceFile file) {
        String code = file.code();
        List<Name> names = new ArrayList<>();
        collect(TYPE_NAME.matcher(code), names);
        collect(METHOD_NAME.matcher(code), names);
        collect(FIELD_NAME.matcher(code), names);
        return names;
    }

    private static void collect(Matcher declared, List<Name> names) {
        while (declared.find()) {
            names.add(new Name(declared.start(1), WORD_END.matcher(declared.group(1)).replaceAll(" ")));
        }
    }

    /** A name as separate words, and where it is declared. */
    record Name(int start, String words) {}
}
