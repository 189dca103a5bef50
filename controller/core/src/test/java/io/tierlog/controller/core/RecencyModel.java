/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.Decision;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Recency as one would explain it: every copy on the host has the time of its last use, a use of a block is a use of every block above it,
 * and what leaves next is found by looking at all of them. Each drop that was decided is held against that.
 */
final class RecencyModel {
    int drops;

    private final Map<String, Map<Bytes, Copy>> nodes = new HashMap<>();
    private final Map<String, OperationIssued> operations = new HashMap<>();
    private final Map<String, LeaseHeld> leases = new HashMap<>();

    private static final class Copy {
        final Block block;
        boolean serving;
        boolean leaving;
        boolean stored;
        long touch;
        String operation = "";

        Copy(Block block) {
            this.block = block;
        }
    }

    private Map<Bytes, Copy> copies(Decision fact) {
        return nodes.computeIfAbsent(fact.envelope().aggregate(), a -> new HashMap<>());
    }

    void evolve(Decision fact) {
        switch (fact) {
            case OperationIssued f -> issued(f);
            case OperationEnded f -> ended(f);
            case BlocksPlaced f -> placed(f);
            case BlocksTouched f -> f.deepest().forEach(b -> use(copies(f), b.key(), f.touch()));
            case BlocksBackedUp f -> f.blocks().forEach(b -> {
                Copy copy = copies(f).get(b.key());
                if (copy != null) {
                    copy.stored = true;
                }
            });
            case BlocksRemoved f -> {
                if (f.tier() == Tier.HOST) {
                    f.blocks().forEach(b -> copies(f).remove(b.key()));
                }
            }
            case LeaseHeld f -> leases.put(f.lease(), f);
            case LeaseEnded f -> leases.remove(f.lease());
            case NodeEnded f -> {
                copies(f).clear();
                String prefix = f.envelope().aggregate() + "@";
                operations.keySet().removeIf(id -> id.startsWith(prefix));
                leases.keySet().removeIf(id -> id.startsWith(prefix));
            }
            default -> {}
        }
    }

    private static void use(Map<Bytes, Copy> copies, Bytes key, long touch) {
        for (Copy copy = copies.get(key); copy != null; copy = copies.get(copy.block.parent())) {
            copy.touch = Math.max(copy.touch, touch);
        }
    }

    private void placed(BlocksPlaced f) {
        if (f.tier() != Tier.HOST) {
            return;
        }
        for (PagedBlock paged : f.blocks()) {
            Copy copy = copies(f).computeIfAbsent(paged.block().key(), k -> new Copy(paged.block()));
            copy.serving = true;
            copy.leaving = false;
            copy.stored |= f.heldAlso() == Tier.STORE;
            use(copies(f), paged.block().key(), f.touch());
        }
    }

    private void issued(OperationIssued f) {
        operations.put(f.operation(), f);
        Map<Bytes, Copy> copies = copies(f);
        if (f.kind() == OperationKind.DROP) {
            drops++;
            List<Block> expected = new ArrayList<>();
            boolean stored = Objects.requireNonNull(copies.get(f.blocks().getFirst().key())).stored;
            while (expected.size() < f.blocks().size()) {
                Copy next = next(copies, f.envelope().aggregate(), stored);
                assertEquals(true, next != null, () -> "nothing is left to drop, and it drops " + f.blocks());
                Copy victim = Objects.requireNonNull(next);
                expected.add(victim.block);
                victim.leaving = true;
                victim.operation = f.operation();
            }
            assertEquals(expected, f.blocks(), "what leaves next");
        } else if (f.to() == Tier.HOST) {
            for (Block block : f.blocks()) {
                Copy copy = copies.computeIfAbsent(block.key(), k -> new Copy(block));
                if (!copy.serving) {
                    copy.operation = f.operation();
                }
            }
        }
    }

    private void ended(OperationEnded f) {
        OperationIssued issued = operations.remove(f.operation());
        if (issued == null) {
            return;
        }
        for (Block block : issued.blocks()) {
            Copy copy = copies(f).get(block.key());
            if (copy != null && copy.operation.equals(f.operation())) {
                if (copy.leaving) {
                    copy.leaving = false;
                } else if (!copy.serving) {
                    copies(f).remove(block.key());
                }
            }
        }
    }

    private @Nullable Copy next(Map<Bytes, Copy> copies, String aggregate, boolean stored) {
        return copies.values().stream()
                .filter(c -> c.serving && !c.leaving && !isHeld(aggregate, c))
                .filter(c -> copies.values().stream().noneMatch(d -> d.block.parent().equals(c.block.key()) && !d.leaving))
                .filter(c -> c.stored == stored)
                .min(Comparator.comparingLong((Copy c) -> c.touch).thenComparingInt(c -> -c.block.index()).thenComparing(c -> c.block.key()))
                .orElse(null);
    }

    private boolean isHeld(String aggregate, Copy copy) {
        boolean backup = operations.values().stream().anyMatch(o -> o.kind() == OperationKind.BACK_UP && names(o.blocks(), copy)
                && o.envelope().aggregate().equals(aggregate));
        return backup || leases.values().stream().anyMatch(l -> names(l.blocks(), copy) && l.envelope().aggregate().equals(aggregate));
    }

    private static boolean names(List<Block> blocks, Copy copy) {
        return blocks.stream().anyMatch(b -> b.key().equals(copy.block.key()));
    }
}
