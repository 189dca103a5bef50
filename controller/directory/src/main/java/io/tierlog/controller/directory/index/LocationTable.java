/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Numbers for pairs of location and incarnation, so that a placement needs four bytes for both. A number is free again when the last
 * placement with it is gone. Not safe by itself: see {@link PlacementIndex}.
 */
final class LocationTable {
    /** The incarnation of a record that could not be read: there is one, with unknown content. */
    static final long UNREADABLE = -1;

    private final int most;
    private final Incarnations incarnations;
    private final Map<LocationEpoch, Integer> numbers = new LinkedHashMap<>();
    private final Deque<Integer> free = new ArrayDeque<>();
    private @Nullable Holding[] table = new @Nullable Holding[16];
    private int fresh;

    /** A location in one incarnation of its node. */
    private record LocationEpoch(Location location, long incarnation) {}

    private static final class Holding {
        private final LocationEpoch epoch;
        private final AtomicLong highest;
        private long placements;

        Holding(LocationEpoch epoch, AtomicLong highest) {
            this.epoch = epoch;
            this.highest = highest;
        }
    }

    LocationTable(int most, Incarnations incarnations) {
        this.most = most;
        this.incarnations = incarnations;
    }

    /** The number of a pair for one more placement; {@link Cells#NONE} when there are too many. */
    int take(Location location, long incarnation) {
        LocationEpoch epoch = new LocationEpoch(location, incarnation);
        Integer known = numbers.get(epoch);
        if (known != null) {
            holding(known).placements++;
            return known;
        }
        if (numbers.size() >= most) {
            return Cells.NONE;
        }
        int number = free.isEmpty() ? fresh++ : free.pop();
        if (number == table.length) {
            table = Arrays.copyOf(table, table.length * 2);
        }
        Holding holding = new Holding(epoch, incarnations.note(location.owner(), incarnation));
        holding.placements = 1;
        table[number] = holding;
        numbers.put(epoch, number);
        return number;
    }

    /** One placement fewer. */
    void giveBack(int number) {
        Holding holding = holding(number);
        holding.placements--;
        if (holding.placements == 0) {
            numbers.remove(holding.epoch);
            table[number] = null;
            free.push(number);
        }
    }

    boolean isAt(int number, Location location) {
        return holding(number).epoch.location.equals(location);
    }

    boolean isUnreadable(int number) {
        return holding(number).epoch.incarnation == UNREADABLE;
    }

    /** Whether its placements serve: it was readable, and no later incarnation of the owner was seen. */
    boolean counts(int number) {
        Holding holding = holding(number);
        long incarnation = holding.epoch.incarnation;
        return incarnation != UNREADABLE && incarnation >= holding.highest.get();
    }

    Location location(int number) {
        return holding(number).epoch.location;
    }

    long incarnation(int number) {
        return holding(number).epoch.incarnation;
    }

    int size() {
        return numbers.size();
    }

    private Holding holding(int number) {
        Holding holding = table[number];
        if (holding == null) {
            throw new IllegalStateException("a placement has the number " + number + ", which is free");
        }
        return holding;
    }
}
