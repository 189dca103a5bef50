/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PolicyAdopted;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Recency as one would explain it: every copy on host and disk has the time of its last use, a use of a block is a use of every block above
 * it, and what leaves next, and how, is found by looking at all of them, one block after the other. What one input made leave a tier is held
 * against that. When blocks may come below one that is just leaving, which only happens while a drop or a copy is under way, the order is not
 * exact any more; then it is only checked that every block that leaves may leave that way.
 */
final class RecencyModel {
    int drops;
    int copies;
    int drained;

    private final boolean exact;
    private final Map<String, Map<Bytes, Copy>> tiers = new HashMap<>();
    private final Map<String, Long> diskBlocks = new HashMap<>();
    private final Map<String, OperationIssued> operations = new HashMap<>();
    private final Map<String, LeaseHeld> leases = new HashMap<>();
    private Policy policy = Policies.INITIAL;

    RecencyModel(boolean exact) {
        this.exact = exact;
    }

    private static final class Copy {
        final Block block;
        boolean serving;
        boolean leaving;
        boolean copying;
        boolean stored;
        boolean refused;
        int page;
        long generation;
        long touch;
        String operation = "";

        Copy(Block block) {
            this.block = block;
        }

        @Override
        public String toString() {
            return block + " used " + touch + (serving ? " serving" : "") + (leaving ? " leaving" : "") + (copying ? " copying" : "")
                    + (stored ? " stored" : "") + (refused ? " refused" : "");
        }
    }

    private Map<Bytes, Copy> copies(String aggregate, Tier tier) {
        return tiers.computeIfAbsent(aggregate + "/" + tier, a -> new TreeMap<>());
    }

    private Map<Bytes, Copy> copies(Fact fact, Tier tier) {
        return copies(fact.envelope().aggregate(), tier);
    }

    /** The facts that one input led to. */
    void evolve(List<Fact> facts) {
        Set<String> checked = new HashSet<>();
        for (Fact fact : facts) {
            if (fact instanceof OperationIssued first && isRelief(first) && checked.add(first.envelope().aggregate() + first.from())) {
                List<OperationIssued> group = facts.stream().filter(OperationIssued.class::isInstance).map(OperationIssued.class::cast)
                        .filter(f -> isRelief(f) && f.from() == first.from() && f.envelope().aggregate().equals(first.envelope().aggregate()))
                        .toList();
                check(first.envelope().aggregate(), first.from(), group);
            }
            apply(fact);
        }
    }

    private static boolean isRelief(OperationIssued fact) {
        return fact.kind() == OperationKind.DROP || fact.kind() == OperationKind.COPY;
    }

    private void apply(Fact fact) {
        switch (fact) {
            case PolicyAdopted f -> policy = f.policy();
            case AgentAccepted f -> diskBlocks.put(f.envelope().aggregate(),
                    f.tiers().stream().filter(t -> t.tier() == Tier.DISK).mapToLong(t -> t.capacityBlocks()).sum());
            case OperationIssued f -> issued(f);
            case OperationEnded f -> ended(f);
            case BlocksPlaced f -> placed(f);
            case BlocksTouched f -> f.deepest().forEach(b -> touched(copies(f, f.tier()), b.key(), f.touch()));
            case BlocksBackedUp f -> stored(f, f.blocks(), true);
            case BlocksUnconfirmed f -> stored(f, f.blocks(), false);
            case BlocksRemoved f -> f.blocks().forEach(b -> copies(f, f.tier()).remove(b.key()));
            case LeaseHeld f -> leases.put(f.lease(), f);
            case LeaseEnded f -> leases.remove(f.lease());
            case NodeEnded f -> {
                List.of(Tier.HOST, Tier.DISK).forEach(tier -> copies(f, tier).clear());
                String prefix = f.envelope().aggregate() + "@";
                operations.keySet().removeIf(id -> id.startsWith(prefix));
                leases.keySet().removeIf(id -> id.startsWith(prefix));
            }
            default -> {}
        }
    }

    private void stored(Fact fact, List<Block> blocks, boolean stored) {
        List.of(Tier.HOST, Tier.DISK).forEach(tier -> blocks.forEach(b -> {
            Copy copy = copies(fact, tier).get(b.key());
            if (copy != null) {
                copy.stored = stored;
            }
        }));
    }

    private static void touched(Map<Bytes, Copy> copies, Bytes key, long touch) {
        Copy copy = copies.get(key);
        if (copy != null) {
            copy.refused = false;
            copy.touch = Math.max(copy.touch, touch);
        }
        use(copies, key, touch);
    }

