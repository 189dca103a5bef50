/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One text file of the source tree. Immutable.
 *
 * @param path relative to the root, with slashes
 * @param text the whole content
 * @param code of a Java file, with comments and strings blanked out; lines keep their numbers. Of another file its text
 */
record SourceFile(String path, String text, String code) {
    /** In this order, so that a quote in a comment and a comment sign in a string mean nothing. */
    private static final Pattern NOT_CODE = Pattern.compile(
            "\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\\n])++'|/\\*[\\s\\S]*?\\*/|//[^\\n]*+");

    SourceFile(String path, String text) {
        this(path, text, path.endsWith(".java") ? NOT_CODE.matcher(text).replaceAll(found -> blank(found.group())) : text);
    }

    boolean isJava() {
        return path.endsWith(".java");
    }

    String fileName() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** The comments and strings of a Java file, code blanked out, with {@code names} as separate words in their lines; lines keep their numbers. */
    String proseAndNames(List<OldWords.Name> names) {
        StringBuilder prose = new StringBuilder();
        int at = 0;
        Matcher found = NOT_CODE.matcher(text);
        while (found.find()) {
            prose.append(blank(text.substring(at, found.start()))).append(found.group());
            at = found.end();
        }
        prose.append(blank(text.substring(at)));
        // From the end, so that the places of the names before stay what they are.
        names.stream()
                .sorted(Comparator.comparingInt(OldWords.Name::start).reversed())
                .forEach(name -> prose.insert(name.start(), " " + name.words() + " "));
        return prose.toString();
    }

    private static String blank(String code) {
        char[] blank = code.toCharArray();
        for (int i = 0; i < blank.length; i++) {
            blank[i] = blank[i] == '\n' ? '\n' : ' ';
        }
        return new String(blank);
    }

    List<Integer> linesWith(Pattern pattern, String within) {
        List<Integer> lines = new ArrayList<>();
        Matcher matcher = pattern.matcher(within);
        while (matcher.find()) {
            lines.add(lineOf(within, matcher.start()));
        }
        return lines;
    }

    /** The number of the line with that place, the first is 1. */
    static int lineOf(String text, int place) {
        return 1 + (int) text.substring(0, place).chars().filter(c -> c == '\n').count();
    }
}
