/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;

/**
 * Pages of the agent's own, behind those of the HOST tier in the same memory, through which bytes go that have no page there: from the device or
 * the disk to a colder tier. They belong to no tier, no lookup finds them, and they count in no capacity.
 *
 * <pre>
 *   FREE --take--> TAKEN --give--> FREE
 *                    +--quarantine--> QUARANTINED --knownIdle--> FREE
 * </pre>
 *
 * <p>One operation at a time uses a page. For one thread. Trade-off: their memory, whether any copy needs them or not.
 */
public final class BouncePages {
    private enum State {
        /** Free. */
        FREE,
        /** One operation writes to it or reads from it, or will. */
        TAKEN,
        /** A transfer of unknown outcome may still touch it. */
        QUARANTINED
    }

    private final int first;
    private final List<State> states = new ArrayList<>();
    private final List<String> holders = new ArrayList<>();
    private final Deque<Integer> free = new ArrayDeque<>();
    private int quarantined;

    /** {@code count} free pages, 0 or more, with the numbers from {@code first} on. */
    public BouncePages(int first, int count) {
        this.first = first;
        for (int i = 0; i < count; i++) {
            states.add(State.FREE);
            holders.add("");
            free.add(first + i);
        }
    }

    /** Number of pages. */
    public int capacity() {
        return states.size();
    }

    /** Number of free pages. */
    public int free() {
        return free.size();
    }

    /** Number of pages that a transfer of unknown outcome may still touch. */
    public int quarantined() {
        return quarantined;
    }

    /** True when there are pages, and all of them are in quarantine: none comes free by what operations do. */
    public boolean stuck() {
        return capacity() > 0 && quarantined == capacity();
    }

    /** A page for {@code operation} alone, until it is given back or kept; empty when none is free. */
    public OptionalInt take(String operation) {
        Integer page = free.poll();
        if (page == null) {
            return OptionalInt.empty();
        }
        become(page, State.FREE, State.TAKEN);
        holders.set(page - first, operation);
        return OptionalInt.of(page);
    }

    /**
     * No byte of the operation moves from or to the page now.
     *
     * @throws IllegalStateException when it is not the operation's
     */
    public void give(String operation, int page) {
        requireHolder(operation, page);
        become(page, State.TAKEN, State.FREE);
        release(page);
    }

    /**
     * Bytes may still move from or to the page: no operation gets it until {@link #markIdle}.
     *
     * @throws IllegalStateException when it is not the operation's
     */
    public void quarantine(String operation, int page) {
        requireHolder(operation, page);
        become(page, State.TAKEN, State.QUARANTINED);
        quarantined++;
    }

    /**
     * No byte moves from or to this quarantined page now.
     *
     * @throws IllegalStateException when it is in no quarantine
     */
    public void markIdle(int page) {
        become(page, State.QUARANTINED, State.FREE);
        quarantined--;
        release(page);
    }

    private void release(int page) {
        holders.set(page - first, "");
        free.add(page);
    }

    private void requireHolder(String operation, int page) {
        if (!holders.get(page - first).equals(operation)) {
            throw new IllegalStateException("Bounce page " + page + " is " + holders.get(page - first) + "'s, not " + operation + "'s");
        }
    }

    private void become(int page, State from, State to) {
        if (states.get(page - first) != from) {
            throw new IllegalStateException("Bounce page " + page + " is " + states.get(page - first) + " and may not become " + to);
        }
        states.set(page - first, to);
    }

    /**
     * Looks at every page; for tests and for a sample now and then.
     *
     * @throws IllegalStateException when the pages contradict what is counted
     */
    public void check() {
        int seenFree = 0;
        int seenQuarantined = 0;
        for (int i = 0; i < states.size(); i++) {
            boolean isFree = states.get(i) == State.FREE;
            seenFree += isFree ? 1 : 0;
            seenQuarantined += states.get(i) == State.QUARANTINED ? 1 : 0;
            if (isFree != holders.get(i).isEmpty() || isFree != free.contains(first + i)) {
                throw new IllegalStateException("Bounce page " + (first + i) + " is " + states.get(i) + ", held by '" + holders.get(i) + "'");
            }
        }
        if (seenFree != free.size() || seenQuarantined != quarantined) {
            throw new IllegalStateException(seenFree + " bounce pages free, counted " + free.size() + "; " + seenQuarantined
                    + " in quarantine, counted " + quarantined);
        }
    }
}
