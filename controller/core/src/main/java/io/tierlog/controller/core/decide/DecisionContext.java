/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.CoreVersionMismatch;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.api.Outgoing;
import io.tierlog.controller.core.policy.PolicyWarning;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.AppliedInput;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.TickCounter;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputApplied;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.NodeRow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The state of one decision: its input, the tables that it may read, and its results so far.
 *
 * <p>It reads the tables and writes nothing but its own lists, until {@link #evolve} applies the facts that are new. Confined to one thread
 * and one input.
 */
public final class DecisionContext {
    /** Of the reason of a refusal, in characters. */
    private static final int LONGEST_DETAIL = 8_192;

    private final Tables tables;
    private final Limits limits;
    private final int partition;
    private final long offset;

    private final String clockAggregate;
    private final String sender;
    private final String cause;
    private final long sequence;
    private final int crc32c;
    private final @Nullable String traceContext;
    private final List<Fact> facts = new ArrayList<>();
    private final List<Command> commands = new ArrayList<>();
    private final List<Outgoing> messages = new ArrayList<>();
    private final Map<String, NodeContext> nodes = new LinkedHashMap<>();
    private final BiConsumer<Tables, Fact> evolution;
    private ClockRow clock;
    private Outcome outcome = Outcome.APPLIED;
    private int ordinal;
    private int evolved;
    private int sent;

    /**
     * What holds for all decisions of a controller.
     *
     * @param applicationId recorded when a partition is opened
     * @param coreVersion what partitions are opened with and raised to, {@link CoreVersion#OLDEST} to {@link CoreVersion#CURRENT}
     */
    public record Settings(Limits limits, String applicationId, int coreVersion) {}

    private DecisionContext(Tables tables, Settings settings, Input input, @Nullable Event event, BiConsumer<Tables, Fact> evolution) {
        this.evolution = evolution;
        this.tables = tables;
        this.limits = settings.limits();
        this.partition = input.partition();
        this.offset = input.offset();
        this.clockAggregate = Aggregates.clock(partition);
        this.sender = Aggregates.controller(partition);
        this.cause = (event == null ? clockAggregate : event.envelope().aggregate()) + "@" + offset;
        this.sequence = event == null ? 0 : event.envelope().sequence();
        this.crc32c = input instanceof Input.Recorded recorded ? recorded.crc32c() : 0;
        this.traceContext = event == null ? null : event.envelope().traceContext();
        ClockRow row = tables.get(Rows.CLOCK, new RowKey.Aggregate(clockAggregate));
        if (row == null) {
            this.clock = ClockRows.opened(settings.coreVersion());
            fact(new PartitionOpened(envelope(clockAggregate, 0), settings.coreVersion(), settings.applicationId()));
        } else if (row.coreVersion() > settings.coreVersion()) {
            throw new CoreVersionMismatch(partition, row.coreVersion(), settings.coreVersion());
        } else if (row.coreVersion() < settings.coreVersion()) {
            this.clock = ClockRows.raised(row, settings.coreVersion());
            fact(new CoreVersionRaised(envelope(clockAggregate, 0), settings.coreVersion()));
        } else {
            this.clock = row;
        }
    }

    /** A decision about {@code input}; the first one of a partition opens it. */
    public static DecisionContext of(Tables tables, Limits limits, Input input, BiConsumer<Tables, Fact> evolution) {
        return of(tables, new Settings(limits, "", CoreVersion.CURRENT), input, evolution);
    }

    /** The same with an application id. */
    public static DecisionContext of(Tables tables, Settings settings, Input input, BiConsumer<Tables, Fact> evolution) {
        Event event = input instanceof Input.Recorded recorded ? recorded.event() : null;
        return new DecisionContext(tables, settings, input, event, evolution);
    }

    public Tables tables() {
        return tables;
    }

    public Limits limits() {
        return limits;
    }

    /** Partition of the input. */
    public int partition() {
        return partition;
    }

    /** Offset of the input. */
    public long offset() {
        return offset;
    }

    /** Log time and policy. */
    public ClockRow clock() {
        return clock;
    }

    /** The policy in force. */
    public Policy policy() {
        return clock.policy();
    }

    /** How many more placements the partition may have; what is on its way to it counts already. */
    public long freePlacements() {
        return Math.max(0, limits.placements() - clock.placements());
    }

    /** Whether the partition has no space for so many blocks more; records that then. */
    public boolean refusesFull(Envelope about, Event input, int blocks) {
        if (blocks <= freePlacements()) {
            return false;
        }
        refuse(about, input, RefusalReason.PARTITION_FULL, "Partition " + partition + " has " + clock.placements() + " of at most "
                + limits.placements() + " placements: no space for " + blocks + " more");
        return true;
    }

    /** Records that log time has moved, so that later facts carry the new time. */
    public void timeIs(long logTimeMs, long ticks, @Nullable TickCounter counter) {
        clock = ClockRows.at(clock, logTimeMs, ticks, counter);
    }

    /** Aggregate of this partition's clock. */
    public String clockAggregate() {
        return clockAggregate;
    }

    /** Log time after {@code ms} more milliseconds, which may not overflow. */
    public long in(long ms) {
        long sum = clock.logTimeMs() + ms;
        return sum < clock.logTimeMs() ? Long.MAX_VALUE : sum;
    }

    /** Envelope of facts and commands about {@code aggregate}; the shell stamps what is left open. */
    public Envelope envelope(String aggregate, long incarnation) {
        return new Envelope(aggregate, sender, incarnation, 0, 0, clock.logTimeMs(), cause, traceContext, null);
    }

    /** The next id of something that this decision makes for {@code aggregate}. */
    public String nextId(String aggregate) {
        return aggregate + "@" + offset + "." + ordinal++;
    }

    public void fact(Fact fact) {
        facts.add(fact);
    }

    /**
     * Records that the input, an agent's event, was taken: with the last fact about its node, so that most events need no record for it alone.
     *
     * @param about the node
     * @param commandSequence number of the last command to the node
     */
    public void take(Envelope about, long commandSequence) {
        AppliedInput taken = new AppliedInput(sequence, clock.ticks(), commandSequence, crc32c);
        int last = facts.size() - 1;
        if (last >= evolved && facts.get(last).envelope().aggregate().equals(about.aggregate())) {
            Fact fact = facts.get(last);
            facts.set(last, fact.withEnvelope(with(fact.envelope(), taken)));
        } else {
            facts.add(new InputApplied(with(about, taken)));
        }
    }

    private static Envelope with(Envelope e, AppliedInput taken) {
        return new Envelope(e.aggregate(), e.sender(), e.incarnation(), e.sequence(), e.previousCrc32c(), e.timeMs(), e.cause(),
                e.traceContext(), taken, e.repeats());
    }

    /** Envelope of a message from an aggregate to another one, the {@code sequence}-th of its kind between the two. */
    public Envelope messageEnvelope(String to, String from, long sequence) {
        return new Envelope(to, from, 0, sequence, 0, clock.logTimeMs(), cause, traceContext, null);
    }

    public void command(Command command) {
        commands.add(command);
    }

    /** Gives the commands that are new since the last call to {@code receiver}. */
    public void send(Consumer<Command> receiver) {
        while (sent < commands.size()) {
            receiver.accept(commands.get(sent++));
        }
    }

    /** Sends a message to another aggregate, which the message's envelope names. */
    public void message(Message message) {
        message(Outgoing.BY_NAME, message);
    }

    public void message(int receiver, Message message) {
        messages.add(new Outgoing(receiver, message));
    }

    public void outcome(Outcome decided) {
        outcome = decided;
    }

    /** Records that the input was understood and changes nothing. */
    public void refuse(Envelope about, Event input, RefusalReason reason, String detail) {
        // It may have a text of the input, which must not make a record too long.
        boolean cut = detail.length() > LONGEST_DETAIL && clock.coreVersion() > CoreVersion.UNBOUNDED_NAMES;
        String shown = cut ? detail.substring(0, end(detail)) + "..." : detail;
        facts.add(new InputRefused(about, input.getClass().getSimpleName(), reason, shown));
        outcome = new Outcome.Refused(reason, shown);
    }

    /** Where a text is cut: not between the two halves of a character. */
    private static int end(String text) {
        return Character.isHighSurrogate(text.charAt(LONGEST_DETAIL - 1)) ? LONGEST_DETAIL - 1 : LONGEST_DETAIL;
    }

    /** The node's row and this decision's count of commands to it; null when the node is not registered. */
    public @Nullable NodeContext node(String aggregate) {
        NodeContext known = nodes.get(aggregate);
        if (known != null) {
            return known;
        }
        NodeRow row = tables.get(Rows.NODES, new RowKey.Aggregate(aggregate));
        if (row == null) {
            return null;
        }
        NodeContext node = new NodeContext(this, aggregate, row);
        nodes.put(aggregate, node);
        return node;
    }

    /** Applies the facts that were not applied yet, so that what is decided next sees them. */
    public void evolve() {
        while (evolved < facts.size()) {
            evolution.accept(tables, facts.get(evolved++));
        }
        for (NodeContext node : nodes.values()) {
            node.refresh();
        }
        ClockRow row = tables.get(Rows.CLOCK, new RowKey.Aggregate(clockAggregate));
        if (row != null) {
            clock = row;
        }
    }

    public DecideResult decided() {
        return new DecideResult(facts, commands, messages, outcome);
    }

    /** The text of a namespace that has placements on {@code aggregate}. */
    public String namespace(String aggregate, Bytes digest) {
        var row = tables.get(Rows.NAMESPACES, new RowKey.Namespace(aggregate, digest));
        if (row == null) {
            throw new IllegalHistory("No text of namespace " + digest + " on " + aggregate);
        }
        return row.namespace();
    }

    /** The nodes of this partition, another one first at each tick, so that none is always served last. */
    public List<NodeContext> nodes() {
        List<NodeContext> members = new ArrayList<>();
        try (var scan = tables.range(Rows.MEMBERS, new RowKey.Text(clockAggregate, ""), null)) {
            while (scan.next()) {
                NodeContext n = node(scan.key().id());
                if (n == null) {
                    throw new IllegalHistory(scan.key().id() + ", a node of " + clockAggregate + ", is not known");
                }
                members.add(n);
            }
        }
        if (!members.isEmpty()) {
            Collections.rotate(members, (int) (clock.ticks() % members.size()));
        }
        return members;
    }

    /** Records a warning that a policy will probably not work as intended, for one node or for all. */
    public void warn(Envelope about, List<PolicyWarning> warnings, long version) {
        for (PolicyWarning warning : warnings) {
            fact(new ConfigWarning(about, warning.kind(), warning.group(), warning.source(), warning.target(), warning.detail(), version));
        }
    }
}
