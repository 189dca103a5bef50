/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import io.tierlog.agent.bridge.decode.EngineEvent;
import io.tierlog.agent.bridge.decode.Media;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one engine instance, by its own words. A block that was stored twice and removed once is still there: two requests that compute the
 * same prompt at the same time have two copies. Confined to its publisher. Trade-off: some 250 bytes for each block.
 */
public final class BlockBook {
    private static final List<Tier> TIERS = List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE);
    private static final int MOST_NAMESPACES = 64;
    private static final int LONGEST_NAMESPACE = 256;
    /** As many bits as an int has beside its sign. */
    private static final int MOST_MEDIA = 31;

    private final Rules rules;
    private final NamespaceRule.Source source;
    private final boolean shared;
    private final BridgeCounts counts;
    private final Map<Id, Entry> blocks = new LinkedHashMap<>();
    /** Of the blocks that end by time, when they were last named; the oldest first. */
    private final Map<Held, Long> named = new LinkedHashMap<>();
    private final Set<String> namespaces = new LinkedHashSet<>();
    private final Set<String> incomplete = new LinkedHashSet<>();
    /** One object for all blocks of a scope. */
    private final Map<EngineEvent.Scope, EngineEvent.Scope> scopes = new HashMap<>();
    /** Of blocks with a scope; the bit of each is its position. */
    private final List<String> media = new ArrayList<>();
    private boolean lowerTiers;
    private boolean expiring;

    /**
     * How the book is kept.
     *
     * @param counting false for engines that announce again what they reuse: then one removal takes a block away
     * @param mostBlocks bound
     * @param hintMs time after which a block whose removal has no event counts no longer unless it is named again
     */
    public record Rules(NamespaceRule naming, boolean counting, int mostBlocks, long hintMs) {}

    /** One block began to be somewhere, or is there no longer. */
    public record Change(boolean stored, Tier tier, String namespace, PagedBlock block) {}

    /** A hash is a block of one group of layers, and of one scope where events name that. */
    private record Id(EngineEvent.Scope scope, int group, Bytes hash) {}

    /** Where a block is. */
    private record Held(Id id, Tier tier) {}

    private static final class Entry {
        private final String namespace;
        private int index;
        /** How many, or a bit for each medium of the tier that has it. */
        private final int[] copies = new int[TIERS.size()];
        private final long[] generations = new long[TIERS.size()];

        Entry(String namespace, int index) {
            this.namespace = namespace;
            this.index = index;
        }

        boolean isEmpty() {
            return Arrays.stream(copies).allMatch(count -> count == 0);
        }
    }

    /**
     * An empty book.
     *
     * @param shared whether the publisher speaks of a pool that engines share
     */
    public BlockBook(Rules rules, NamespaceRule.Source source, boolean shared, BridgeCounts counts) {
        this.rules = rules;
        this.source = source;
        this.shared = shared;
        this.counts = counts;
        // Blocks may be there of which no event was seen.
        hasSpaceFor(rules.naming().of(source, NamespaceRule.Block.PLAIN));
    }

    /** All its blocks end by time from here on: of a publisher whose losses do not show. */
    public void expiring() {
        expiring = true;
    }

    /** Namespaces of blocks that were left out since a bound was reached, until all is cleared: what is not found there may be at the engine. */
    public List<String> incomplete() {
        return List.copyOf(incomplete);
    }

    /** Number of blocks. */
    int size() {
        return blocks.size();
    }

    /** The namespace of blocks without a group, an adapter and a salt, and all others of its blocks since it was opened. */
    public List<String> namespaces() {
        return List.copyOf(namespaces);
    }

    /** Whether it ever had blocks below the device. */
    boolean hadLowerTiers() {
        return lowerTiers;
    }

    /** Applies an event of the batch with that number; what changed goes to {@code changes}. */
    void apply(long nowMs, long seq, EngineEvent event, Consumer<Change> changes) {
        switch (event) {
            case EngineEvent.Stored e -> stored(nowMs, seq + 1, e, changes);
            case EngineEvent.Removed e -> {
                named(e.place());
                removed(e.place(), e.hashes(), changes);
            }
            case EngineEvent.Accessed e -> {
                named(e.place());
                accessed(nowMs, e);
            }
            case EngineEvent.Capacity _ -> counts.add(BridgeCounter.CAPACITIES, 1);
            case EngineEvent.Transferred e -> {
                stored(nowMs, seq + 1, new EngineEvent.Stored(e.to(), e.hashes(), null, -1, false, 0, "", "", EngineEvent.Dialect.PLAIN), changes);
                removed(e.from(), e.hashes(), changes);
            }
            case EngineEvent.Cleared e -> {
                Tier only = e.medium().isEmpty() ? null : Media.tier(new EngineEvent.Place(e.medium(), "", 0), shared);
                clear(only, changes);
            }
        }
    }

    private void stored(long nowMs, long generation, EngineEvent.Stored e, Consumer<Change> changes) {
        Tier tier = Media.tier(e.place(), shared);
        if (tier == Tier.UNKNOWN) {
            counts.add(BridgeCounter.UNKNOWN_MEDIA, 1);
            return;
        }
        lowerTiers |= tier != Tier.DEVICE;
        int index = e.first() >= 0 || !e.chained() ? e.first() : after(e.place(), e.parent());
        int bit = bitForStore(e.place());
        for (Bytes hash : e.hashes()) {
            stored(nowMs, new Copy(tier, generation, bit), id(e.place(), hash), index, e, changes);
            index = index < 0 || !e.chained() ? -1 : index + 1;
        }
    }

    /**
     * A copy of a block on a tier.
     *
     * @param bit of the medium, for a block with a scope; 0 when there are too many media
     */
    private record Copy(Tier tier, long generation, int bit) {}

    private Id id(EngineEvent.Place place, Bytes hash) {
        return new Id(scopes.getOrDefault(place.scope(), place.scope()), place.group(), hash);
    }

    /** The bit of a medium; 0 when it has none. */
    private int bit(EngineEvent.Place place) {
        int known = media.indexOf(place.medium());
        return known < 0 ? 0 : 1 << known;
    }

    private int bitForStore(EngineEvent.Place place) {
        if (place.scope().isNone()) {
            return 1;
        }
        if (!media.contains(place.medium()) && media.size() < MOST_MEDIA) {
            media.add(place.medium());
        }
        return bit(place);
    }

    private void stored(long nowMs, Copy copy, Id id, int index, EngineEvent.Stored e, Consumer<Change> changes) {
        Entry entry = blocks.get(id);
        if (entry == null) {
            String namespace = rules.naming().of(source.orOf(e.dialect().model()),
                    new NamespaceRule.Block(id.group(), e.blockTokens(), e.adapter(), e.salt(), id.scope().kvRank()));
            if (blocks.size() >= rules.mostBlocks() || copy.bit() == 0 || !hasSpaceFor(namespace)) {
                leaveOut(namespace);
                return;
            }
            entry = new Entry(namespace, index);
            scopes.putIfAbsent(id.scope(), id.scope());
            blocks.put(id, entry);
        } else if (copy.bit() == 0) {
            leaveOut(entry.namespace);
            return;
        }
        int tier = TIERS.indexOf(copy.tier());
        boolean placed = index >= 0 && entry.index < 0;
        entry.index = placed ? index : entry.index;
        if (entry.copies[tier] == 0 || placed) {
            entry.generations[tier] = copy.generation();
            changes.accept(change(true, copy.tier(), id, entry));
        }
        entry.copies[tier] = !id.scope().isNone() ? entry.copies[tier] | copy.bit()
                : rules.counting() && !e.dialect().objects() ? entry.copies[tier] + 1 : 1;
        if (expiring || e.dialect().expires()) {
            Held held = new Held(id, copy.tier());
            named.remove(held);
            named.put(held, nowMs);
        }
    }

    private void leaveOut(String namespace) {
        counts.add(BridgeCounter.OVER_LIMIT, 1);
        if (incomplete.size() < MOST_NAMESPACES && namespace.length() <= LONGEST_NAMESPACE) {
            incomplete.add(namespace);
        }
    }

    /** The namespace of blocks of which no store was seen is one of its namespaces too. */
    private void named(EngineEvent.Place place) {
        EngineEvent.Scope scope = place.scope();
        if (!scope.isNone()) {
            hasSpaceFor(rules.naming().of(source.orOf(scope.model()),
                    new NamespaceRule.Block(place.group(), 0, "", scope.salt(), scope.kvRank())));
        }
    }

    private boolean hasSpaceFor(String namespace) {
        if (namespaces.contains(namespace)) {
            return true;
        }
        if (namespaces.size() >= MOST_NAMESPACES || namespace.length() > LONGEST_NAMESPACE) {
            return false;
        }
        return namespaces.add(namespace);
    }

    private int after(EngineEvent.Place place, @Nullable Bytes parent) {
        Entry above = parent == null ? null : blocks.get(id(place, parent));
        return above == null || above.index < 0 ? -1 : above.index + 1;
    }

    /** A removal of what is not there is normal after a gap. */
    private void removed(EngineEvent.Place place, List<Bytes> hashes, Consumer<Change> changes) {
        Tier tier = Media.tier(place, shared);
        if (tier == Tier.UNKNOWN) {
            counts.add(BridgeCounter.UNKNOWN_MEDIA, 1);
            return;
        }
        int bit = bit(place);
        for (Bytes hash : hashes) {
            Id id = id(place, hash);
            Entry entry = blocks.get(id);
            if (entry != null && entry.copies[TIERS.indexOf(tier)] > 0) {
                int left = entry.copies[TIERS.indexOf(tier)];
                boolean counted = place.scope().isNone();
                if (!counted && (left & bit) == 0) {
                    continue;
                }
                entry.copies[TIERS.indexOf(tier)] = counted ? left - 1 : left & ~bit;
                if (entry.copies[TIERS.indexOf(tier)] == 0) {
                    gone(tier, id, entry, changes);
                }
            }
        }
    }

    /** A block that is used below the host's memory has not left the pool there. */
    private void accessed(long nowMs, EngineEvent.Accessed e) {
        counts.add(BridgeCounter.ACCESSED, e.hashes().size());
        Tier tier = Media.tier(e.place(), shared);
        if (named.isEmpty() || (tier != Tier.DISK && tier != Tier.STORE)) {
            return;
        }
        for (Bytes hash : e.hashes()) {
            for (Tier below : List.of(Tier.DISK, Tier.STORE)) {
                Held held = new Held(id(e.place(), hash), below);
                if (named.remove(held) != null) {
                    named.put(held, nowMs);
                }
            }
        }
    }

    private void gone(Tier tier, Id id, Entry entry, Consumer<Change> changes) {
        entry.copies[TIERS.indexOf(tier)] = 0;
        changes.accept(change(false, tier, id, entry));
        if (!named.isEmpty()) {
            named.remove(new Held(id, tier));
        }
        if (entry.isEmpty()) {
            blocks.remove(id);
        }
    }

    private static Change change(boolean stored, Tier tier, Id id, Entry entry) {
        Block block = new Block(entry.index, id.hash(), Bytes.EMPTY);
        return new Change(stored, tier, entry.namespace, new PagedBlock(block, -1, entry.generations[TIERS.indexOf(tier)], 0));
    }

    /** Forgets all blocks, or those of one tier; UNKNOWN is none. */
    void clear(@Nullable Tier only, Consumer<Change> changes) {
        if (only == null) {
            incomplete.clear();
        }
        for (Map.Entry<Id, Entry> each : List.copyOf(blocks.entrySet())) {
            for (Tier tier : TIERS) {
                if ((only == null || only == tier) && each.getValue().copies[TIERS.indexOf(tier)] > 0) {
                    gone(tier, each.getKey(), each.getValue(), changes);
                }
            }
        }
    }

    /** Lets go of blocks whose removal has no event, and that were not named again for too long. */
    void expire(long nowMs, Consumer<Change> changes) {
        List<Held> over = new ArrayList<>();
        Iterator<Map.Entry<Held, Long>> oldest = named.entrySet().iterator();
        while (oldest.hasNext()) {
            Map.Entry<Held, Long> each = oldest.next();
            if (nowMs - each.getValue() < rules.hintMs()) {
                break;
            }
            over.add(each.getKey());
        }
        for (Held held : over) {
            Entry entry = blocks.get(held.id());
            if (entry != null && entry.copies[TIERS.indexOf(held.tier())] > 0) {
                counts.add(BridgeCounter.EXPIRED_HINTS, 1);
                gone(held.tier(), held.id(), entry, changes);
            }
        }
    }

    /** All blocks, as if they were stored now: for a log that has none of them. */
    public void all(Consumer<Change> changes) {
        blocks.forEach((id, entry) -> {
            for (Tier tier : TIERS) {
                if (entry.copies[TIERS.indexOf(tier)] > 0) {
                    changes.accept(change(true, tier, id, entry));
                }
            }
        });
    }
}
