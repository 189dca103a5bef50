/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The namespaces whose blocks a caller may see: those that match one of some patterns. In a pattern * stands for any text, as in the policy's groups.
 * Immutable.
 */
public final class Scope {
    /** All namespaces. */
    public static final Scope ALL = new Scope(List.of());

    private static final int MOST = 64;
    private static final int LONGEST = 1_024;

    private final List<Pattern> patterns;

    private Scope(List<Pattern> patterns) {
        this.patterns = patterns;
    }

    /**
     * Namespaces that match.
     *
     * @param patterns separated by commas
     * @throws IllegalArgumentException when there is no pattern, an empty one, or too many
     */
    static Scope of(String patterns) {
        List<String> each = List.of(patterns.split(",", -1)).stream().map(String::strip).toList();
        if (each.size() > MOST || each.stream().anyMatch(pattern -> pattern.isEmpty() || pattern.length() > LONGEST)) {
            throw new IllegalArgumentException("namespaces= takes 1 to " + MOST + " patterns, separated by commas, none of them empty");
        }
        return new Scope(each.stream().map(Scope::compiled).toList());
    }

    private static Pattern compiled(String pattern) {
        String expression = List.of(pattern.split("\\*", -1)).stream().map(Pattern::quote).collect(Collectors.joining(".*"));
        return Pattern.compile(expression, Pattern.DOTALL);
    }

    /** Whether it excludes any namespace. */
    public boolean isLimited() {
        return !patterns.isEmpty();
    }

    /** Whether the caller may see the namespace. */
    public boolean includes(String namespace) {
        return patterns.isEmpty() || patterns.stream().anyMatch(pattern -> pattern.matcher(namespace).matches());
    }
}
