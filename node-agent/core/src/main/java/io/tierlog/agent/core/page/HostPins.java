/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import io.tierlog.agent.core.time.Deadlines;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;

/**
 * The names under which host pages are pinned. A pin has a name and never a count: pinning twice under one name is one pin, and releasing
 * an absent name is nothing. A name can have an end by the monotonic clock.
 *
 * <p>Keeps the names only; what a pin means for a page is {@link PageTable}'s. For one thread.
 */
final class HostPins {
    private final Map<String, SequencedSet<Page>> pages = new LinkedHashMap<>();
    private final Deadlines<String> ends = new Deadlines<>();
    /** Names whose pins yield when an operation finds too few pages, the oldest first. */
    private final SequencedSet<String> yielding = new LinkedHashSet<>();
    private long count;

    /** True when the pin is new. */
    boolean add(String name, Page page) {
        if (page.pins.contains(name)) {
            return false;
        }
        page.pins.add(name);
        pages.computeIfAbsent(name, any -> new LinkedHashSet<>()).add(page);
        count++;
        return true;
    }

    /** True when there was such a pin. */
    boolean remove(String name, Page page) {
        if (!page.pins.remove(name)) {
            return false;
        }
        count--;
        SequencedSet<Page> rest = pages.get(name);
        if (rest != null) {
            rest.remove(page);
            if (rest.isEmpty()) {
                pages.remove(name);
                ends.clear(name);
                yielding.remove(name);
            }
        }
        return true;
    }

    List<Page> of(String name) {
        SequencedSet<Page> found = pages.get(name);
        return found == null ? List.of() : new ArrayList<>(found);
    }

    void endAt(String name, long atMs) {
        if (pages.containsKey(name)) {
            ends.set(name, atMs);
        }
    }

    void yields(String name) {
        if (pages.containsKey(name)) {
            yielding.add(name);
        }
    }

    /** The oldest name that gives way. */
    Optional<String> firstYielding() {
        return yielding.isEmpty() ? Optional.empty() : Optional.of(yielding.getFirst());
    }

    Optional<String> pollDue(long nowMs) {
        return ends.pollDue(nowMs);
    }

    long nextEndMs() {
        return ends.nextMs();
    }

    long count() {
        return count;
    }
}
