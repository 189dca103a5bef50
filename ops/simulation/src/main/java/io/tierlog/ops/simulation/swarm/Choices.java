/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * All that is left to chance in an episode: numbers that are drawn from a seed and recorded, or read from a record. They stand in groups, one for
 * each
 * step, so that a step can be taken out of a record without changing what the others mean. Where a record has no number, it is 0. For one thread.
 */
public final class Choices {
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private final boolean replaying;
    private final List<int[]> script;
    private final List<int[]> groups = new ArrayList<>();
    private int[] group = new int[16];
    private int size;
    private boolean begun;
    private long state;

    private Choices(long seed, boolean replaying, List<int[]> script) {
        this.state = seed * STEP;
        this.replaying = replaying;
        this.script = script;
    }

    /** Numbers drawn from {@code seed}. */
    public static Choices drawn(long seed) {
        return new Choices(seed, false, List.of());
    }

    /** Numbers of a record. */
    public static Choices replayed(List<int[]> groups) {
        return new Choices(0, true, List.copyOf(groups));
    }

    /** Begins the next group. */
    public void begin() {
        if (begun) {
            groups.add(Arrays.copyOf(group, size));
        }
        begun = true;
        size = 0;
    }

    /** True when a record is replayed and has no further group. */
    public boolean exhausted() {
        return replaying && groups.size() + (begun ? 1 : 0) >= script.size();
    }

    /** A number from 0 to {@code bound} - 1; bound is 1 or more. The lower one is the simpler one. */
    public int next(int bound) {
        if (bound <= 1) {
            return 0;
        }
        int value = replaying ? scripted(bound) : draw(bound);
        if (size == group.length) {
            group = Arrays.copyOf(group, 2 * size);
        }
        group[size++] = value;
        return value;
    }

    private int scripted(int bound) {
        int at = groups.size();
        boolean known = begun && at < script.size() && size < script.get(at).length;
        return known ? Math.min(script.get(at)[size], bound - 1) : 0;
    }

    private int draw(int bound) {
        state += STEP;
        long z = (state ^ (state >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return (int) ((((z ^ (z >>> 31)) >>> 33) * bound) >>> 31);
    }

    /** True in {@code one} of {@code of} cases; not when it is 0. */
    public boolean oneIn(int of) {
        return next(of) == of - 1;
    }

    /** One of them; the first is the simplest. */
    public <T> T pick(List<T> from) {
        return from.get(next(from.size()));
    }

    /** What was drawn so far, group by group. */
    public List<int[]> recorded() {
        List<int[]> all = new ArrayList<>(groups);
        if (begun) {
            all.add(Arrays.copyOf(group, size));
        }
        return all;
    }

    /** How many numbers a record has. */
    static int count(List<int[]> groups) {
        return groups.stream().mapToInt(group -> group.length).sum();
    }
}
