/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import io.tierlog.ops.cli.tidy.Rule.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    private static final Pattern WORD_START = Pattern.compile("(?<![\\w-])[a-zA-Z]");

    /** By the letter that they begin with, in small. */
    private static final Map<Character, List<Word>> WORDS = load();

    private record Word(Pattern pattern, String better) {
        static Word of(String line) {
            int tab = line.indexOf('\t');
            String pattern = "(?i)(?:" + line.substring(0, tab).replaceAll(" ", GAP) + ")(?![\\w-])";
            return new Word(Pattern.compile(pattern), line.substring(tab + 1));
        }

        boolean canBeginWith(char letter) {
            Matcher beginning = pattern.matcher(String.valueOf(letter));
            return beginning.lookingAt() || beginning.hitEnd();
        }
    }

    private OldWords() {}

    private static Map<Character, List<Word>> load() {
        try (InputStream in = Objects.requireNonNull(OldWords.class.getResourceAsStream("/old-words.tsv"))) {
            List<Word> words = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(Word::of)
                    .toList();
            return IntStream.rangeClosed('a', 'z').mapToObj(letter -> (char) letter)
                    .collect(Collectors.toMap(letter -> letter, letter -> words.stream().filter(word -> word.canBeginWith(letter)).toList()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The lines of a file that break the rule. */
    static Stream<Finding> findings(SourceFile file) {
        if (!SEARCHED.matcher(file.path()).matches()) {
            return Stream.empty();
        }
        Map<Word, Set<Integer>> lines = new LinkedHashMap<>();
        String text = file.isJava() ? file.proseAndNames(names(file)) : file.text();
        text = FLAG.matcher(text).replaceAll(flag -> " ".repeat(flag.group().length()));
        Matcher start = WORD_START.matcher(text);
        while (start.find()) {
            for (Word word : WORDS.get(Character.toLowerCase(text.charAt(start.start())))) {
                if (word.pattern.matcher(text).region(start.start(), text.length()).lookingAt()) {
                    lines.computeIfAbsent(word, _ -> new TreeSet<>()).add(SourceFile.lineOf(text, start.start()));
                }
            }
        }
        return lines.entrySet().stream().flatMap(found -> found.getValue().stream()
                .map(line -> new Finding(RULE, file.path() + ":" + line, "write instead: " + found.getKey().better())));
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
