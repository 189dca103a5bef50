/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PromotionSettled;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Promoted blocks of a node. Each has exactly one outcome, at the latest when the promotion that did not bring it ends, or when its host placement
 * leaves (I12). When the node's incarnation ends, its open promotions end too. Confined to its node's fold.
 *
 * <pre>
 *   UNDER_WAY --> PLACED --> hit, waited hit, or evicted before use
 *       +--> failed, or missed in the race
 * </pre>
 */
final class Promotions {
    private enum Stage {
        UNDER_WAY,
        PLACED
    }

    private record Name(String namespace, Bytes key) {}

    private final NodeFold node;
    private final Map<Name, Stage> open = new LinkedHashMap<>();
    /** What must have an outcome by the end of this cause, and why. */
    private final Map<Name, String> due = new LinkedHashMap<>();
    private final Map<String, List<Name>> operations = new LinkedHashMap<>();

    Promotions(NodeFold node) {
        this.node = node;
    }

    /** Nothing is due between two causes. */
    void state(FoldBytes io) {
        io.map(open, name -> name(io, name), stage -> io.symbol(Stage.class, stage));
        io.map(operations, io::text, names -> io.list(names, name -> name(io, name)));
    }

    private static Name name(FoldBytes io, @Nullable Name name) {
        return new Name(io.text(name == null ? null : name.namespace), io.bytes(name == null ? null : name.key));
    }

    void clear() {
        open.clear();
        due.clear();
        operations.clear();
    }

    void issued(OperationIssued f) {
        if (f.kind() != OperationKind.PROMOTE) {
            return;
        }
        List<Name> names = new ArrayList<>(f.blocks().size());
        for (Block block : f.blocks()) {
            Name name = new Name(f.namespace(), block.key());
            names.add(name);
            if (open.put(name, Stage.UNDER_WAY) != null) {
                say(name, "is promoted by " + f.operation() + " before the outcome of its last promotion is known");
            }
        }
        operations.put(f.operation(), names);
    }

    void placed(BlocksPlaced f) {
        if (f.tier() != Tier.HOST || f.operation() == null || !operations.containsKey(f.operation())) {
            return;
        }
        for (PagedBlock block : f.blocks()) {
            open.computeIfPresent(new Name(f.namespace(), block.block().key()), (name, stage) -> Stage.PLACED);
        }
    }

    void removed(BlocksRemoved f) {
        if (f.tier() == Tier.HOST && !open.isEmpty()) {
            for (Block block : f.blocks()) {
                Name name = new Name(f.namespace(), block.key());
                if (open.get(name) == Stage.PLACED) {
                    due.put(name, "has left the host");
                }
            }
        }
    }

    public void ended(OperationEnded f) {
        List<Name> names = operations.remove(f.operation());
        if (names != null) {
            for (Name name : names) {
                if (open.get(name) == Stage.UNDER_WAY) {
                    due.put(name, "was not brought by " + f.operation());
                }
            }
        }
    }

    void settled(PromotionSettled f) {
        if (f.outcome() == PromotionOutcome.FAILED && f.reason() == OperationReason.NODE_LOST) {
            return; // Of an earlier incarnation, which is not tracked: a block of that name may be on its way again.
        }
        for (Block block : f.blocks()) {
            Name name = new Name(f.namespace(), block.key());
            Stage stage = open.remove(name);
            due.remove(name);
            // A promotion that was cancelled while it waited never began.
            boolean never = f.outcome() == PromotionOutcome.FAILED && stage == null;
            if (!never && !fits(stage, f.outcome())) {
                say(name, "has the outcome " + f.outcome() + ", and it was " + (stage == null ? "not promoted, or had one before" : stage));
            }
        }
    }

    private static boolean fits(@Nullable Stage stage, PromotionOutcome outcome) {
        return switch (outcome) {
            case PROMOTED_HIT, PROMOTED_HIT_WAITED, PROMOTED_EVICTED_BEFORE_USE -> stage == Stage.PLACED;
            case MISSED_RACE, FAILED -> stage == Stage.UNDER_WAY;
            case UNKNOWN -> false;
        };
    }

    void closeCause() {
        due.forEach((name, why) -> say(name, why + ", and has no outcome"));
        due.keySet().forEach(open::remove);
        due.clear();
    }

    private void say(Name name, String what) {
        node.findings.say(Invariant.I12, "block " + name.key() + " " + what);
    }
}
