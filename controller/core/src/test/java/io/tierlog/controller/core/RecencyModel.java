/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Recency as one would explain it: every copy on the host has the time of its last use, a use of a block is a use of every block above it,
 * and what leaves next is found by looking at all of them. Each drop that was decided is held against that. When blocks may come below one
 * that is just leaving, which only happens while a drop is under way, the order is not exact any more; then it is only checked that every
 * block that is dropped may leave.
 */
final class RecencyModel {
    int drops;

    private final boolean exact;
    private final Map<String, Map<Bytes, Copy>> nodes = new HashMap<>();
    private final Map<String, OperationIssued> operations = new HashMap<>();
    private final Map<String, LeaseHeld> leases = new HashMap<>();

    RecencyModel(boolean exact) {
        this.exact = exact;
    }

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
        Copy copy = copies.get(key);
        while (copy != null && copy.serving && !copy.leaving) {
            copy.touch = Math.max(copy.touch, touch);
            copy = copies.get(copy.block.parent());
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
                List<Copy> candidates = candidates(copies, f.envelope().aggregate(), stored);
                assertFalse(candidates.isEmpty(), () -> "nothing is left to drop, and it drops " + f.blocks());
                Copy victim = candidates.getFirst();
                if (!exact) {
                    Bytes key = f.blocks().get(expected.size()).key();
                    victim = candidates.stream().filter(c -> c.block.key().equals(key)).findFirst().orElse(victim);
                }
                expected.add(victim.block);
                victim.leaving = true;
                victim.operation = f.operation();
            }
            assertEquals(expected, f.blocks(), () -> "what leaves next, " + describe(copies, f.envelope().aggregate()));
        } else if (f.to() == Tier.HOST) {
            for (Block block : f.blocks()) {
                assertFalse(f.kind() == OperationKind.WRITE_BACK && copies.containsKey(block.key()), () -> "written back twice: " + block);
                Copy copy = copies.computeIfAbsent(block.key(), k -> new Copy(block));
                OperationIssued writer = operations.get(copy.operation);
                if (!copy.serving && (writer == null || writer.kind() != OperationKind.WRITE_BACK)) {
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

    /** What may leave, the first to go first. */
    private List<Copy> candidates(Map<Bytes, Copy> copies, String aggregate, boolean stored) {
        return copies.values().stream()
                .filter(c -> c.serving && !c.leaving && !isHeld(aggregate, c))
                .filter(c -> copies.values().stream().noneMatch(d -> d.block.parent().equals(c.block.key()) && !d.leaving))
                .filter(c -> c.stored == stored)
                .sorted(Comparator.comparingLong((Copy c) -> c.touch).thenComparingInt(c -> -c.block.index())
                        .thenComparing(c -> c.block.key()))
                .toList();
    }

    private String describe(Map<Bytes, Copy> copies, String aggregate) {
        return copies.values().stream().sorted(Comparator.comparing(c -> c.block.key()))
                .map(c -> "\n" + new String(c.block.key().unshared(), StandardCharsets.UTF_8).trim() + " used " + c.touch
                        + (c.serving ? " serving" : "") + (c.leaving ? " leaving" : "") + (c.stored ? " stored" : "")
                        + (isHeld(aggregate, c) ? " held" : ""))
                .collect(Collectors.joining());
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
