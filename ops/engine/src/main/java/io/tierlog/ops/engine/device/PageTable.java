/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import io.tierlog.ops.engine.workload.BlockId;
import io.tierlog.ops.engine.workload.BlockKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The books of the device pages. A page is in one of these:
 *
 * <pre>
 *   free --acquire--> private to one request --publish--> cached --evict--> free
 *                         \--release--> free                |  ^
 *                                                           v  |  used by requests (users > 0), held by the agent, or neither
 * </pre>
 *
 * <p>The cached pages form the prefix cache: each has the cached page of the block before it as its parent, so a prefix has no hole. Only a cached
 * leaf without users that the agent does not hold can be evicted, coldest first; a request that ends leaves its deeper blocks colder. Without
 * retention such a leaf is dropped at once, and no request matches what others have: the lower tiers alone give the hits.
 *
 * <p>Not thread-safe: guarded by the lock of {@link DevicePool}, or confined to one thread.
 */
public final class PageTable {
    private static final int NONE = -1;

    private final boolean retention;
    private final int[] users;
    /** Attempts for which the agent holds each page. */
    private final int[] held;
    private final long[] generation;
    private final long[] lastUse;
    private final int[] children;
    private final int[] parent;
    private final int[] index;
    private final @Nullable BlockId[] content;
    /** Session epoch in which the agent received the page's content; 0 when never. */
    private final long[] knownIn;
    private final int[] free;
    private int freeCount;
    private long clock;
    private long epoch = 1;
    private final Map<BlockId, Integer> cache = new HashMap<>();
    private final TreeMap<Long, Integer> evictable = new TreeMap<>();
    private final ShadowOwners shadow = new ShadowOwners();
    private List<EvictedPage> evicted = new ArrayList<>();

    /**
     * Free pages.
     *
     * @param retention whether pages of ended requests stay as prefix cache
     */
    public PageTable(int pages, boolean retention) {
        this.retention = retention;
        this.users = new int[pages];
        this.held = new int[pages];
        this.generation = new long[pages];
        this.lastUse = new long[pages];
        this.children = new int[pages];
        this.parent = new int[pages];
        this.index = new int[pages];
        this.content = new @Nullable BlockId[pages];
        this.knownIn = new long[pages];
        this.free = new int[pages];
        Arrays.fill(parent, NONE);
        for (int i = 0; i < pages; i++) {
            free[freeCount++] = pages - 1 - i;
        }
    }

    /** Matches and allocates all pages of {@code demand}, or nothing: null when there are not enough pages now. */
    public @Nullable BlockTable acquire(BlockTable.Demand demand) {
        BlockTable table = new BlockTable(demand);
        match(table);
        int needed = demand.pages() - table.matched();
        if (!evictFor(needed)) {
            for (int i = table.matched() - 1; i >= 0; i--) {
                disuse(table.page(i), demand.owner());
            }
            return null;
        }
        for (int i = table.matched(); i < demand.pages(); i++) {
            int page = free[--freeCount];
            shadow.give(page, demand.owner());
            users[page] = 1;
            table.set(i, page, ++generation[page]);
        }
        return table;
    }

    private int matchable(BlockTable.Demand demand) {
        return retention ? demand.reusable() : 0;
    }

    private void match(BlockTable table) {
        BlockTable.Demand demand = table.demand();
        int matched = 0;
        Integer page;
        while (matched < matchable(demand) && (page = cache.get(new BlockId(demand.tenant(), demand.keys().get(matched)))) != null) {
            use(page, demand.owner());
            table.set(matched++, page, generation[page]);
        }
        table.matched(matched);
    }

    /** Matches again, for blocks that other requests have published since, and frees the request's own pages of them. */
    public void rematch(BlockTable table) {
        BlockTable.Demand demand = table.demand();
        int matched = table.matched();
        Integer page;
        while (matched < matchable(demand) && (page = cache.get(new BlockId(demand.tenant(), demand.keys().get(matched)))) != null) {
            exchange(table, matched++, page);
        }
        table.matched(matched);
    }

    private void exchange(BlockTable table, int i, int page) {
        String owner = table.demand().owner();
        int own = table.page(i);
        use(page, owner);
        table.set(i, page, generation[page]);
        users[own] = 0;
        shadow.remove(own, owner);
        makeFree(own);
    }

    /** Puts blocks 0 to {@code keys.size()} - 1 of the request, which must have their content, into the prefix cache. */
    public void publish(BlockTable table, List<BlockKey> keys) {
        for (int i = 0; i < keys.size(); i++) {
            int page = table.page(i);
            BlockId id = new BlockId(table.demand().tenant(), keys.get(i));
            int above = i == 0 ? NONE : table.page(i - 1);
            Integer present = cache.putIfAbsent(id, page);
            if (present == null) {
                content[page] = id;
                index[page] = i;
                parent[page] = above;
                if (above != NONE) {
                    children[above]++;
                }
            } else if (present != page) {
                if (knownIn[page] == epoch) {
                    evicted.add(new EvictedPage(id, i, i == 0 ? Optional.empty() : Optional.of(keys.get(i - 1)), page, generation[page]));
                }
                exchange(table, i, present);
            } else if (index[page] != i || parent[page] != above) {
                throw new IllegalStateException("block " + id + " is published at index " + i + " and was known at index " + index[page]);
            }
        }
    }

    /** Whether the agent has received the content of {@code page} in this session. */
    public boolean isKnown(int page) {
        return knownIn[page] == epoch;
    }

