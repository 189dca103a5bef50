/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The owners of device pages. A page has users (requests that run), holders (ended attempts of which the agent may still copy), and perhaps content
 * that later requests match. It is free when it has none of the three.
 *
 * <p>Cached pages form prefixes: one that is extended by another is not evicted. Without retention nothing is cached. For one thread.
 */
final class DevicePool {
    /** What a page contains. */
    record Content(String namespace, Bytes key, Bytes parent, int index) {}

    /** What fills pages, and what counts the reads of them. */
    record Contents(Oracle oracle, Tally tally) {}

    private record Name(String namespace, Bytes key) {}

    private static final class Page {
        final int number;
        final Set<String> users = new LinkedHashSet<>();
        final Set<AgentLink.Attempt> holders = new LinkedHashSet<>();
        @Nullable Content content;
        boolean cached;
        /** Whether the agent has received its content. */
        boolean known;
        long generation;
        long touch;

        Page(int number) {
            this.number = number;
        }

        boolean idle() {
            return users.isEmpty() && holders.isEmpty();
        }
    }

    private final boolean retention;
    private final DevicePages memory;
    private final Contents contents;
    private final List<Page> pages = new ArrayList<>();
    private final TreeSet<Integer> free = new TreeSet<>();
    private final Map<Name, Page> cache = new LinkedHashMap<>();
    private final Map<Name, Integer> children = new LinkedHashMap<>();
    private final List<AgentLink.PageBlock> evicted = new ArrayList<>();
    private final List<String> evictedFrom = new ArrayList<>();
    private long clock;

    DevicePool(DevicePages memory, Contents contents, int usable, boolean retention) {
        this.memory = memory;
        this.contents = contents;
        this.retention = retention;
        for (int i = 0; i < usable; i++) {
            pages.add(new Page(i));
            free.add(i);
        }
    }

    /** Free pages. */
    int free() {
        return free.size();
    }

    /** Pages that a request can get: the free ones and those that can be evicted. */
    int available() {
        int most = free.size();
        for (Page page : pages) {
            most += page.cached && page.idle() && !extendedByUsed(page) ? 1 : 0;
        }
        return most;
    }

    /** Whether a page that extends this one, at any distance, is in use, so that this one cannot be evicted. */
    private boolean extendedByUsed(Page page) {
        Content content = page.content;
        if (content == null || children.getOrDefault(new Name(content.namespace, content.key), 0) == 0) {
            return false;
        }
        for (Page other : pages) {
            Content above = other.content;
            if (above != null && other.cached && above.parent.equals(content.key) && above.namespace.equals(content.namespace)
                    && (!other.idle() || extendedByUsed(other))) {
                return true;
            }
        }
        return false;
    }

    /** The cached page of a block, or -1. */
    int match(String namespace, Bytes key, String user) {
        Page page = cache.get(new Name(namespace, key));
        if (page == null) {
            return -1;
        }
        page.users.add(user);
        page.touch = ++clock;
        return page.number;
    }

    /** A page for new content, evicting when none is free; the caller has seen that one is {@link #available}. */
    int take(String user) {
        if (free.isEmpty()) {
            evictOne();
        }
        Page page = pages.get(free.removeFirst());
        page.users.add(user);
        page.generation = memory.renew(page.number);
        return page.number;
    }

    private void evictOne() {
        Page coldest = null;
        for (Page page : pages) {
            Content content = page.content;
            boolean leaf = content != null && children.getOrDefault(new Name(content.namespace, content.key), 0) == 0;
            if (page.cached && page.idle() && leaf && (coldest == null || page.touch < coldest.touch)) {
                coldest = page;
            }
        }
        if (coldest == null) {
            throw new IllegalStateException("no device page is free or can be evicted");
        }
        uncache(coldest);
        freeIfIdle(coldest);
    }

    long generation(int page) {
        return pages.get(page).generation;
    }

    /** The page now contains this; {@code known}: the agent has received it. */
    void contains(int number, Content content, boolean known) {
        Page page = pages.get(number);
        page.content = content;
        page.known |= known;
    }

