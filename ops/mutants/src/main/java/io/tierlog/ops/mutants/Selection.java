/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import io.tierlog.ops.mutants.Mutant.Killer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** Which mutants a short run takes: those that a change may have to do with, then a share of the others that rotates. Static and without state. */
final class Selection {
    private Selection() {}

    /**
     * One share of several.
     *
     * @param turn chooses the share and may be any number from 0 on, for example the number of commits
     * @param shares how many there are, 1 or more; together they are all mutants
     */
    record Share(long turn, int shares) {
        /** Reads {@code TURN/SHARES}. */
        static Share of(String text) {
            String[] parts = text.split("/", 2);
            try {
                Share share = new Share(Long.parseLong(parts[0]), parts.length == 2 ? Integer.parseInt(parts[1]) : 0);
                if (share.turn >= 0 && share.shares >= 1) {
                    return share;
                }
            } catch (NumberFormatException e) {
                // The same refusal as for numbers that are too small.
            }
            throw new MutantsException("'" + text + "' is no share: it must be TURN/SHARES, for example 7/4");
        }
    }

    /**
     * Changed ones first, so that a limit of time ends the run among the others. A mutant has changed when its source file, its scenario or the
     * file of one of its killing tests has. Both lists begin at another place each turn: what a limit of time leaves out differs.
     *
     * @param changed changed files from the root, with / between their parts
     */
    static List<Mutant> of(List<Mutant> all, Set<String> changed, Share share) {
        List<Mutant> first = new ArrayList<>();
        List<Mutant> others = new ArrayList<>();
        int turn = (int) (share.turn() % share.shares());
        for (int i = 0; i < all.size(); i++) {
            if (hasChanged(all.get(i), changed)) {
                first.add(all.get(i));
            } else if (i % share.shares() == turn) {
                others.add(all.get(i));
            }
        }
        Collections.rotate(first, -begin(first, share));
        Collections.rotate(others, -begin(others, share));
        first.addAll(others);
        return List.copyOf(first);
    }

    /** A seventh of the list further each turn. */
    private static int begin(List<Mutant> mutants, Share share) {
        return (int) (share.turn() % 7 * mutants.size() / 7);
    }

    static boolean hasChanged(Mutant mutant, Set<String> changed) {
        return changed.contains(mutant.file()) || switch (mutant.killer()) {
            case Killer.Tests(List<String> methods) -> methods.stream().map(Selection::source)
                    .anyMatch(source -> changed.stream().anyMatch(file -> file.endsWith(source)));
            case Killer.Simulate _ -> false;
            case Killer.Scenario(String file) -> changed.contains(file);
        };
    }

    private static String source(String method) {
        return "/" + method.substring(0, method.indexOf('#')).replaceAll("[$].*", "").replace('.', '/') + ".java";
    }
}
