/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.DrainAdvanced;
import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.EngineJoined;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.EngineViewNoted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.decision.InputApplied;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.MigrationStopping;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.decision.NamespacesExpired;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRecalled;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.decision.SealedNoted;
import io.tierlog.schemas.decision.StoreAgentNamed;
import io.tierlog.schemas.decision.SweepAdvanced;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts facts: every reason of every closed list, operations by kind and state, blocks, and the capacity of each tier. Safe for
 * use by several threads. Trade-off: it shows the capacity of at most {@value #MAX_NODES} nodes.
 */
final class FactMetrics {
    private static final int MAX_NODES = 1_000;
    private static final String NODE = "node";
    private static final String NAMESPACE = "namespace";

    private final PrometheusRegistry registry;
    private final Counter requests;
    private final Counter operations;
    private final Counter overdue;
    private final Counter operationReasons;
    private final Counter leases;
    private final Counter placed;
    private final Counter removed;
    private final Counter lastCopies;
    private final Counter refused;
    private final Counter skipped;
    private final Counter moved;
    private final Counter promotions;
    private final Counter promotionBlocks;
    private final Counter promotionReplies;
    private final Counter promotionsCancelled;
    private final Gauge tierBlocks;
    private final Gauge tierCapacity;
    private final Gauge tierPins;
    private final Gauge logTime;
    private final Counter peerReadsGranted;
    private final Counter peerReadsRefused;
    private final Counter peerReadsRecalled;
    private final Counter engineViewsLost;
    private final Counter peerReadsClosed;
    private final Counter expired;
    private final Counter peerBytes;
    private final Counter deletions;
    private final Counter deleted;
    private final MigrationMetrics migrations;
    private final Map<String, Set<Tier>> nodes = new ConcurrentHashMap<>();

    /** The six states of a page, as heartbeats report them. */
    private static final String[] PAGE_STATES = {"free", "reserved", "filling", "serving", "leaving", "quarantined"};

    FactMetrics(PrometheusRegistry registry) {
        this.registry = registry;
        requests = counter("tierlog_request_transitions_total", "Requests that changed their state, by reason", "reason");
        operations = counter("tierlog_operations_total", "Operations that entered a state, by kind", "kind", "state");
        overdue = counter("tierlog_operations_overdue_total", "Cancels sent because an operation was late");
        operationReasons = counter("tierlog_operations_ended_total", "Operations that ended, by reason", "reason");
        leases = counter("tierlog_leases_ended_total", "Leases that ended, by reason", "reason");
        placed = counter("tierlog_blocks_placed_total", "Copies of blocks that began to serve, by tier", "tier");
        removed = counter("tierlog_blocks_removed_total", "Copies of blocks that serve no longer, by tier and reason", "tier", "reason");
        lastCopies = counter("tierlog_last_copies_lost_total", "Blocks that left and were not known to be held anywhere else");
        refused = counter("tierlog_inputs_refused_total", "Inputs that were understood and changed nothing, by reason", "reason");
        skipped = counter("tierlog_inputs_skipped_total", "Records that were no input, by reason", "reason");
        moved = counter("tierlog_moved_bytes_total", "Bytes moved by operations that ended, by kind", "kind");
        promotions = counter(
                "tierlog_promotions_total", "Blocks promoted from disk to host, by what became of them, and why", "outcome", "reason");
        promotionBlocks = counter(
                "tierlog_promotion_blocks_total",
                "Blocks of promotions that were issued, that they have brought (DONE), and that they have not (FAILED)",
                "state");
        promotionReplies = counter("tierlog_promotion_replies_total", "Blocks named by probes, by the controller's reply", "reply");
        promotionsCancelled = counter("tierlog_promotions_dropped_total", "Blocks that waited for a promotion and were dropped from the queue");
        tierBlocks = gauge("tierlog_tier_blocks", "Pages of a tier as the agent reported them, by state", "node", "tier", "state");
        tierCapacity = gauge("tierlog_tier_capacity_blocks", "Pages of a tier", "node", "tier");
        tierPins = gauge("tierlog_tier_pins", "Named pins on pages of a tier", "node", "tier");
        logTime = gauge("tierlog_log_time_seconds", "Log time of a partition, seconds since 1970", "partition");
        peerReadsGranted = counter("tierlog_peer_reads_granted_total", "Reads that nodes have granted to other nodes");
        peerReadsRefused = counter("tierlog_peer_reads_refused_total", "Reads that nodes have not granted, by reason", "reason");
        engineViewsLost = counter("tierlog_engine_views_lost_total", "Times that a bridge lost events of an engine for good");
        peerReadsRecalled = counter("tierlog_peer_reads_recalled_total", "Peer read leases whose readers stopped before the end");
        peerReadsClosed = counter("tierlog_peer_reads_closed_total", "Grants that have ended, by reason", "reason");
        peerBytes = counter("tierlog_peer_sent_bytes_total", "Bytes that nodes have sent to other nodes");
        expired = counter("tierlog_rows_expired_total", "Rows of nodes and namespaces that nothing needed any more, by what they were of", "of");
        deletions = counter("tierlog_store_deletions_total", "Deletions from the store that have ended, by reason", "reason");
        deleted = counter("tierlog_store_deletion_objects_total",
                "Objects of those deletions, by whether they are gone (DONE) or stay (FAILED)", "state");
        migrations = new MigrationMetrics(registry);
        initialise();
    }

    void observe(Fact decision) {
        switch (decision) {
            case RequestAdmitted _ -> requests.labelValues(RequestReason.SUBMITTED.name()).inc();
            case RequestTransitioned fact -> requests.labelValues(fact.reason().name()).inc();
            case OperationIssued fact -> {
                operation(fact.kind(), OperationState.ISSUED);
                promoted(fact.kind(), OperationState.ISSUED, fact.blocks().size());
            }
            case OperationOverdue _ -> overdue.inc();
            case OperationEnded fact -> {
                ended(fact.kind(), fact.state(), fact.reason(), fact.movedBytes());
                promoted(fact.kind(), OperationState.DONE, fact.doneBlocks());
                promoted(fact.kind(), OperationState.FAILED, fact.failedBlocks());
            }
            case OrphanAdopted fact -> {
                operation(fact.kind(), OperationState.ISSUED);
                ended(fact.kind(), fact.state(), OperationReason.REPORTED_BY_AGENT, fact.movedBytes());
            }
            case LeaseEnded fact -> leases.labelValues(fact.reason().name()).inc();
            case BlocksPlaced fact -> placed.labelValues(fact.tier().name()).inc(fact.blocks().size());
            case BlocksRemoved fact -> {
                removed.labelValues(fact.tier().name(), fact.reason().name()).inc(fact.blocks().size());
                lastCopies.inc(fact.lastCopiesLost());
            }
            case InputRefused fact -> refused.labelValues(fact.reason().name()).inc();
            case AgentRefused fact -> refused.labelValues(fact.reason().name()).inc();
            case PolicyRefused fact -> refused.labelValues(fact.reason().name()).inc();
            case InputSkipped fact -> skipped.labelValues(fact.reason().name()).inc();
            case NodeSeen fact -> fact.usage().forEach(usage -> capacity(fact.envelope().aggregate(), usage));
            case NodeEnded fact -> forget(fact.envelope().aggregate());
            case NodeExpired _ -> expired.labelValues(NODE).inc();
            case NamespacesExpired fact -> expired.labelValues(NAMESPACE).inc(fact.namespaces().size());
            case TimeAdvanced fact -> logTime.labelValues(partition(fact)).set(fact.logTimeMs() / 1_000.0);
            case MigrationSubmitted fact -> migrations.submitted(fact);
            case MigrationRejected fact -> migrations.rejected(fact);
            case MigrationCompleted fact -> migrations.completed(fact);
            case MarkAdded fact -> migrations.marks("added", fact.keys().size());
            case MarkConsumed fact -> migrations.marks("consumed", fact.keys().size());
            case MarkExpired _ -> migrations.marks("expired", 1);
            case MarkCleared fact -> migrations.marks("cleared", fact.keys().size());
            case QuotaExceeded fact -> migrations.quotaExceeded(fact);
            case ConfigWarning fact -> migrations.warned(fact);
            case PromotionAnswered fact ->
                fact.answers().forEach(answer -> promotionReplies.labelValues(answer.reply().name()).inc(answer.blocks().size()));
            case PromotionsPaused fact -> promotionsCancelled.inc(fact.cancelledBlocks());
            case PromotionSettled fact -> promotions.labelValues(fact.outcome().name(), fact.reason().name()).inc(fact.blocks().size());
            case PeerReadGranted _ -> peerReadsGranted.inc();
            case PeerReadRefused fact -> peerReadsRefused.labelValues(fact.reason().name()).inc();
            case PeerReadRecalled _ -> peerReadsRecalled.inc();
            case PeerReadClosed fact -> {
                peerReadsClosed.labelValues(fact.reason().name()).inc();
                peerBytes.inc(Math.max(0, fact.sentBytes()));
            }
            case DeletionEnded fact -> {
                deletions.labelValues(fact.reason().name()).inc();
                deleted.labelValues(OperationState.DONE.name()).inc(fact.deletedBlocks());
                deleted.labelValues(OperationState.FAILED.name()).inc(fact.keptBlocks());
            }
            case EngineViewNoted fact -> engineViewsLost.inc(fact.unknownNamespaces().isEmpty() ? 0 : 1);
            case GroupsAdvanced _, DrainChanged _, DrainAdvanced _, NodeDrained _, MigrationOpened _, MigrationDeclined _, MigrationTaken _,
                    MigrationStopping _,
                    MigrationNoted _, MigrationChanged _, PartitionOpened _, CoreVersionRaised _,
                    InputApplied _, SweepAdvanced _, AgentAccepted _, EngineJoined _,
                            EngineLeft _, SealedNoted _, BlocksTouched _, LeaseRequested _,
                    LeaseHeld _, BlocksBackedUp _, BlocksUnconfirmed _, WaterLevelCrossed _, WaterLevelRelieved _, PolicyVersioned _,
                    PolicyAdopted _, StoreAgentNamed _, DeletionIssued _ -> {
                // Counted by type.
            }
        }
    }

    private void operation(OperationKind kind, OperationState state) {
        operations.labelValues(kind.name(), state.name()).inc();
    }

    private void ended(OperationKind kind, OperationState state, OperationReason reason, long bytes) {
        operation(kind, state);
        operationReasons.labelValues(reason.name()).inc();
        moved.labelValues(kind.name()).inc(Math.max(0, bytes));
    }

    private void promoted(OperationKind kind, OperationState state, int blocks) {
        if (kind == OperationKind.PROMOTE) {
            promotionBlocks.labelValues(state.name()).inc(blocks);
        }
    }

    private void capacity(String node, TierUsage usage) {
        Set<Tier> tiers = nodes.get(node);
        if (tiers == null) {
            if (nodes.size() >= MAX_NODES) {
                return;
            }
            tiers = nodes.computeIfAbsent(node, _ -> ConcurrentHashMap.newKeySet());
        }
        tiers.add(usage.tier());
        String tier = usage.tier().name();
        long[] pages = {
            usage.freeBlocks(),
            usage.reservedBlocks(),
            usage.fillingBlocks(),
            usage.servingBlocks(),
            usage.leavingBlocks(),
            usage.quarantinedBlocks()
        };
        for (int i = 0; i < pages.length; i++) {
            tierBlocks.labelValues(node, tier, PAGE_STATES[i]).set((double) pages[i]);
        }
        tierCapacity.labelValues(node, tier).set((double) usage.capacityBlocks());
        tierPins.labelValues(node, tier).set((double) usage.pinCount());
    }

    private void forget(String node) {
        Set<Tier> tiers = nodes.remove(node);
        if (tiers == null) {
            return;
        }
        for (Tier tier : tiers) {
            for (String state : PAGE_STATES) {
                tierBlocks.remove(node, tier.name(), state);
            }
            tierCapacity.remove(node, tier.name());
            tierPins.remove(node, tier.name());
        }
    }

    /** The partition is another instance's: its log time would stand still here. */
    void released(int partition) {
        logTime.remove(Integer.toString(partition));
    }

    private static String partition(TimeAdvanced fact) {
        String aggregate = fact.envelope().aggregate();
        return aggregate.substring(aggregate.indexOf('/') + 1);
    }

    private void initialise() {
        expired.initLabelValues(NODE);
        expired.initLabelValues(NAMESPACE);
        labels(requests, RequestReason.values());
        labels(operationReasons, OperationReason.values());
        labels(leases, LeaseEndReason.values());
        labels(peerReadsRefused, PeerReadReason.values());
        labels(peerReadsClosed, PeerReadReason.values());
        labels(refused, RefusalReason.values());
        labels(skipped, SkipReason.values());
        labels(deletions, OperationReason.values());
        labels(deleted, new OperationState[] {OperationState.DONE, OperationState.FAILED});
        labels(placed, Tier.values());
        labels(moved, OperationKind.values());
        for (PromotionOutcome outcome : PromotionOutcome.values()) {
            if (outcome != PromotionOutcome.FAILED) {
                promotions.initLabelValues(outcome.name(), OperationReason.COMPLETED.name());
            }
        }
        for (OperationReason reason : OperationReason.values()) {
            promotions.initLabelValues(PromotionOutcome.FAILED.name(), reason.name());
        }
        labels(promotionBlocks, new OperationState[] {OperationState.ISSUED, OperationState.DONE, OperationState.FAILED});
        labels(promotionReplies, PromotionReply.values());
        for (OperationKind kind : OperationKind.values()) {
            for (OperationState state : OperationState.values()) {
                operations.initLabelValues(kind.name(), state.name());
            }
        }
        for (Tier tier : Tier.values()) {
            for (RemovalReason reason : RemovalReason.values()) {
                removed.initLabelValues(tier.name(), reason.name());
            }
        }
    }

    private static void labels(Counter counter, Enum<?>[] symbols) {
        for (Enum<?> symbol : symbols) {
            counter.initLabelValues(symbol.name());
        }
    }

    private Counter counter(String name, String help, String... labels) {
        return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    private Gauge gauge(String name, String help, String... labels) {
        return Gauge.builder().name(name).help(help).labelNames(labels).register(registry);
    }
}
