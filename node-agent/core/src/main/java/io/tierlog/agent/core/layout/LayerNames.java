/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

import java.util.Comparator;

/**
 * The order of layers by their names: runs of digits count as numbers, so that layer 10 comes after layer 2. Static and without state.
 *
 * <p>Names that differ in leading zeros alone are ordered by text, so the order is total and two names are equal only when they are the same.
 */
public final class LayerNames {
    /** The order. */
    public static final Comparator<String> ORDER = LayerNames::compare;

    private LayerNames() {}

    private static int compare(String a, String b) {
        int i = 0;
        int j = 0;
        while (i < a.length() && j < b.length()) {
            if (digit(a, i) && digit(b, j)) {
                int endA = endOfDigits(a, i);
                int endB = endOfDigits(b, j);
                int order = number(a, i, endA).compareTo(number(b, j, endB));
                if (order != 0) {
                    return order;
                }
                i = endA;
                j = endB;
            } else if (a.charAt(i) != b.charAt(j)) {
                return Character.compare(a.charAt(i), b.charAt(j));
            } else {
                i++;
                j++;
            }
        }
        int rest = Integer.compare(a.length() - i, b.length() - j);
        return rest != 0 ? rest : a.compareTo(b);
    }

    private static boolean digit(String text, int at) {
        return text.charAt(at) >= '0' && text.charAt(at) <= '9';
    }

    private static int endOfDigits(String text, int from) {
        int end = from;
        while (end < text.length() && digit(text, end)) {
            end++;
        }
        return end;
    }

    private static java.math.BigInteger number(String text, int from, int to) {
        return new java.math.BigInteger(text.substring(from, to));
    }
}
