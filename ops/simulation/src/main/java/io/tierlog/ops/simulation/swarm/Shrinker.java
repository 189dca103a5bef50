/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Makes a record of choices smaller while the same thing still goes wrong: takes whole steps out, many at a time first, then lowers the numbers that
 * are left. Deterministic but for the time it is given. For one thread.
 */
final class Shrinker {
    private final Predicate<List<int[]>> fails;
    private final BooleanSupplier timeIsUp;
    private List<int[]> best;

    /**
     * One for a record.
     *
     * @param record fails
     * @param fails whether a record still fails in the same way
     * @param timeIsUp true when what was found must do
     */
    Shrinker(List<int[]> record, Predicate<List<int[]>> fails, BooleanSupplier timeIsUp) {
        this.best = record;
        this.fails = fails;
        this.timeIsUp = timeIsUp;
    }

    /** The smallest record that was found. */
    List<int[]> shrink() {
        int before;
        do {
            before = Choices.count(best) + best.size();
            takeOut();
            cutTails();
            lower();
        } while (Choices.count(best) + best.size() < before && !timeIsUp.getAsBoolean());
        return best;
    }

    private boolean attempt(List<int[]> candidate) {
        if (timeIsUp.getAsBoolean() || !fails.test(candidate)) {
            return false;
        }
        best = candidate;
        return true;
    }

    /** The first group is what the world is made of; it stays. */
    private void takeOut() {
        for (int chunk = Math.max(1, best.size() / 2); chunk >= 1; chunk /= 2) {
            int at = best.size() - chunk;
            while (at >= 1) {
                List<int[]> candidate = new ArrayList<>(best.subList(0, at));
                candidate.addAll(best.subList(Math.min(best.size(), at + chunk), best.size()));
                attempt(candidate);
                at = Math.min(at, best.size()) - chunk;
            }
        }
    }

    /** Zeroes at the end of a group need not be there. */
    private void cutTails() {
        for (int g = 0; g < best.size(); g++) {
            int[] group = best.get(g);
            int length = group.length;
            while (length > 0 && group[length - 1] == 0) {
                length--;
            }
            if (length < group.length) {
                attempt(with(g, Arrays.copyOf(group, length)));
            }
        }
    }

    private void lower() {
        for (int g = 0; g < best.size(); g++) {
            if (g > 0 && best.get(g).length > 0) {
                attempt(with(g, new int[0]));
            }
            for (int i = 0; i < best.get(g).length; i++) {
                lower(g, i);
            }
        }
    }

    private void lower(int g, int i) {
        int least = 0;
        while (i < best.get(g).length && best.get(g)[i] > least) {
            int value = best.get(g)[i];
            int[] changed = best.get(g).clone();
            changed[i] = least + (value - least) / 2;
            if (attempt(with(g, setTo(best.get(g), i, 0)))) {
                return;
            }
            if (!attempt(with(g, changed))) {
                least = changed[i] + 1;
            }
            if (timeIsUp.getAsBoolean()) {
                return;
            }
        }
    }

    private static int[] setTo(int[] group, int i, int value) {
        int[] changed = group.clone();
        changed[i] = value;
        return changed;
    }

    private List<int[]> with(int g, int[] group) {
        List<int[]> candidate = new ArrayList<>(best);
        candidate.set(g, group);
        return candidate;
    }
}