    private static void use(Map<Bytes, Copy> copies, Bytes key, long touch) {
        Copy copy = copies.get(key);
        while (copy != null && copy.serving && !copy.leaving) {
            copy.touch = Math.max(copy.touch, touch);
            copy = copies.get(copy.block.parent());
        }
    }

    private void placed(BlocksPlaced f) {
        if (f.tier() != Tier.HOST && f.tier() != Tier.DISK) {
            return;
        }
        Map<Bytes, Copy> copies = copies(f, f.tier());
        for (PagedBlock paged : f.blocks()) {
            Bytes key = paged.block().key();
            Copy copy = copies.computeIfAbsent(key, k -> new Copy(paged.block()));
            if (!copy.serving || copy.page != paged.page() || copy.generation != paged.generation()) {
                copy.serving = true;
                copy.leaving = false;
                copy.copying = false;
                copy.refused = false;
                copy.operation = "";
            }
            copy.page = paged.page();
            copy.generation = paged.generation();
            copy.stored |= f.heldAlso() == Tier.STORE;
            long below = copies.values().stream().filter(c -> c.serving && c.block.parent().equals(key)).mapToLong(c -> c.touch).max().orElse(0);
            use(copies, key, Math.max(Math.max(copy.touch, below), f.touch()));
        }
    }

    private void issued(OperationIssued f) {
        operations.put(f.operation(), f);
        switch (f.kind()) {
            case DROP -> {
                drops++;
                drained += f.from() == Tier.DISK ? 1 : 0;
                for (Block block : f.blocks()) {
                    Copy copy = need(f, f.from(), block);
                    copy.leaving = true;
                    copy.operation = f.operation();
                }
            }
            case COPY -> {
                copies++;
                for (Block block : f.blocks()) {
                    Copy copy = need(f, f.from(), block);
                    copy.copying = true;
                    copy.operation = f.operation();
                    write(f, block).touch = Math.max(write(f, block).touch, copy.touch);
                    use(copies(f, f.to()), block.key(), copy.touch);
                }
            }
            case WRITE_BACK, PREFETCH -> f.blocks().forEach(block -> write(f, block));
            default -> {}
        }
    }

    private Copy need(OperationIssued f, Tier tier, Block block) {
        return Objects.requireNonNull(copies(f, tier).get(block.key()), () -> block + " is not on " + tier);
    }

    private Copy write(OperationIssued f, Block block) {
        Map<Bytes, Copy> copies = copies(f, f.to());
        assertFalse(f.kind() == OperationKind.WRITE_BACK && copies.containsKey(block.key()), () -> "written back twice: " + block);
        Copy copy = copies.computeIfAbsent(block.key(), k -> new Copy(block));
        OperationIssued writer = operations.get(copy.operation);
        if (!copy.serving && (writer == null || writer.kind() != OperationKind.WRITE_BACK)) {
            copy.operation = f.operation();
        }
        return copy;
    }

    private void ended(OperationEnded f) {
        OperationIssued issued = operations.remove(f.operation());
        if (issued == null) {
            return;
        }
        for (Tier tier : List.of(issued.to(), issued.from())) {
            for (Block block : issued.blocks()) {
                Copy copy = copies(f, tier).get(block.key());
                if (copy != null && copy.operation.equals(f.operation())) {
                    copy.operation = "";
                    copy.refused |= copy.copying && !serves(copies(f, issued.to()).get(block.key()));
                    if (!copy.serving) {
                        copies(f, tier).remove(block.key());
                    }
                    copy.leaving = false;
                    copy.copying = false;
                }
            }
        }
    }

    private static boolean serves(@Nullable Copy copy) {
        return copy != null && copy.serving && !copy.leaving;
    }

    /** One choice of what leaves a tier. */
    private final class Choice {
        final String aggregate;
        final Tier tier;
        final Map<Bytes, Copy> copies;
        final Map<Bytes, Copy> disk;
        final Map<Bytes, OperationKind> chosen = new LinkedHashMap<>();
        final Set<Bytes> passed = new HashSet<>();
        final boolean copying;
        long free;

        Choice(String aggregate, Tier tier) {
            this.aggregate = aggregate;
            this.tier = tier;
            this.copies = copies(aggregate, tier);
            this.disk = copies(aggregate, Tier.DISK);
            this.copying = tier == Tier.HOST && policy.copyToDisk() && diskBlocks.getOrDefault(aggregate, 0L) > 0;
            this.free = diskBlocks.getOrDefault(aggregate, 0L) - disk.size();
        }

