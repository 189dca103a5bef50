/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationRefused;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One node's decision on one order, block by block: copied, marked, or refused. There is no queue: a block that may not begin now is refused for
 * the budget or, under BOTH, marked. Each copy is an operation of its own, so that one slot is one block. Confined to one decision.
 */
final class NodeMigrationDecision {
    private final NodeContext n;
    private final String migration;
    private final MigrationOrder order;
    private final long request;
    private final Budget budget;
    private final List<BlockName> copied = new ArrayList<>();
    private final List<BlockName> marked = new ArrayList<>();
    private final List<BlockName> refused = new ArrayList<>();
    private final List<MigrationRefusal> reasons = new ArrayList<>();
    /** Why a block stays on the source, for the block right before it: one that is extended there cannot leave. */
    private final Map<BlockName, MigrationRefusal> extendedByWhatStays = new LinkedHashMap<>();
    /** How many of those marked had no mark before; the marks of the others are refreshed. */
    private int newMarks;

    NodeMigrationDecision(NodeContext n, String migration, MigrationOrder order, long request) {
        this.n = n;
        this.migration = migration;
        this.order = order;
        this.request = request;
        this.budget = new Budget(n);
    }

    /** Decides, records it unless nothing is to be done, and answers. */
    MigrationAnswer decide() {
        SampleRule rule = order.sample();
        if (rule == null) {
            inTurn(order.blocks()).forEach(this::decide);
        } else {
            Sample sample = Sample.take(n, order.source(), rule);
            sample.oldEnough().forEach(this::decide);
            sample.tooYoung().forEach(block -> refuse(block, MigrationRefusal.TOO_YOUNG));
        }
        MigrationAnswer answer = new MigrationAnswer(List.copyOf(copied), List.copyOf(marked), List.copyOf(refused), List.copyOf(reasons));
        n.fact(new MigrationTaken(n.envelope(), migration, order, answer, request));
        if (!order.dryRun()) {
            copy();
            mark();
            reject();
        }
        return answer;
    }

    /** As named, each once; the deeper before those they extend where the source is to be deleted, for it leaves from the end of a prefix only. */
    private List<BlockName> inTurn(List<BlockName> blocks) {
        List<BlockName> turn = new ArrayList<>(new LinkedHashSet<>(blocks));
        if (order.retention() == Retention.DELETE_SOURCE) {
            turn.sort(Comparator.comparingInt((BlockName block) -> {
                PlacementRow row = find(block);
                return row == null ? 0 : -row.index();
            }));
        }
        return turn;
    }

    private void decide(BlockName block) {
        MigrationRefusal refusal = order.method() == MigrationMethod.MARK
                ? ofMark(block)
                : Admission.refusal(n, block.namespace(), block.key(), order.source(), order.target());
        if (refusal == null && order.method() != MigrationMethod.MARK) {
            refusal = extendedByWhatStays.get(block);
        }
        if (refusal == null && order.method() != MigrationMethod.MARK && !fits(block)) {
            refusal = MigrationRefusal.OUT_OF_BUDGET;
        }
        boolean marks = order.method() == MigrationMethod.BOTH && refusal == MigrationRefusal.OUT_OF_BUDGET
                && ofMark(block) == null;
        if (refusal != null && order.method() != MigrationMethod.MARK) {
            stays(block, refusal);
        }
        if (refusal != null && !marks) {
            refuse(block, refusal);
        } else if (marks || order.method() == MigrationMethod.MARK) {
            marked.add(block);
            newMarks += Marks.isMarked(n, block) ? 0 : 1;
        } else {
            copied.add(block);
        }
    }

    /** A leased block, or one without a slot, stays on the source, and so do all blocks that it extends: the lease is theirs as well. */
    private void stays(BlockName block, MigrationRefusal refusal) {
        PlacementRow row = order.retention() == Retention.DELETE_SOURCE ? find(block) : null;
        boolean leased = refusal == MigrationRefusal.SOURCE_LEASED && row != null && row.state() != PlacementState.LEAVING;
        if (row != null && (leased || refusal == MigrationRefusal.OUT_OF_BUDGET)) {
            extendedByWhatStays.putIfAbsent(new BlockName(block.namespace(), row.parent()), refusal);
        }
    }

