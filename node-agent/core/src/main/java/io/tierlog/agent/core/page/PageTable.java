/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The pages of the HOST tier: their state and content, their pins, and the eviction order.
 *
 * <p>The only writer of {@link Page}. For one thread. Trade-off: about 200 bytes of heap for each page beside the page itself, and a tree of
 * the pages that may be evicted, so that an eviction needs no search.
 *
 * <p>What may be evicted: a page that serves, has no pin, and is not extended by another page here. First those that the store or the
 * disk holds too, then the coldest, and among equals the deepest: a prefix is trimmed from its end.
 */
public final class PageTable {
    /** A block that was evicted; {@code lastCopy} when no other tier was known to hold it. */
    public record Evicted(String namespace, PagedBlock block, boolean lastCopy) {}

    private static final Comparator<Page> FIRST_TO_GO = Comparator.<Page, Boolean>comparing(page -> !page.heldElsewhere())
            .thenComparingLong(page -> page.touch)
            .thenComparing(page -> page.block.index(), Comparator.reverseOrder())
            .thenComparingInt(page -> page.number);

    private final List<Page> pages = new ArrayList<>();
    private final Deque<Page> free = new ArrayDeque<>();
    private final FreeRuns freeRuns;
    private final PageIndex index = new PageIndex();
    private final HostPins pins = new HostPins();
    private final TreeSet<Page> evictable = new TreeSet<>(FIRST_TO_GO);
    private final Map<PageState, Integer> counts = new EnumMap<>(PageState.class);
    private int idleServing;
    private long touches;
    private long freeChanges;

    /** A table of {@code capacity} free pages. */
    public PageTable(int capacity) {
        freeRuns = new FreeRuns(capacity);
        for (int number = 0; number < capacity; number++) {
            Page page = new Page(number);
            pages.add(page);
            free.add(page);
        }
        for (PageState state : PageState.values()) {
            counts.put(state, state == PageState.FREE ? capacity : 0);
        }
    }

    // --- looking

    /** Number of pages. */
    public int capacity() {
        return pages.size();
    }

    /** Number of pages in {@code state}. */
    public int count(PageState state) {
        return counts.getOrDefault(state, 0);
    }

    /** Pages in the longest run of free neighbours, 0 when none is free. */
    public int largestFreeRun() {
        return freeRuns.largest();
    }

    /** Number of named pins on pages. */
    public long pinCount() {
        return pins.count();
    }

    /** The page with that number, 0 to capacity - 1. */
    public Page page(int number) {
        return pages.get(number);
    }

    /** The page in which the block serves. */
    public Optional<Page> serving(String namespace, Bytes key) {
        return Optional.ofNullable(index.serving(namespace, key));
    }

    /** All pages that serve. */
    public List<Page> allServing() {
        return pages.stream().filter(page -> page.state == PageState.SERVING).toList();
    }

    /** The page that is reserved or being filled for the block. */
    public Optional<Page> coming(String namespace, Bytes key) {
        return Optional.ofNullable(index.coming(namespace, key));
    }

    /** True when the page is extended by no other, so that it may leave without making a hole. */
    public boolean isLeaf(Page page) {
        return index.children(page.namespace, page.block.key()) == 0;
    }

    /** Rises whenever a page becomes free or a serving page loses its last pin: then a waiting operation may try again. */
    public long freeChanges() {
        return freeChanges;
    }

    /** Use of the tier; the six states add up to the capacity. */
    public TierUsage usage() {
        return new TierUsage(
                Tier.HOST,
                capacity(),
                count(PageState.FREE),
                count(PageState.RESERVED),
                count(PageState.FILLING),
                count(PageState.SERVING),
                count(PageState.LEAVING),
                count(PageState.QUARANTINED),
                pinCount());
    }

    // --- giving and taking pages

    /**
     * Makes at least {@code wanted} pages free by eviction, or changes nothing but pins that yield: while there are too few pages, it releases such
     * pins, the oldest name first.
     *
     * @return what was evicted, or empty when there are too few pages
     */
    public Optional<List<Evicted>> makeFree(int wanted) {
        int missing = wanted - free.size();
        if (missing <= 0) {
            return Optional.of(List.of());
        }
        Optional<List<Evicted>> evicted = evict(missing);
        for (Optional<String> name = pins.firstYielding(); evicted.isEmpty() && name.isPresent(); name = pins.firstYielding()) {
            unpinAll(name.get());
            missing = wanted - free.size();
            evicted = missing <= 0 ? Optional.of(List.of()) : evict(missing);
        }
        return evicted;
    }

