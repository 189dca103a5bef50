/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.UndoTables;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The invariants of migration, checked without the cores: every operation of a migration that was begun has one end; what leaves a host because it is
 * elsewhere is elsewhere; no placement that the controller brings about puts a group above its quota. For one thread.
 */
final class MigrationOracle implements World.Watcher {
    private static final Set<MigrationState> ENDED = EnumSet.of(MigrationState.DONE, MigrationState.CANCELLED, MigrationState.REJECTED);

    /** With none of these, what a disk has been given is there. */
    private static final Set<FaultKind> LOSING = EnumSet.of(
            FaultKind.AGENT_CRASH_TORN, FaultKind.DISK_WRITE_LOST, FaultKind.DISK_WRITE_TORN, FaultKind.DISK_WRITE_MISDIRECTED,
            FaultKind.DISK_BIT_FLIPPED, FaultKind.DISK_BLOCK_LOST, FaultKind.DISK_LOST);

    private final Stage stage;
    private final World world;
    private final boolean keeps;
    private final Set<String> open = new LinkedHashSet<>();
    private final Set<String> ended = new LinkedHashSet<>();
    private final List<BlockName> leaving = new ArrayList<>();
    private @Nullable DropBlocks drop;
    /** For each drop that relies on the store: how many blocks the store had lost when the agent received it. */
    private final Map<String, Long> lostBefore = new LinkedHashMap<>();
    private List<Fact> facts = List.of();

    MigrationOracle(Stage stage) {
        this.stage = stage;
        this.world = stage.world;
        this.keeps = LOSING.stream().noneMatch(stage.plan::has);
    }

    // --- one end for each copy

    @Override
    public void committed(int partition, long offset, Fact fact) {
        switch (fact) {
            case MigrationSubmitted f -> submitted(f);
            case MigrationCompleted f -> completed(f);
            case MigrationRejected f -> f.refused().forEach(one -> stage.count(MigrationCount.REJECTED, one.keys().size()));
            case MarkAdded f -> stage.count(MigrationCount.MARKED, f.keys().size());
            case MarkConsumed f -> stage.count(MigrationCount.MARKS_CONSUMED, f.keys().size());
            case MarkExpired _ -> stage.count(MigrationCount.MARKS_EXPIRED);
            case MarkCleared f -> stage.count(MigrationCount.MARKS_CLEARED, f.keys().size());
            case GroupsAdvanced _ -> stage.count(MigrationCount.REGROUPED);
            case QuotaExceeded _ -> stage.count(MigrationCount.QUOTA_EXCEEDED);
            case WaterLevelCrossed f when !f.group().isEmpty() -> stage.count(MigrationCount.GROUP_LEVELS);
            case BlocksRemoved f when f.reason() == RemovalReason.MIGRATED -> stage.count(MigrationCount.SOURCES_DROPPED, f.blocks().size());
            default -> {}
        }
    }

    private void submitted(MigrationSubmitted f) {
        String operation = f.operation();
        if (f.method() != MigrationMethod.COPY || operation == null) {
            return;
        }
        require(open.add(operation) && !ended.contains(operation), "one end: " + operation + " was begun twice: " + f);
        stage.count(MigrationCount.SUBMITTED);
        stage.count(switch (f.move().trigger()) {
            case OPERATOR -> MigrationCount.BY_OPERATOR;
            case DRAIN -> MigrationCount.BY_DRAIN;
            case ROUTE, WATER_LEVEL, UNKNOWN -> MigrationCount.BY_ROUTE;
        });
    }

    private void completed(MigrationCompleted f) {
        require(f.method() == MigrationMethod.MARK || open.remove(f.operation()), "one end: " + f.operation() + " ends and is not under way: " + f);
        require(ended.add(f.operation()), "one end: " + f.operation() + " ends twice: " + f);
        if (f.method() == MigrationMethod.COPY) {
            stage.count(switch (f.state()) {
                case DONE -> MigrationCount.DONE;
                case CANCELLED -> MigrationCount.CANCELLED;
                case FENCED -> MigrationCount.FENCED;
                default -> MigrationCount.FAILED;
            });
        }
    }

