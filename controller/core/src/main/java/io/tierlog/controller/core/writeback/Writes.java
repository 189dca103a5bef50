/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.writeback;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.migration.Admission;
import io.tierlog.controller.core.migration.Marks;
import io.tierlog.controller.core.migration.Migrations;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.Move;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sealed blocks of one namespace that are to be written, each to its target: the target of its mark, or else the host, unless it is there already.
 *
 * <pre>
 *   mark, and its target        goes to
 *   serves the block            nowhere, and the mark is done with
 *   is being given the block    nowhere
 *   can take it                 the target, by a COPY from the device, also when the host has the block
 *   cannot                      as without a mark, which stays
 *   none                        the host, by a WRITE_BACK, unless it is there in any state
 * </pre>
 *
 * <p>It is one write: when blocks need the host and it has no space for them, nothing is issued at all. Blocks before them that the host lacks and
 * the device still has are written along, because a suffix without its prefix is of no use. Confined to one decision.
 */
final class Writes {
    private final NodeContext n;
    private final String namespace;
    private final Bytes digest;
    private final String group;
    private final Set<Tier> targets;
    private final int most;
    private final Set<Bytes> seen = new LinkedHashSet<>();
    private final Set<Bytes> cutOff = new LinkedHashSet<>();
    private final List<PagedBlock> host = new ArrayList<>();
    private final Map<Led, List<PagedBlock>> led = new LinkedHashMap<>();
    private final Map<Tier, List<Bytes>> there = new EnumMap<>(Tier.class);
    private final List<PagedBlock> late = new ArrayList<>();
    private int size;
    /** Blocks that the same decision brings to the host otherwise. */
    private int fetched;
    private boolean withPrefixes;
    private boolean prefixMustBeThere;

    /** What blocks have in common that one operation writes by their marks. */
    private record Led(Tier target, MigrationMethod fallbackFrom, MoveCause move) {}

    /** The effect of a mark on a block now. */
    private enum Fate {
        THERE, COMING, GOES, STAYS
    }

    Writes(NodeContext n, String namespace) {
        this.n = n;
        this.namespace = namespace;
        this.digest = Namespaces.digest(namespace);
        this.group = Groups.of(n.policy(), namespace);
        this.targets = Marks.targets(n, namespace);
        this.most = n.limits().blocksPerDecision();
    }

    /** The same write with more blocks, as many as one decision takes. */
    Writes add(List<PagedBlock> blocks) {
        for (PagedBlock block : blocks) {
            if (seen.add(block.block().key())) {
                add(block);
            }
        }
        return this;
    }

    private void add(PagedBlock block) {
        Bytes key = block.block().key();
        MarkRow mark = Marks.of(n, targets, digest, key);
        Fate fate = mark == null ? Fate.STAYS : fate(mark, key);
        boolean toHost = fate == Fate.STAYS && n.placement(digest, Tier.HOST, key) == null;
        if (toHost && !withPrefix(block)) {
            cutOff.add(key);
            return;
        }
        boolean goes = fate == Fate.GOES || toHost;
        if (goes && size == most) {
            late.add(block);
        } else if (mark != null && fate == Fate.GOES) {
            led.computeIfAbsent(new Led(mark.target(), mark.fallbackFrom(), mark.move()), l -> new ArrayList<>()).add(block);
            size++;
        } else if (goes) {
            host.add(block);
            size++;
        } else if (mark != null && fate == Fate.THERE && mark.clearing() == MarkClearing.ON_WRITE) {
            there.computeIfAbsent(mark.target(), t -> new ArrayList<>()).add(key);
        }
    }

    /** Adds what the host lacks of the blocks before this one and the device has; false where that is not to be written. */
    private boolean withPrefix(PagedBlock block) {
        List<PagedBlock> lacking = new ArrayList<>();
        Bytes parent = block.block().parent();
        for (int index = block.block().index() - 1; withPrefixes && index >= 0 && !seen.contains(parent); index--) {
            PlacementRow device = n.placement(digest, Tier.HOST, parent) == null ? n.placement(digest, Tier.DEVICE, parent) : null;
            if (device == null || device.index() != index) {
                break;
            }
            lacking.add(new PagedBlock(new Block(index, parent, device.parent()), device.page(), device.generation(), 0));
            parent = device.parent();
        }
        if (cutOff.contains(block.block().parent()) || (prefixMustBeThere && !lacking.isEmpty())) {
            return false;
        }
        add(lacking.reversed());
        return true;
    }

