/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;

/**
 * Named counters in two sorted arrays: some thousand of these are kept, and a map would take eight times the memory. Names come from closed lists
 * (tiers, reasons, kinds), so there are at most {@value #MOST} of them. Not thread-safe.
 */
public final class Counters {
    private static final int MOST = 1_024;

    private String[] names = {};
    private long[] values = {};

    /** No counter. */
    public Counters() {}

    /** Those of a map. */
    @JsonCreator
    public Counters(Map<String, Long> all) {
        all.forEach(this::add);
    }

    /**
     * Adds to a counter; one that is not there begins at 0.
     *
     * @throws IllegalStateException when there are too many names, which then do not come from closed lists
     */
    public void add(String name, long more) {
        if (more == 0) {
            return;
        }
        int at = Arrays.binarySearch(names, name);
        if (at >= 0) {
            values[at] += more;
            return;
        }
        if (names.length == MOST) {
            throw new IllegalStateException("more than " + MOST + " counters: " + name);
        }
        int insert = -at - 1;
        String[] longer = Arrays.copyOf(names, names.length + 1);
        long[] more1 = Arrays.copyOf(values, values.length + 1);
        System.arraycopy(names, insert, longer, insert + 1, names.length - insert);
        System.arraycopy(values, insert, more1, insert + 1, values.length - insert);
        longer[insert] = name.intern();
        more1[insert] = more;
        names = longer;
        values = more1;
    }

    /** Adds all of another. Into an empty one this is a copy of its arrays: names are shared, since no array of names is changed in place. */
    public void add(Counters others) {
        if (names.length == 0) {
            names = others.names;
            values = others.values.clone();
            return;
        }
        others.forEach(this::add);
    }

    /** The value of a counter; 0 when it is not there. */
    public long get(String name) {
        int at = Arrays.binarySearch(names, name);
        return at < 0 ? 0 : values[at];
    }

    /** Each counter, by name. */
    public void forEach(ObjLongConsumer<String> action) {
        for (int i = 0; i < names.length; i++) {
            action.accept(names[i], values[i]);
        }
    }

    /** The sum of all counters whose name begins with a text. */
    public long sum(String prefix) {
        long sum = 0;
        for (int i = 0; i < names.length; i++) {
            sum += names[i].startsWith(prefix) ? values[i] : 0;
        }
        return sum;
    }

    /** A copy as a map, by name. */
    @JsonValue
    public Map<String, Long> toMap() {
        Map<String, Long> all = new TreeMap<>();
        forEach(all::put);
        return all;
    }
}
