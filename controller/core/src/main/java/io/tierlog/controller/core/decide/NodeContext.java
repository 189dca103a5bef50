/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.PolicyWarning;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TaskRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One node as a decision sees it: its rows, its envelope, the number of its next command. Confined to its {@link DecisionContext}. */
public final class NodeContext {
    private final DecisionContext d;
    private final String aggregate;
    private NodeRow row;
    private Envelope envelope;
    private long commandSequence;
    private final Map<String, TaskRow> tasks = new LinkedHashMap<>();
    /** COPY operations that have ended with this decision and whose sources are to be dropped. */
    private final List<PendingDrop> pendingDrops = new ArrayList<>();
    /** Leases of promotions of which something was used, or has gone, with this decision. */
    private final Set<String> releasableLeases = new LinkedHashSet<>();
    /** Tiers and groups from which watermark eviction removes blocks with this decision. */
    private final Set<Relieved> relieved = new LinkedHashSet<>();

    /** Watermark eviction of a tier, or of one group's blocks there; an empty group means the whole tier. */
    private record Relieved(Tier tier, String group) {}

    NodeContext(DecisionContext d, String aggregate, NodeRow row) {
        this.d = d;
        this.aggregate = aggregate;
        this.row = row;
        this.envelope = d.envelope(aggregate, row.incarnation());
        this.commandSequence = row.commandSequence();
    }

    /** The node as the tables have it. */
    public NodeRow row() {
        return row;
    }

    /** Envelope for facts about the node and commands to it. */
    public Envelope envelope() {
        return envelope;
    }

    /** Number of the last command to the node. */
    public long commandSequence() {
        return commandSequence;
    }

    /** Its name. */
    public String name() {
        return aggregate.substring(Aggregates.NODE.length());
    }

    /** The node's part of an operator's migration, including the changes of this decision; null when it has none. */
    public @Nullable TaskRow task(String migration) {
        TaskRow changed = tasks.get(migration);
        return changed != null ? changed : d.tables().get(Rows.TASKS, new RowKey.Text(aggregate, migration));
    }

    /** What the facts of this decision will make of a part. */
    public void taskBecomes(String migration, TaskRow row) {
        tasks.put(migration, row);
    }

    /** Records that watermark eviction removes blocks with this decision: of a tier, or of one group there; an empty group means the whole tier. */
    public void relieves(Tier tier, String group) {
        relieved.add(new Relieved(tier, group));
    }

    /** Whether watermark eviction removes blocks with this decision that may be the group's: of the whole tier, or of the group there. */
    public boolean isRelieved(Tier tier, String group) {
        return relieved.contains(new Relieved(tier, "")) || relieved.contains(new Relieved(tier, group));
    }

    void refresh() {
        tasks.clear();
        NodeRow now = d.tables().get(Rows.NODES, new RowKey.Aggregate(aggregate));
        if (now != null) {
            row = now;
            envelope = d.envelope(aggregate, now.incarnation());
            commandSequence = Math.max(commandSequence, now.commandSequence());
        }
    }

    public void fact(Fact fact) {
        d.fact(fact);
    }

    /** Header of the next command to the node. */
    public CommandHeader nextHeader() {
        return new CommandHeader(d.nextId(aggregate), ++commandSequence);
    }

    public @Nullable RequestRow request(String request) {
        return d.tables().get(Rows.REQUESTS, new RowKey.Text(aggregate, request));
    }

    public @Nullable OperationRow operation(String operation) {
        return d.tables().get(Rows.OPERATIONS, new RowKey.Text(aggregate, operation));
    }

    public @Nullable LeaseRow lease(String lease) {
        return d.tables().get(Rows.LEASES, new RowKey.Text(aggregate, lease));
    }

    /** The placement of a block on a tier if it counts: it belongs to the node's current incarnation, and is more than a stand-in. */
    public @Nullable PlacementRow placement(Bytes namespace, Tier tier, Bytes block) {
        PlacementRow copy = d.tables().get(Rows.PLACEMENTS, new RowKey.Placement(aggregate, namespace, tier, block));
        return copy != null && counts(copy, tier) ? copy : null;
    }

    /** Whether a placement belongs to the node's current incarnation, and is more than a stand-in. */
    public boolean counts(PlacementRow copy, Tier tier) {
        return NodeRows.isCurrent(row, tier, copy) && copy.state() != PlacementState.ABSENT;
    }

    /** Whether a row of that incarnation belongs to the node's current incarnation. */
    public boolean isCurrent(long incarnation) {
        return NodeRows.isCurrent(row, incarnation);
    }

    /** Use of a tier; null when the node has no such tier. */
    public @Nullable TierRow tier(Tier tier) {
        return NodeRows.tier(row, tier);
    }

    public String aggregate() {
        return aggregate;
    }

    /** COPY operations that have ended with this decision and whose sources are to be dropped; the caller may change the list. */
    public List<PendingDrop> pendingDrops() {
        return pendingDrops;
    }

    /** Leases of promotions of which something was used, or has gone, with this decision; the caller may change the set. */
    public Set<String> releasableLeases() {
        return releasableLeases;
    }

    /** Whether the node drains. */
    public boolean isDraining() {
        SharesRow shares = row.shares();
        return shares != null && shares.draining();
    }

    /** Whether the node drains, or that engine instance of it does. */
    public boolean isDraining(@Nullable String instance) {
        SharesRow shares = row.shares();
        return shares != null && (shares.draining() || (instance != null && shares.drainingInstances().contains(instance)));
    }

    // --- the decision that this is part of

    public Tables tables() {
        return d.tables();
    }

    public Limits limits() {
        return d.limits();
    }

    public Policy policy() {
        return d.policy();
    }

    public ClockRow clock() {
        return d.clock();
    }

    /** Offset of the input. */
    public long offset() {
        return d.offset();
    }

    /** How many more placements the partition may have. */
    public long freePlacements() {
        return d.freePlacements();
    }

    /** Whether the partition has no space for so many blocks more; records that then. */
    public boolean refusesFull(Event input, int blocks) {
        return d.refusesFull(envelope, input, blocks);
    }

    /** Log time after {@code ms} more milliseconds. */
    public long in(long ms) {
        return d.in(ms);
    }

    /** The next id of something that this decision makes for the node. */
    public String nextId() {
        return d.nextId(aggregate);
    }

    /** The text of a namespace that has placements on the node. */
    public String namespace(Bytes digest) {
        return d.namespace(aggregate, digest);
    }

    public void command(Command command) {
        d.command(command);
    }

    public void message(Message message) {
        d.message(message);
    }

    public Envelope messageEnvelope(String to, String from, long sequence) {
        return d.messageEnvelope(to, from, sequence);
    }

    /** Records that the input was understood and changes nothing. */
    public void refuse(Event input, RefusalReason reason, String detail) {
        d.refuse(envelope, input, reason, detail);
    }

    public void warn(List<PolicyWarning> warnings, long version) {
        d.warn(envelope, warnings, version);
    }

    /** Applies the facts that were not applied yet. */
    public void evolve() {
        d.evolve();
    }
}