    /** Why the block may not be marked, also when the node has as many marks as it may have; null when it may. */
    private @Nullable MigrationRefusal ofMark(BlockName block) {
        MigrationRefusal refusal = Admission.ofMark(n, block.namespace(), block.key(), order.target());
        boolean full = ShareRows.orNothing(n.row().shares()).marks() + newMarks >= MigrationLimits.DEFAULTS.marksPerNode();
        return refusal == null && full && !Marks.isMarked(n, block) ? MigrationRefusal.OUT_OF_BUDGET : refusal;
    }

    private void refuse(BlockName block, MigrationRefusal reason) {
        refused.add(block);
        reasons.add(reason);
    }

    /** Takes one slot of the budgets, when there is one. */
    private boolean fits(BlockName block) {
        String group = Groups.of(n.policy(), block.namespace());
        if (copied.size() >= n.limits().blocksPerDecision() || budget.free(group, order.source(), order.target()) < 1) {
            return false;
        }
        budget.take(group, order.source(), order.target(), 1);
        return true;
    }

    private MoveCause cause(String namespace, Retention retention) {
        return new MoveCause(MoveTrigger.OPERATOR, migration, Groups.of(n.policy(), namespace), 0, 0, n.clock().policyVersion(), retention);
    }

    /** The deeper first, so that what is to leave leaves from the end of its prefix. */
    private void copy() {
        Map<PagedBlock, String> copies = new LinkedHashMap<>();
        for (BlockName name : copied) {
            PlacementRow row = row(name);
            copies.put(new PagedBlock(new Block(row.index(), name.key(), row.parent()), row.page(), row.generation(), row.crc32c()),
                    name.namespace());
        }
        copies.entrySet().stream()
                .sorted(Comparator.comparingInt((Map.Entry<PagedBlock, String> copy) -> copy.getKey().block().index()).reversed())
                .forEach(copy -> Migrations.copy(n, cause(copy.getValue(), order.retention()), order.source(), order.target(), copy.getValue(),
                        Bytes.EMPTY, List.of(copy.getKey())));
    }

    private @Nullable PlacementRow find(BlockName name) {
        return n.placement(Namespaces.digest(name.namespace()), order.source(), name.key());
    }

    private PlacementRow row(BlockName name) {
        PlacementRow row = find(name);
        if (row == null) {
            throw new IllegalStateException("A block was admitted that is not there: " + name);
        }
        return row;
    }

    private void mark() {
        Map<String, List<Bytes>> keys = new LinkedHashMap<>();
        marked.forEach(name -> keys.computeIfAbsent(name.namespace(), k -> new ArrayList<>()).add(name.key()));
        boolean fallback = order.method() == MigrationMethod.BOTH;
        keys.forEach((namespace, blocks) -> Marks.add(n, new Marks.Wish(order.source(), order.target(),
                fallback ? MigrationMethod.COPY : MigrationMethod.UNKNOWN, order.markTimeoutMs(), cause(namespace, Retention.UNKNOWN)), namespace,
                        blocks));
    }

    private void reject() {
        Map<String, Map<MigrationRefusal, List<Bytes>>> namespaces = new LinkedHashMap<>();
        for (int i = 0; i < refused.size(); i++) {
            namespaces.computeIfAbsent(refused.get(i).namespace(), k -> new LinkedHashMap<>())
                    .computeIfAbsent(reasons.get(i), k -> new ArrayList<>()).add(refused.get(i).key());
        }
        namespaces.forEach((namespace, why) -> {
            List<MigrationRefused> all = new ArrayList<>();
            why.forEach((reason, keys) -> all.add(new MigrationRefused(reason, keys)));
            n.fact(new MigrationRejected(n.envelope(), order.source(), order.target(), namespace, all, cause(namespace, order.retention())));
        });
    }
}
