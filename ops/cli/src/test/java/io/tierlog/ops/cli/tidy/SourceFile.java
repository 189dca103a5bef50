/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One text file of the source tree. Immutable.
 *
 * @param path relative to the root, with slashes
 * @param text the whole content
 */
record SourceFile(String path, String text) {
    /** In this order, so that a quote in a comment and a comment sign in a string mean nothing. */
    private static final Pattern NOT_CODE = Pattern.compile(
            "\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\\n])++'|/\\*[\\s\\S]*?\\*/|//[^\\n]*+");

    boolean isJava() {
        return path.endsWith(".java");
    }

    String fileName() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** The text of a Java file with comments and strings blanked out; lines keep their numbers. */
    String code() {
        return NOT_CODE.matcher(text).replaceAll(found -> found.group().replaceAll("[^\\n]", " "));
    }

    List<Integer> linesWith(Pattern pattern, String within) {
        List<Integer> lines = new ArrayList<>();
        Matcher matcher = pattern.matcher(within);
        while (matcher.find()) {
            lines.add(1 + (int) within.substring(0, matcher.start()).chars().filter(c -> c == '\n').count());
        }
        return lines;
    }
}
