/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import io.tierlog.ops.cli.command.CliError;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Names that flags take, and the nearest one to a name that does not exist. Static and without state. */
final class Names {
    private static final String ALL = "all";

    private Names() {}

    /** The names of {@code known} that stand for {@code texts}, each once; {@code all} stands for all. */
    static List<String> several(String flag, List<String> texts, List<String> known) {
        List<String> names = new ArrayList<>();
        for (String text : texts) {
            names.addAll(text.equals(ALL) ? known : List.of(one(flag, text, known)));
        }
        return names.stream().distinct().toList();
    }

    /** The name of {@code known} that is {@code text}. */
    static String one(String flag, String text, List<String> known) {
        if (known.contains(text)) {
            return text;
        }
        String near = known.stream().min(Comparator.comparingInt(name -> distance(name, text))).orElseThrow();
        boolean isNear = distance(near, text) <= Math.max(2, text.length() / 2);
        throw new CliError(
                flag + ": there is no '" + text + "'",
                (isNear ? "did you mean '" + near + "'? " : "") + "It takes " + String.join(", ", known),
                CliError.BAD_INPUT);
    }

    /** Letters to insert, remove or replace (Levenshtein). */
    private static int distance(String a, String b) {
        int[] before = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            before[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] now = new int[b.length() + 1];
            now[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = before[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                now[j] = Math.min(replaced, 1 + Math.min(before[j], now[j - 1]));
            }
            before = now;
        }
        return before[b.length()];
    }
}