    // --- what leaves a host or a disk is elsewhere

    @Override
    public void hearing(AgentProcess process, AgentInput input) {
        leaving.clear();
        if (input instanceof AgentInput.CommandReceived(DropBlocks command) && command.reliesOn() == Tier.STORE) {
            lostBefore.putIfAbsent(command.operation(), world.store().losses());
        }
        drop = keeps && input instanceof AgentInput.CommandReceived(DropBlocks command) && command.tier() == Tier.HOST
                && command.reliesOn() == Tier.DISK ? command : null;
        if (drop != null) {
            for (PagedBlock block : drop.blocks()) {
                if (process.serves(drop.namespace(), List.of(block.block().key()))) {
                    leaving.add(new BlockName(drop.namespace(), block.block().key()));
                }
            }
        }
    }

    @Override
    public void stepped(AgentProcess process) {
        DropBlocks command = drop;
        drop = null;
        if (command == null) {
            return;
        }
        for (BlockName block : leaving) {
            if (!process.serves(block.namespace(), List.of(block.key()))) {
                stage.count(MigrationCount.CHECKED_ELSEWHERE);
                require(isOnDisk(command.envelope().aggregate(), block.namespace(), block.key()),
                        "the last copy: block " + block + " left the host because the disk has it, and it has not: " + command);
            }
        }
    }

    private boolean isOnDisk(String aggregate, String namespace, Bytes key) {
        SimNode node = world.nodes().stream().filter(one -> one.aggregate().equals(aggregate)).findFirst().orElseThrow();
        return node.disk().holds(namespace, key);
    }

    /**
     * What left a host or a disk because the agent has seen it in the store was there when the command came, or later, whatever faults there are.
     * What the store has lost since is no mistake.
     */
    private void seenInStore(String operation, String namespace, List<BlockResult> results) {
        for (BlockResult result : results) {
            boolean taken = result.status() == BlockStatus.GONE && result.reason() == OperationReason.COMPLETED;
            if (!taken || result.source() != Tier.STORE) {
                continue;
            }
            Bytes key = result.block().key();
            Long losses = lostBefore.get(operation);
            stage.count(MigrationCount.CHECKED_ELSEWHERE);
            boolean there = world.store().holds(namespace, key);
            boolean lostSince = !there && losses != null && world.store().hasLostSince(losses, namespace, key);
            stage.count(MigrationCount.LOST_AFTER_SEEN, lostSince ? 1 : 0);
            require(there || lostSince, "the last copy: block " + key + " left by " + operation + " because the store has it, and it has not");
        }
    }