    private Optional<List<Evicted>> evict(int missing) {
        if (missing > idleServing) {
            return Optional.empty();
        }
        // Taking a leaf out of the index makes its parent a leaf; nothing changes its state before all have been found.
        List<Page> candidates = new ArrayList<>(missing);
        while (candidates.size() < missing && !evictable.isEmpty()) {
            Page candidate = evictable.pollFirst();
            unlink(candidate);
            candidates.add(candidate);
        }
        if (candidates.size() < missing) {
            for (Page candidate : candidates.reversed()) {
                link(candidate);
            }
            return Optional.empty();
        }
        List<Evicted> evicted = new ArrayList<>(candidates.size());
        for (Page candidate : candidates) {
            evicted.add(new Evicted(candidate.namespace, candidate.paged(), !candidate.heldElsewhere()));
            idleServing--;
            become(candidate, PageState.LEAVING);
            release(candidate);
        }
        return Optional.of(evicted);
    }

    /**
     * Takes a free page for {@code block}; its generation rises.
     *
     * @throws IllegalStateException when none is free (see {@link #makeFree}), or the block serves or is being filled already
     */
    public Page reserve(String namespace, Block block) {
        Page page = free.peek();
        if (page == null || index.serving(namespace, block.key()) != null || index.coming(namespace, block.key()) != null) {
            throw new IllegalStateException("No page to reserve for " + block);
        }
        free.remove();
        freeRuns.take(page.number);
        page.generation++;
        page.namespace = namespace;
        page.block = block;
        become(page, PageState.RESERVED);
        index.addComing(page);
        parentChanged(page);
        return page;
    }

    /** Bytes begin to move into a reserved page. */
    public void fill(Page page) {
        become(page, PageState.FILLING);
    }

    /** The bytes of a filled page are whole and can be found from here on. */
    public void publish(Page page, int crc32c, boolean heldInStore) {
        become(page, PageState.SERVING);
        page.crc32c = crc32c;
        page.heldInStore = heldInStore;
        page.touch = ++touches;
        index.serve(page);
        idleServing++;
        offerForEviction(page);
    }

    /** Frees a reserved or filled page; no lookup has found its block. */
    public void discard(Page page) {
        index.removeComing(page);
        parentChanged(page);
        release(page);
    }

    /** Bytes may still land in this filled page: no operation gets it until {@link #markIdle}. */
    public void quarantine(Page page) {
        become(page, PageState.QUARANTINED);
        index.removeComing(page);
        parentChanged(page);
    }

    /** No byte moves into this quarantined page now. */
    public void markIdle(Page page) {
        if (page.state != PageState.QUARANTINED) {
            throw new IllegalStateException("Not quarantined: " + page);
        }
        release(page);
    }

    /** No lookup finds this serving page from now on; it is free at once, or when its last pin goes. */
    public void leave(Page page) {
        withdraw(page);
        become(page, PageState.LEAVING);
        unlink(page);
        if (page.pins.isEmpty()) {
            idleServing--;
            release(page);
        }
    }

    /** Whether the store has the block of a serving page too. */
    public void markHeldInStore(Page page, boolean held) {
        withdraw(page);
        page.heldInStore = held;
        offerForEviction(page);
    }

    /** Whether the disk of the node serves a copy of the block of a serving page. */
    public void markHeldOnDisk(Page page, boolean held) {
        withdraw(page);
        page.heldOnDisk = held;
        offerForEviction(page);
    }

    /** The pages were used, in this order of index: all of them are as hot as each other, the deeper the colder. */
    public void touch(List<Page> path) {
        long now = ++touches;
        for (Page page : path) {
            withdraw(page);
            page.touch = now;
            offerForEviction(page);
        }
    }

    /** Makes this serving page the first to be evicted, until a request uses it. */
    public void cool(Page page) {
        withdraw(page);
        page.touch = 0;
        offerForEviction(page);
    }

    // --- pins

    /** Pins a page that serves, or that others still pin, under {@code name}; once more under the same name is nothing. */
    public void pin(String name, Page page) {
        if (page.state != PageState.SERVING && (page.state != PageState.LEAVING || page.pins.isEmpty())) {
            throw new IllegalStateException("Pin " + name + " on " + page);
        }
        withdraw(page);
        if (pins.add(name, page) && page.pins.size() == 1) {
            idleServing--;
        }
    }

    /** Releases one pin; a name that is not there is nothing. */
    public void unpin(String name, Page page) {
        if (pins.remove(name, page) && page.pins.isEmpty()) {
            if (page.state == PageState.LEAVING) {
                release(page);
            } else {
                idleServing++;
                freeChanges++;
                offerForEviction(page);
            }
        }
    }

    /** Releases every pin of that name. */
    public void unpinAll(String name) {
        for (Page page : pins.of(name)) {
            unpin(name, page);
        }
    }