        /** Takes the coldest block that may leave. */
        void take() {
            while (true) {
                Copy next = copies.values().stream().filter(c -> isLeaf(c) && !passed.contains(c.block.key()))
                        .min(Comparator.comparingInt(this::order).thenComparingLong(c -> c.touch).thenComparingInt(c -> -c.block.index())
                                .thenComparing(c -> c.block.key())).orElseThrow(() -> new AssertionError("nothing may leave " + describe()));
                OperationKind way = way(next);
                if (way != OperationKind.UNKNOWN) {
                    choose(next, way);
                    return;
                }
                passed.add(next.block.key());
            }
        }

        void choose(Copy copy, OperationKind way) {
            chosen.put(copy.block.key(), way);
            free -= way == OperationKind.COPY && !disk.containsKey(copy.block.key()) ? 1 : 0;
        }

        private int order(Copy copy) {
            return copy.stored ? 0 : copy.refused ? 2 : 1;
        }

        boolean isLeaf(Copy c) {
            return c.serving && !c.leaving && !c.copying && !chosen.containsKey(c.block.key()) && !isHeld(aggregate, tier, c)
                    && children(c).stream().allMatch(d -> d.leaving || chosen.containsKey(d.block.key()));
        }

        private List<Copy> children(Copy c) {
            return copies.values().stream().filter(d -> d.block.parent().equals(c.block.key())).toList();
        }

        boolean isAboveCopied(Copy c) {
            return children(c).stream().anyMatch(d -> chosen.get(d.block.key()) == OperationKind.COPY);
        }

        OperationKind way(Copy c) {
            Copy below = tier == Tier.HOST ? disk.get(c.block.key()) : null;
            boolean above = isAboveCopied(c);
            boolean stays = copying ? order(c) == 2 : tier == Tier.DISK && !c.stored;
            if (stays && !above) {
                return OperationKind.UNKNOWN;
            } else if (serves(below)) {
                return above ? OperationKind.COPY : OperationKind.DROP;
            } else if (copying && below == null && free > 0 && !c.refused) {
                return OperationKind.COPY;
            }
            return above || (copying && !c.stored) ? OperationKind.UNKNOWN : OperationKind.DROP;
        }

        String describe() {
            return "space " + free + ", chosen " + chosen + ", " + tier + " " + copies.values() + ", DISK " + disk.values();
        }
    }

    private void check(String aggregate, Tier tier, List<OperationIssued> group) {
        Map<Bytes, OperationKind> actual = new LinkedHashMap<>();
        group.forEach(f -> f.blocks().forEach(b -> actual.put(b.key(), f.kind())));
        Choice choice = new Choice(aggregate, tier);
        if (exact) {
            for (int i = 0; i < actual.size(); i++) {
                choice.take();
            }
            assertEquals(new TreeMap<>(choice.chosen), new TreeMap<>(actual), () -> "what leaves next, " + choice.describe());
        }
        Choice order = new Choice(aggregate, tier);
        for (OperationIssued f : group) {
            for (Block block : f.blocks()) {
                Copy copy = need(f, tier, block);
                assertTrue(order.isLeaf(copy), () -> copy + " cannot leave: " + order.describe());
                assertFalse(f.kind() == OperationKind.DROP && order.isAboveCopied(copy), () -> copy + " goes before what extends it");
                assertTrue(tier != Tier.DISK || copy.stored, () -> "the last copy leaves the disk: " + copy);
                order.choose(copy, f.kind());
            }
        }
        assertTrue(order.free >= Math.min(0, new Choice(aggregate, tier).free), () -> "no space for what is copied: " + order.describe());
    }

    private boolean isHeld(String aggregate, Tier tier, Copy copy) {
        List<List<Block>> held = new ArrayList<>();
        operations.values().stream().filter(o -> o.kind() == OperationKind.BACK_UP && o.envelope().aggregate().equals(aggregate))
                .forEach(o -> held.add(o.blocks()));
        leases.values().stream().filter(l -> l.envelope().aggregate().equals(aggregate)).forEach(l -> held.add(l.blocks()));
        return tier == Tier.HOST && held.stream().flatMap(List::stream).anyMatch(b -> b.key().equals(copy.block.key()));
    }
}