    private Fate fate(MarkRow mark, Bytes key) {
        if (mark.operation() != null) {
            return Fate.COMING;
        }
        Tier target = mark.target();
        if (target == Tier.STORE) {
            return isStored(key) ? Fate.THERE : Fate.GOES;
        }
        PlacementRow copy = n.placement(digest, target, key);
        if (copy != null) {
            return PlacementRows.isServed(copy.state()) ? Fate.THERE : copy.state() == PlacementState.WRITING ? Fate.COMING : Fate.STAYS;
        }
        return Admission.isAvailable(n, target) && Quotas.free(n, group, target) > count(target) ? Fate.GOES : Fate.STAYS;
    }

    private boolean isStored(Bytes key) {
        for (Tier tier : List.of(Tier.HOST, Tier.DISK)) {
            PlacementRow copy = n.placement(digest, tier, key);
            if (copy != null && copy.stored()) {
                return true;
            }
        }
        return false;
    }

    private long count(Tier target) {
        long count = 0;
        for (Map.Entry<Led, List<PagedBlock>> entry : led.entrySet()) {
            count += entry.getKey().target() == target ? entry.getValue().size() : 0;
        }
        return count;
    }

    /** Whether nothing is to be written so far. */
    boolean isEmpty() {
        return size == 0;
    }

    /** Whether the decision is at its limit of blocks. */
    boolean isFull() {
        return size == most;
    }

    /** Those that go to the host. */
    List<PagedBlock> toHost() {
        return host;
    }

    /** Those that were to be written and are more than one decision takes. */
    List<PagedBlock> late() {
        return late;
    }

    /** Issues the write; false when there is nothing to write, no request to write for, or not enough space for all that need the host. */
    boolean issue(Operations.@Nullable Purpose purpose) {
        String request = purpose == null ? null : purpose.request();
        if (purpose == null || request == null || !hostTakes()) {
            return false;
        }
        there.forEach((target, keys) -> n.fact(new MarkConsumed(n.envelope(), target, namespace, keys, "")));
        // Copies first: at the end of a request, a write-back releases every page that it does not name.
        led.forEach((by, blocks) -> Migrations.issue(n, new Move(OperationKind.COPY, Tier.DEVICE, by.target()), by.move(), purpose, blocks));
        if (!host.isEmpty()) {
            writeBack(purpose, request);
        }
        return !isEmpty();
    }

    /** Whether the host can take what needs it; records when it cannot. */
    private boolean hostTakes() {
        if (host.isEmpty()) {
            return true;
        }
        TierRow tier = n.tier(Tier.HOST);
        if (tier == null || Quotas.capacity(n, tier) == 0) {
            Quotas.exceeded(n, OperationKind.WRITE_BACK, Tier.HOST, group, namespace, host.size());
            return false;
        }
        if (host.size() + fetched <= Quotas.free(n, group, Tier.HOST)) {
            return true;
        }
        Quotas.exceeded(n, OperationKind.WRITE_BACK, Tier.HOST, group, namespace, host.size());
        return false;
    }

    /** Counts blocks of the namespace that the same decision fetches to the host: they take of the quota, too. */
    Writes beside(int blocks) {
        fetched = blocks;
        return this;
    }

    /** Whether blocks before the named ones are written along: only where the engine keeps the pages that its attempts reuse. */
    Writes withPrefixes(boolean with) {
        withPrefixes = with;
        return this;
    }

    /** After a write that has failed: what extends it is not written. */
    Writes prefixMustBeThere(boolean must) {
        prefixMustBeThere = must;
        return this;
    }

    private void writeBack(Operations.Purpose purpose, String request) {
        Operations.Issued issued = Operations.issue(n, OperationKind.WRITE_BACK, Tier.DEVICE, purpose, Blocks.of(host));
        n.command(new WriteBackBlocks(n.envelope(), issued.header(), issued.operation(), request, purpose.attempt(), namespace, purpose.root(),
                List.copyOf(host), n.policy().leaseMs()));
    }
}