    /** The engine computes the block into the page. */
    void fill(int number, Content content) {
        contents.oracle.fill(content.namespace, content.key, memory.toWrite(number));
        contains(number, content, false);
    }

    /** The engine reads the page, which shall hold that block. */
    void compare(String namespace, Bytes key, int number, String what) {
        boolean right = contents.oracle.isRight(namespace, key, memory.bytes(number));
        contents.tally.checked(right, right ? "" : "block " + key + " of " + namespace + " in device page " + number + ", " + what);
    }

    boolean isKnown(int number) {
        return pages.get(number).known;
    }

    /**
     * Puts a page into the prefix cache.
     *
     * @return the page that the block is in from here on: another one, when it was cached before
     */
    int publish(int number, String user) {
        Page page = pages.get(number);
        Content content = page.content;
        if (!retention || content == null || page.cached) {
            return number;
        }
        Name name = new Name(content.namespace, content.key);
        Page before = cache.get(name);
        if (before != null) {
            before.users.add(user);
            before.touch = ++clock;
            disuse(number, user);
            return before.number;
        }
        cache.put(name, page);
        page.cached = true;
        page.touch = ++clock;
        if (!content.parent.isEmpty()) {
            children.merge(new Name(content.namespace, content.parent), 1, Integer::sum);
        }
        return number;
    }

    private void uncache(Page page) {
        Content content = page.content;
        if (page.cached && content != null) {
            cache.remove(new Name(content.namespace, content.key));
            page.cached = false;
            if (!content.parent.isEmpty()) {
                children.merge(new Name(content.namespace, content.parent), -1, Integer::sum);
            }
        }
    }

    /** The agent may still touch the page for this attempt. */
    void hold(int number, AgentLink.Attempt attempt) {
        pages.get(number).holders.add(attempt);
    }

    /** The agent has released the page. */
    void unhold(int number, AgentLink.Attempt attempt) {
        if (number >= pages.size()) {
            return; // one of the spare pages, which requests never use
        }
        Page page = pages.get(number);
        if (page.holders.remove(attempt)) {
            freeIfIdle(page);
        }
    }

    /** The request does not use the page any more. */
    void disuse(int number, String user) {
        Page page = pages.get(number);
        page.users.remove(user);
        freeIfIdle(page);
    }

    private void freeIfIdle(Page page) {
        if (page.idle() && !page.cached && !free.contains(page.number)) {
            Content content = page.content;
            if (content != null && page.known) {
                evicted.add(new AgentLink.PageBlock(content.index, content.key, content.parent, page.number, page.generation));
                evictedFrom.add(content.namespace);
            }
            page.content = null;
            page.known = false;
            free.add(page.number);
        }
    }

    /** The session has ended: the agent holds nothing and has received nothing. */
    void forgetAgent() {
        evicted.clear();
        evictedFrom.clear();
        for (Page page : pages) {
            page.known = false;
            page.holders.clear();
            freeIfIdle(page);
        }
    }

    /** What has left the device since the last call and must be reported to the agent, by namespace. */
    Map<String, List<AgentLink.PageBlock>> takeEvicted() {
        Map<String, List<AgentLink.PageBlock>> byNamespace = new LinkedHashMap<>();
        for (int i = 0; i < evicted.size(); i++) {
            byNamespace.computeIfAbsent(evictedFrom.get(i), any -> new ArrayList<>()).add(evicted.get(i));
        }
        evicted.clear();
        evictedFrom.clear();
        return byNamespace;
    }

    /** Pages that ended attempts still hold. */
    int held() {
        int held = 0;
        for (Page page : pages) {
            held += page.holders.isEmpty() ? 0 : 1;
        }
        return held;
    }

    /** Every page is free, used, held or cached, and in one of these books only once. */
    void check() {
        for (Page page : pages) {
            boolean isFree = free.contains(page.number);
            if (isFree != (page.idle() && !page.cached)) {
                throw new IllegalStateException("I4: device page " + page.number + " is " + (isFree ? "free and not free" : "lost"));
            }
        }
    }
}