    /** From now on the agent tracks the content of {@code page}. */
    public void tell(int page) {
        knownIn[page] = epoch;
    }

    /** The agent holds {@code page} until it is released, under the name {@code attempt}. */
    public void hold(int page, String attempt) {
        if (content[page] == null) {
            throw new IllegalStateException("device page " + page + " cannot be held for " + attempt + ": " + describe(page));
        }
        shadow.add(page, attempt);
        held[page]++;
        settle(page);
    }

    /** The agent has released {@code page}. */
    public void unhold(int page, String attempt) {
        if (held[page] == 0) {
            throw new IllegalStateException("device page " + page + " is not held for " + attempt);
        }
        shadow.remove(page, attempt);
        held[page]--;
        settle(page);
    }

    /** The request has ended. */
    public void release(BlockTable table) {
        String owner = table.demand().owner();
        for (int i = table.size() - 1; i >= 0; i--) {
            int page = table.page(i);
            lastUse[page] = ++clock;
            disuse(page, owner);
        }
    }

    /** A new file with other memory: the agent has received nothing of it. Holds have been ended before. */
    void nextEpoch() {
        epoch++;
    }

    long epoch() {
        return epoch;
    }

    long generation(int page) {
        return generation[page];
    }

    boolean isFree(int page) {
        return users[page] == 0 && content[page] == null;
    }

    int freeCount() {
        return freeCount;
    }

    int cached() {
        return cache.size();
    }

    /** What was evicted since the last call and has to be reported to the agent. */
    public List<EvictedPage> takeEvicted() {
        List<EvictedPage> taken = evicted;
        evicted = new ArrayList<>();
        return taken;
    }

    private void use(int page, String owner) {
        shadow.add(page, owner);
        users[page]++;
        settle(page);
    }

    private void disuse(int page, String owner) {
        shadow.remove(page, owner);
        users[page]--;
        if (content[page] == null) {
            makeFree(page);
        } else {
            settle(page);
        }
    }

    /** Brings the eviction order in line with the state of a cached page; without retention, drops it and what that leaves as a leaf. */
    private void settle(int first) {
        int page = first;
        while (page != NONE) {
            evictable.remove(lastUse[page]);
            if (!isIdleLeaf(page)) {
                return;
            }
            if (retention) {
                evictable.put(lastUse[page], page);
                return;
            }
            page = evict(page);
        }
    }

    private boolean isIdleLeaf(int page) {
        return content[page] != null && users[page] == 0 && held[page] == 0 && children[page] == 0;
    }

    private boolean evictFor(int needed) {
        while (freeCount < needed) {
            Map.Entry<Long, Integer> coldest = evictable.pollFirstEntry();
            if (coldest == null) {
                return false;
            }
            settle(evict(coldest.getValue()));
        }
        return true;
    }

    /** Empties {@code page}; the page of the block before it, or NONE. */
    private int evict(int page) {
        BlockId id = Objects.requireNonNull(content[page]);
        int above = parent[page];
        if (knownIn[page] == epoch) {
            Optional<BlockKey> parentKey = above == NONE ? Optional.empty() : Optional.of(Objects.requireNonNull(content[above]).key());
            evicted.add(new EvictedPage(id, index[page], parentKey, page, generation[page]));
        }
        cache.remove(id);
        content[page] = null;
        parent[page] = NONE;
        if (above != NONE) {
            children[above]--;
        }
        makeFree(page);
        return above;
    }

    private void makeFree(int page) {
        knownIn[page] = 0;
        free[freeCount++] = page;
    }

    private String describe(int page) {
        return "users " + users[page] + ", held " + held[page] + ", children " + children[page] + ", content " + content[page];
    }

    /** Checks the books from end to end; for tests and for the end of a run. */
    void validate() {
        int[] expectedChildren = new int[users.length];
        boolean[] listedFree = new boolean[users.length];
        for (int i = 0; i < freeCount; i++) {
            check(!listedFree[free[i]], free[i], "is free twice");
            listedFree[free[i]] = true;
        }
        int busy = 0;
        for (int page = 0; page < users.length; page++) {
            BlockId id = content[page];
            check(listedFree[page] == (users[page] == 0 && id == null), page, "is free and not free");
            check(held[page] == 0 || id != null, page, "is held without content");
            boolean ordered = Objects.equals(evictable.get(lastUse[page]), page);
            check(ordered == (retention && isIdleLeaf(page)), page, "is wrong in the eviction order");
            busy += users[page] > 0 || held[page] > 0 ? 1 : 0;
            if (id != null) {
                check(Objects.equals(cache.get(id), page), page, "is not found under its key");
                check((parent[page] == NONE) == (index[page] == 0), page, "has no parent");
            }
            if (parent[page] != NONE) {
                expectedChildren[parent[page]]++;
                check(id != null && content[parent[page]] != null && index[parent[page]] == index[page] - 1, page, "has a wrong parent");
            }
        }
        for (int page = 0; page < users.length; page++) {
            check(children[page] == expectedChildren[page], page, "has other children");
        }
        check(shadow.owned() == busy, 0, "and others: " + shadow.owned() + " owned pages in the second book, " + busy + " in the first");
    }

    private void check(boolean holds, int page, String what) {
        if (!holds) {
            throw new IllegalStateException("device page " + page + " " + what + ": " + describe(page));
        }
    }
}