    // --- quotas

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        facts = decided.facts();
        if (event instanceof DropDone done) {
            seenInStore(done.operation(), done.namespace(), done.blocks());
        } else if (event instanceof OperationCancelled cancelled) {
            seenInStore(cancelled.operation(), cancelled.namespace(), cancelled.blocks());
        }
        for (Fact fact : facts) {
            require(!(fact instanceof BlocksRemoved f && f.reason() == RemovalReason.MIGRATED) || f.lastCopiesLost() == 0,
                    "the last copy: a migration took the last serving copy: " + fact);
        }
    }

    @Override
    public void touched(int partition, HeapTables state, List<UndoTables.Touched<?, ?>> rows) {
        for (Fact fact : facts) {
            if (fact instanceof OperationIssued issued && issued.kind() != OperationKind.DROP && (issued.to() == Tier.HOST
                    || issued.to() == Tier.DISK)) {
                withinQuota(partition, state, issued);
            }
        }
    }

    private void withinQuota(int partition, HeapTables state, OperationIssued issued) {
        ClockRow clock = state.rows(Rows.CLOCK).entrySet().stream().filter(one -> one.getKey().aggregate().equals("clock/" + partition))
                .map(one -> one.getValue()).findFirst().orElse(null);
        NodeRow node = state.rows(Rows.NODES).entrySet().stream().filter(one -> one.getKey().aggregate().equals(issued.envelope().aggregate()))
                .map(one -> one.getValue()).findFirst().orElse(null);
        if (clock == null || node == null) {
            return;
        }
        MigrationPolicy policy = clock.policy().migration();
        GroupPolicy group = policy == null ? null : group(policy, issued.namespace());
        SharesRow shares = node.shares();
        if (group == null || shares == null || shares.groupsVersion() != clock.policyVersion()) {
            return; // while blocks are being put into other groups, counts are of neither
        }
        Long bytes = quota(group, issued.to());
        long blockBytes = node.tiers().stream().filter(tier -> tier.tier() == issued.to()).mapToLong(TierRow::blockBytes).findFirst().orElse(0);
        if (bytes == null || blockBytes <= 0) {
            return;
        }
        long used = shares.groups().stream()
                .filter(one -> one.group().equals(group.name()))
                .flatMap(one -> one.tiers().stream())
                .filter(tier -> tier.tier() == issued.to())
                .mapToLong(GroupTierRow::usedBlocks)
                .findFirst()
                .orElse(0);
        stage.count(MigrationCount.CHECKED_AGAINST_QUOTA);
        require(used <= bytes / blockBytes, "quota: group " + group.name() + " has " + used + " blocks of " + bytes / blockBytes + " on "
                + issued.to()
                + " after " + issued);
    }

    private static @Nullable GroupPolicy group(MigrationPolicy policy, String namespace) {
        return policy.groups().stream()
                .filter(group -> group.namespaces().stream().anyMatch(pattern -> namespace.matches(regex(pattern))))
                .findFirst()
                .orElse(null);
    }

    private static String regex(String glob) {
        StringBuilder regex = new StringBuilder();
        for (String part : glob.splitWithDelimiters("\\*", -1)) {
            regex.append(part.equals("*") ? ".*" : Pattern.quote(part));
        }
        return regex.toString();
    }

    private static @Nullable Long quota(GroupPolicy group, Tier tier) {
        GroupTier own = group.tiers().stream().filter(one -> one.tier() == tier).findFirst().orElse(null);
        return own == null || own.quotaBytes() == null ? group.quotaBytes() : own.quotaBytes();
    }

    // --- at rest

    /** Nothing of migration is left that should not be. */
    void atRest() {
        HeapTables state = world.state();
        require(open.isEmpty(), "one end: copies of migrations never ended: " + open);
        state.rows(Rows.MIGRATIONS).forEach((key, row) ->
                require(ENDED.contains(row.state()), "liveness, migration: " + key + " never ended: " + row));
        state.rows(Rows.TASKS).forEach((key, row) ->
                require(row.operations().isEmpty() && row.endedMs() > 0, "liveness, task: " + key + " never ended: " + row));
        long logMs = state.rows(Rows.CLOCK).values().stream().mapToLong(ClockRow::logTimeMs).min().orElse(0);
        state.rows(Rows.MARKS).forEach((key, row) ->
                require(row.endMs() > logMs && row.operation() == null, "liveness, mark: " + key + " is over, or still being written by: " + row));
        state.rows(Rows.NODES).forEach((key, row) -> {
            SharesRow shares = row.shares();
            if (shares != null && row.alive()) {
                require(shares.routes().stream().allMatch(route -> route.operations() == 0 && route.blocks() == 0),
                        "liveness, budget: " + key + " has unused slots: " + shares.routes());
                require(!shares.draining() && shares.drainingInstances().isEmpty(), "liveness, drain: " + key + " still drains: " + shares);
            }
        });
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new SimulationFailure("migration, " + otherwise);
        }
    }
}
