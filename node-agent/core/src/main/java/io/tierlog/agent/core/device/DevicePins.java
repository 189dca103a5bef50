/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.device;

import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * Pins on the device pages of the one engine whose pool is open, by name, and the content of those pages as the engine reported it.
 *
 * <p>Releasing returns the pages whose last pin of an ended attempt is gone: the caller notifies the engine. A page that two attempts pinned is named
 * to each that has ended, once it has no pin. For one thread. Trade-off: one small object for each page the engine ever named.
 */
public final class DevicePins {
    /** The block in a device page, as the engine named it. */
    public record Content(String namespace, Bytes key, int index, long generation) {}

    /** Pages that the engine may reuse; their attempt has ended. */
    public record Released(PageOwner owner, List<Integer> pages) {}

    private record Pin(String name, PageOwner owner) {}

    private static final class DevicePage {
        final List<Pin> pins = new ArrayList<>(1);
        final List<PageOwner> owed = new ArrayList<>(0);
        @Nullable Content content;
    }

    private final Map<Integer, DevicePage> pages = new LinkedHashMap<>();
    private final Map<String, SequencedSet<Integer>> names = new LinkedHashMap<>();
    private final Deadlines<String> ends = new Deadlines<>();
    private int capacity;
    private long count;

    /** A pool of {@code capacity} pages is open; nothing of an earlier one counts. */
    public void open(int pagesOfPool) {
        close();
        capacity = pagesOfPool;
    }

    /** The pool is gone, and every pin with it; no notice follows. */
    public void close() {
        ends.clearAll();
        names.clear();
        pages.clear();
        capacity = 0;
        count = 0;
    }

    /** Number of pages of the open pool, 0 when none is open. */
    public int capacity() {
        return capacity;
    }

    /** Number of named pins. */
    public long pinCount() {
        return count;
    }

    /** Content of the page, as the engine reported it. */
    public Optional<Content> content(int page) {
        DevicePage found = pages.get(page);
        return found == null ? Optional.empty() : Optional.ofNullable(found.content);
    }

    /** Why the engine cannot have given the page this content; empty when it can, or when it is there already. */
    public Optional<String> whyNot(int page, Content now) {
        Optional<Content> before = content(page);
        if (before.filter(now::equals).isPresent()) {
            return Optional.empty();
        }
        if (pinned(page)) { // a copy may be writing to it, whatever was there before
            return Optional.of("page " + page + " was given to other content while it is pinned: wait for its Released notice");
        }
        return before.filter(known -> known.generation() >= now.generation())
                .map(known -> "page " + page + " had generation " + known.generation() + " already, with other content");
    }

    /** The page has this content now. */
    public void remember(int page, Content content) {
        at(page).content = content;
    }

    /** The content of the page has left. */
    public void forget(int page) {
        DevicePage found = pages.get(page);
        if (found != null) {
            found.content = null;
            dropEmpty(page, found);
        }
    }

    /** True when the page has a pin. */
    public boolean pinned(int page) {
        DevicePage found = pages.get(page);
        return found != null && !found.pins.isEmpty();
    }

    /** True when a pin of that name is on the page. */
    public boolean pinnedBy(String name, int page) {
        SequencedSet<Integer> found = names.get(name);
        return found != null && found.contains(page);
    }

    /** The pages pinned under {@code name}, in the order of pinning. */
    public List<Integer> pinnedBy(String name) {
        SequencedSet<Integer> found = names.get(name);
        return found == null ? List.of() : List.copyOf(found);
    }

    /** Pins a page under {@code name}; once more under the same name is nothing. */
    public void pin(String name, PageOwner owner, int page) {
        if (page < 0 || page >= capacity) {
            throw new IllegalArgumentException("No device page " + page + " of " + capacity);
        }
        if (names.computeIfAbsent(name, any -> new LinkedHashSet<>()).add(page)) {
            at(page).pins.add(new Pin(name, owner));
            count++;
        }
    }

    /** The pins of that name end by themselves at {@code atMs}; nothing when there are none. */
    public void endPinsAt(String name, long atMs) {
        if (names.containsKey(name)) {
            ends.set(name, atMs);
        }
    }

    /** When the next pin ends, or {@link Long#MAX_VALUE}. */
    public long nextPinEndMs() {
        return ends.nextMs();
    }

    /** Takes a name whose end has come; its pins are still there. */
    public Optional<String> pollDue(long nowMs) {
        return ends.pollDue(nowMs);
    }

    /** Releases every pin of that name; a name that is not there is nothing. */
    public List<Released> unpinAll(String name) {
        return unpin(name, pinnedBy(name));
    }

    /** Releases the pins of that name on some pages. */
    public List<Released> unpin(String name, Collection<Integer> some) {
        SequencedMap<PageOwner, List<Integer>> released = new LinkedHashMap<>();
        SequencedSet<Integer> ofName = names.get(name);
        if (ofName == null) {
            return List.of();
        }
        for (Integer page : some) {
            if (ofName.remove(page)) {
                unpinOne(name, page, released);
            }
        }
        if (ofName.isEmpty()) {
            names.remove(name);
            ends.clear(name);
        }
        return released.entrySet().stream().map(entry -> new Released(entry.getKey(), entry.getValue())).toList();
    }

    private void unpinOne(String name, Integer number, SequencedMap<PageOwner, List<Integer>> released) {
        DevicePage page = at(number);
        count--;
        for (int i = 0; i < page.pins.size(); i++) {
            Pin pin = page.pins.get(i);
            if (pin.name().equals(name)) {
                page.pins.remove(i);
                if (pin.owner().ended() && !page.owed.contains(pin.owner())) {
                    page.owed.add(pin.owner());
                }
                break;
            }
        }
        if (page.pins.isEmpty()) {
            for (PageOwner owner : page.owed) {
                released.computeIfAbsent(owner, any -> new ArrayList<>()).add(number);
            }
            page.owed.clear();
            dropEmpty(number, page);
        }
    }

    private DevicePage at(int page) {
        return pages.computeIfAbsent(page, any -> new DevicePage());
    }

    private void dropEmpty(int number, DevicePage page) {
        if (page.content == null && page.pins.isEmpty()) {
            pages.remove(number);
        }
    }

    /**
     * Compares both views of the pins; for tests.
     *
     * @throws IllegalStateException when they differ
     */
    public void check() {
        long byPage = pages.values().stream().mapToLong(page -> page.pins.size()).sum();
        long byName = names.values().stream().mapToLong(SequencedSet::size).sum();
        if (byPage != count || byName != count) {
            throw new IllegalStateException(byPage + " device pins by page, " + byName + " by name, counted " + count);
        }
    }
}