    /** The pages pinned under {@code name}, in the order of pinning. */
    public List<Page> pinnedBy(String name) {
        return pins.of(name);
    }

    /** The pins of that name end by themselves at {@code atMs}; nothing when there are none. */
    public void endPinsAt(String name, long atMs) {
        pins.endAt(name, atMs);
    }

    /** The pins of that name yield when an operation finds too few pages; nothing when there are none. */
    public void yieldPins(String name) {
        pins.yields(name);
    }

    /** Releases the pins whose end has come and returns how many names that were. */
    public int expirePins(long nowMs) {
        int expired = 0;
        for (Optional<String> due = pins.pollDue(nowMs); due.isPresent(); due = pins.pollDue(nowMs)) {
            unpinAll(due.get());
            expired++;
        }
        return expired;
    }

    /** When the next pin ends, or {@link Long#MAX_VALUE}. */
    public long nextPinEndMs() {
        return pins.nextEndMs();
    }

    // --- inside

    private void become(Page page, PageState next) {
        if (!page.state.mayBecome(next)) {
            throw new IllegalStateException(page + " may not become " + next);
        }
        counts.merge(page.state, -1, Integer::sum);
        counts.merge(next, 1, Integer::sum);
        page.state = next;
    }

    private void release(Page page) {
        become(page, PageState.FREE);
        page.namespace = "";
        page.block = Page.NO_BLOCK;
        page.crc32c = 0;
        page.heldInStore = false;
        page.heldOnDisk = false;
        free.add(page);
        freeRuns.give(page.number);
        freeChanges++;
    }

    private void unlink(Page page) {
        index.removeServing(page);
        parentChanged(page);
    }

    private void link(Page page) {
        index.addServing(page);
        offerForEviction(page);
        parentChanged(page);
    }

    private void parentChanged(Page page) {
        Page parent = index.serving(page.namespace, page.block.parent());
        if (parent != null) {
            withdraw(parent);
            offerForEviction(parent);
        }
    }

    /** Before anything changes by which pages are ordered. */
    private void withdraw(Page page) {
        evictable.remove(page);
    }

    private void offerForEviction(Page page) {
        if (page.state == PageState.SERVING && page.pins.isEmpty() && isLeaf(page)) {
            evictable.add(page);
        }
    }

    /**
     * Looks at every page; for tests and for a sample now and then.
     *
     * @throws IllegalStateException when the table contradicts itself
     */
    public void check() {
        Map<PageState, Integer> seen = new EnumMap<>(PageState.class);
        long pinned = 0;
        int idle = 0;
        for (Page page : pages) {
            seen.merge(page.state, 1, Integer::sum);
            pinned += page.pins.size();
            boolean serves = page.state == PageState.SERVING;
            boolean comes = page.state == PageState.RESERVED || page.state == PageState.FILLING;
            idle += serves && page.pins.isEmpty() ? 1 : 0;
            require(serves == (index.serving(page.namespace, page.block.key()) == page), page, "index");
            require(comes == (index.coming(page.namespace, page.block.key()) == page), page, "index of what comes");
            require(page.pins.isEmpty() || serves || page.state == PageState.LEAVING, page, "pins");
            require((serves && page.pins.isEmpty() && isLeaf(page)) == evictable.contains(page), page, "order of eviction");
            require(page.state != PageState.LEAVING || !page.pins.isEmpty(), page, "leaving without a pin");
            for (String name : page.pins) {
                require(pins.of(name).contains(page), page, "pin " + name);
            }
        }
        for (PageState state : PageState.values()) {
            if (seen.getOrDefault(state, 0) != count(state)) {
                throw new IllegalStateException(seen.getOrDefault(state, 0) + " pages are " + state + ", counted " + count(state));
            }
        }
        if (pinned != pinCount() || idle != idleServing || free.size() != count(PageState.FREE)) {
            throw new IllegalStateException(pinned + " pins, counted " + pinCount() + "; " + idle + " idle, counted " + idleServing);
        }
        if (countLargestFreeRun() != largestFreeRun()) {
            throw new IllegalStateException("longest free run " + countLargestFreeRun() + ", kept " + largestFreeRun());
        }
    }

    /** The longest run of free pages, counted one by one. */
    private int countLargestFreeRun() {
        int longest = 0;
        int run = 0;
        for (Page page : pages) {
            run = page.state == PageState.FREE ? run + 1 : 0;
            longest = Math.max(longest, run);
        }
        return longest;
    }

    private static void require(boolean holds, Page page, String what) {
        if (!holds) {
            throw new IllegalStateException("Page table broken (" + what + "): " + page);
        }
    }
}
