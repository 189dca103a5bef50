/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.LogSummary.Part;
import io.tierlog.ops.audit.stats.OperationCounts;
import io.tierlog.ops.audit.stats.RequestJoin;
import io.tierlog.ops.dashboard.model.DrainRow;
import io.tierlog.ops.dashboard.model.History;
import io.tierlog.ops.dashboard.model.MigrationRow;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.ops.dashboard.model.OperationRow;
import io.tierlog.ops.dashboard.model.PolicyAnswer;
import io.tierlog.ops.dashboard.model.PolicyRow;
import io.tierlog.ops.dashboard.model.PrefixRow;
import io.tierlog.ops.dashboard.model.Removal;
import io.tierlog.ops.dashboard.model.RequestRow;
import io.tierlog.ops.dashboard.model.Window;
import io.tierlog.ops.dashboard.model.WriterRow;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One partition of the log as the pages show it. A restore from the rows that it gave is equal to the fold that gave them, at any record.
 *
 * <p>The joins and definitions are those of the audit's statistics ({@link RequestJoin}, {@link OperationCounts}), so the totals are those of
 * {@code audit stats}. The three topics may come in any order. {@code atMs} is the timestamp of a record, by the clock of its writer.
 * Everything is bounded by {@link FoldLimits}. Not thread-safe.
 */
public final class PartitionFold implements RequestJoin.Findings {
    private static final char WINDOW = 'w';
    private static final char TOTAL = 't';
    private static final char ATTEMPT = 'a';
    private static final char FETCH = 'f';
    private static final char REQUEST = 'r';
    private static final char POLICY = 'p';
    private static final char PREFIX = 'x';
    private static final char WRITER = 's';

    private final FoldLimits limits;
    private final Rows rows = new Rows();
    private final RequestJoin join = new RequestJoin(this);
    private final NavigableMap<Long, Window> windows = new TreeMap<>();
    private final NodeFold nodes;
    private final OperationFold operations;
    private final OperatorFold operator;
    private final Recent<RequestRow> requests;
    private final Recent<PrefixRow> prefixes;
    private final Recent<WriterRow> writers;
    private Window total = new Window(0);
    private @Nullable PolicyRow policy;
    private long lastMs;
    private long version;

    /**
     * How far the fold is.
     *
     * @param lastMs time of the latest fact, milliseconds since 1970; events and commands do not move it, since the clock of one agent that is ahead
     *     would leave every other node without recent numbers
     * @param version how many records changed it in this process
     */
    public record Seen(long lastMs, long version) {}

    /** An empty fold. */
    public PartitionFold(FoldLimits limits) {
        this.limits = limits;
        nodes = new NodeFold(limits, rows);
        operations = new OperationFold(limits, rows);
        operator = new OperatorFold(limits, rows);
        requests = new Recent<>(REQUEST, limits.requests(), rows, row -> id(row.node(), row.request(), row.attempt()));
        prefixes = new Recent<>(PREFIX, limits.requests(), rows, PrefixRow::id);
        writers = new Recent<>(WRITER, limits.requests(), rows, WriterRow::sender);
    }

    /** The fold that gave these rows. */
    public static PartitionFold restored(FoldLimits limits, Iterable<Row> kept) {
        PartitionFold fold = new PartitionFold(limits);
        Map<Character, List<byte[]>> kinds = Rows.byKind(kept);
        decoded(kinds, WINDOW, Window.class).forEach(window -> fold.windows.put(window.atMs(), window));
        decoded(kinds, TOTAL, Total.class).forEach(fold::restore);
        decoded(kinds, POLICY, PolicyRow.class).forEach(row -> fold.policy = row);
        decoded(kinds, REQUEST, RequestRow.class).sorted(Comparator.comparingLong(RequestRow::submittedMs)).forEach(fold.requests::restore);
        decoded(kinds, PREFIX, PrefixRow.class).sorted(Comparator.comparingLong(PrefixRow::lastMs)).forEach(fold.prefixes::restore);
        decoded(kinds, WRITER, WriterRow.class).sorted(Comparator.comparingLong(WriterRow::lastMs)).forEach(fold.writers::restore);
        decoded(kinds, ATTEMPT, RequestJoin.SavedAttempt.class).sorted(Comparator.comparingLong(RequestJoin.SavedAttempt::submittedMs))
                .forEach(fold.join::restore);
        decoded(kinds, FETCH, RequestJoin.SavedFetch.class).forEach(fold.join::restore);
        fold.nodes.restore(kinds);
        fold.operations.restore(kinds);
        fold.operator.restore(kinds);
        return fold;
    }

    private static <T> Stream<T> decoded(Map<Character, List<byte[]>> kinds, char kind, Class<T> type) {
        return kinds.getOrDefault(kind, List.of()).stream().map(value -> Rows.decoded(value, type));
    }

    /** All of the log, and its latest time. */
    private record Total(Window window, long lastMs) {}

    private void restore(Total saved) {
        total = saved.window();
        lastMs = saved.lastMs();
    }

    /** Applies an event. */
    public void event(Event event, long atMs) {
        count(atMs, Names.EVENTS, 1);
        wrote(new WriterRow(event.envelope().sender(), 1, 0, 0, event.getClass().getSimpleName(), atMs));
        join.event(event, atMs);
        // Events of other types are counted, or joined with requests.
        switch (event) {
            case AgentHeartbeat e -> nodes.heartbeat(e);
            case OperationStarted e -> operations.started(e, atMs);
            case LoadBackDone e -> count(atMs, Names.moved(Tier.HOST, Tier.DEVICE), e.movedBytes());
            default -> {}
        }
    }

    /** Applies a command. */
    public void command(Command command, long atMs) {
        count(atMs, Names.COMMANDS, 1);
        wrote(new WriterRow(command.envelope().sender(), 0, 0, 1, command.getClass().getSimpleName(), atMs));
        join.command(command, atMs);
    }

    /** Applies a fact. */
    public void fact(Fact fact, long atMs) {
        lastMs = Math.max(lastMs, atMs);
        count(atMs, Names.FACTS, 1);
        wrote(new WriterRow(fact.envelope().sender(), 0, 1, 0, fact.getClass().getSimpleName(), atMs));
        join.fact(fact, atMs);
        OperationCounts.of(fact).ifPresent(more -> {
            count(atMs, Names.started(more.kind()), more.counts().started());
            more.counts().ends().forEach((state, count) -> count(atMs, Names.ended(more.kind(), state), count));
        });
        if (nodes.fact(fact, atMs)) {
            count(atMs, Names.LOST_NODES, 1);
        }
        operations.fact(fact, atMs, (name, more) -> count(atMs, name, more));
        operator.fact(fact, atMs, (name, more) -> count(atMs, name, more));
        // Facts of other types are followed by one of the above.
        switch (fact) {
            case InputRefused _ -> count(atMs, Names.REFUSED, 1);
            case InputSkipped _ -> count(atMs, Names.SKIPPED, 1);
            case BlocksRemoved f -> {
                count(atMs, Names.evicted(f.tier(), f.reason()), f.blocks().size());
                count(atMs, Names.lastCopies(f.tier(), f.reason()), f.lastCopiesLost());
            }
            case PolicyAdopted f -> adopted(f, atMs);
            case RequestAdmitted f -> {
                String key = id(name(f.envelope().aggregate()), f.request(), f.attempt());
                if (requests.get(key) == null) {
                    requests.put(new RequestRow(name(f.envelope().aggregate()), f.request(), f.attempt(), f.namespace(), "SUBMITTED", "SUBMITTED",
                            f.wholeBlocks(), false, false, atMs, 0, 0, 0, HitCounts.NONE));
                }
            }
            case RequestTransitioned f -> {
                boolean end = RequestJoin.isEnd(f.to());
                if (end) {
                    count(atMs, Names.ENDS + f.reason(), 1);
                }
                requests.change(id(name(f.envelope().aggregate()), f.request(), f.attempt()),
                        row -> row.in(f.to().name(), f.reason().name(), end ? atMs : 0));
            }
            default -> {}
        }
    }

    /** Counts a record that cannot be decoded, of the topic with that counter. */
    public void unreadable(String topicCounter, long atMs) {
        count(atMs, topicCounter, 1);
        count(atMs, Names.UNREADABLE, 1);
    }

    private void adopted(PolicyAdopted f, long atMs) {
        PolicyRow was = policy;
        if (was == null || f.version() > was.version()) {
            policy = row(f.version(), f.policy(), atMs);
            rows.changed(POLICY, "", () -> policy);
        }
    }

    private static PolicyRow row(long version, Policy p, long atMs) {
        return new PolicyRow(version, atMs, p.hostHighMark(), p.hostLowMark(), p.diskHighMark(), p.diskLowMark(), p.prefetchThresholdBlocks(),
                PolicyDocument.write(p));
    }

    void restoreTime(long latestMs) {
        lastMs = latestMs;
    }

    void restorePolicy(long policyVersion, Policy of) {
        policy = row(policyVersion, of, 0);
    }

    void restore(NodeRow row) {
        nodes.restore(row);
    }

    void restore(OperationRow row) {
        operations.restore(row);
    }

    void restore(RequestRow row) {
        requests.restore(row);
    }

    void restore(MigrationRow row) {
        operator.restore(row);
    }

    void restore(DrainRow row) {
        operator.restore(row);
    }

    @Override
    public void submitted(RequestJoin.Attempt attempt, RequestSubmitted e, long atMs) {
        count(atMs, Names.SUBMITTED, 1);
        count(atMs, Names.AT_ONCE, e.answered() ? 1 : 0);
        requests.put(new RequestRow(name(attempt.node()), attempt.request(), attempt.attempt(), e.namespace(), "SUBMITTED", "SUBMITTED",
                e.keys().size(), !e.answered(), false, atMs, e.answered() ? atMs : 0, 0, 0, HitCounts.NONE));
    }

    @Override
    public void expired(RequestJoin.Attempt attempt, long atMs) {
        count(atMs, Names.EXPIRED, 1);
        requests.change(id(attempt), RequestRow::afterExpiry);
    }

    @Override
    public void commanded(RequestJoin.Attempt attempt, long atMs, long ms) {
        // Shown by the audit alone.
    }

    @Override
    public void ready(RequestJoin.Attempt attempt, long atMs, long ms) {
        window(atMs).ready().add(ms);
        total.ready().add(ms);
        requests.change(id(attempt), row -> row.ready(atMs));
    }

    @Override
    public void hits(RequestJoin.Attempt attempt, long prefilledMs, Part part, Bytes root, HitCounts more) {
        Names.add(window(prefilledMs).counters(), more);
        Names.add(total.counters(), more);
        requests.change(id(attempt), row -> row.prefilled(prefilledMs, more));
        if (!root.equals(Bytes.EMPTY)) {
            NodeRow node = nodes.all().get(name(part.node()));
            long bytes = node == null ? 0 : node.tiers().values().stream().mapToLong(NodeRow.TierRow::blockBytes).max().orElse(0);
            PrefixRow row = new PrefixRow(part.namespace(), root.hex(), more, bytes, prefilledMs);
            PrefixRow was = prefixes.remove(row.id()); // to put it behind all others: the one that was used first leaves first
            prefixes.put(was == null ? row : was.plus(row));
        }
    }

    @Override
    public void missed(long prefilledMs, String cause, long blocks) {
        count(prefilledMs, Names.MISSED + cause.toLowerCase(Locale.ROOT), blocks);
    }

    @Override
    public void changed(RequestJoin.Attempt attempt) {
        rows.changed(ATTEMPT, id(attempt), () -> join.save(attempt).orElse(null));
    }

    @Override
    public void fetchChanged(String operation) {
        rows.changed(FETCH, operation, () -> join.saveFetch(operation).orElse(null));
    }

    /** The sender that wrote longest ago leaves first. */
    private void wrote(WriterRow more) {
        WriterRow was = writers.remove(more.sender());
        writers.put(was == null ? more : was.plus(more));
    }

    private void count(long atMs, String name, long more) {
        window(atMs).counters().add(name, more);
        total.counters().add(name, more);
    }

    /** The window of a time, which is also noted as changed; a time before all kept windows has one that is dropped at once. */
    private Window window(long atMs) {
        version++;
        rows.changed(TOTAL, "", () -> new Total(total, lastMs));
        long begin = atMs - Math.floorMod(atMs, FoldLimits.WINDOW_MS);
        Window window = windows.computeIfAbsent(begin, Window::new);
        noteWindow(begin);
        while (windows.size() > limits.windows()) {
            noteWindow(windows.pollFirstEntry().getKey());
        }
        return window;
    }

    private void noteWindow(long begin) {
        rows.changed(WINDOW, String.valueOf(begin), () -> windows.get(begin));
    }

    static String id(String node, String request, int attempt) {
        return node + "\n" + request + "\n" + attempt;
    }

    private static String id(RequestJoin.Attempt attempt) {
        return id(name(attempt.node()), attempt.request(), attempt.attempt());
    }

    /** The name of the node of an aggregate. */
    static String name(String aggregate) {
        return aggregate.startsWith("node/") ? aggregate.substring("node/".length()) : aggregate;
    }

    /** The rows that changed since the last call; to be written in the same transaction as the position in the log. */
    public List<Row> takeChanges() {
        return rows.take();
    }

    /** How far the fold is. */
    public Seen seen() {
        return new Seen(lastMs, version);
    }

    /** Beginning of the first window; {@link Long#MAX_VALUE} when there is none. */
    public long firstMs() {
        return windows.isEmpty() ? Long.MAX_VALUE : windows.firstKey();
    }

    /** Windows that begin in {@code [fromMs, toMs)}, by time. */
    public Iterable<Window> windows(long fromMs, long toMs) {
        return fromMs < toMs ? windows.subMap(fromMs, true, toMs, false).values() : List.of();
    }

    /** All of the log. */
    public Window total() {
        return total;
    }

    /** The nodes, by name. */
    public Map<String, NodeRow> nodes() {
        return nodes.all();
    }

    /** Recent removals at a node, the latest last. */
    public List<Removal> removals(String node) {
        return nodes.removals(node);
    }

    /** Use of the tiers of a node over time. */
    public List<History> history(String node) {
        return nodes.history(node);
    }

    /** Operations in flight, in the order in which they were issued. */
    public Iterable<OperationRow> inFlight() {
        return operations.inFlight();
    }

    /** Operations that ended, the latest last. */
    public Iterable<OperationRow> ended() {
        return operations.ended();
    }

    /** Recent attempts, the latest last. */
    public Iterable<RequestRow> requests() {
        return requests.all().values();
    }

    /** Prompts by their first block, the latest last. */
    public Iterable<PrefixRow> prefixes() {
        return prefixes.all().values();
    }

    /** Senders of records, the latest last. */
    public Iterable<WriterRow> writers() {
        return writers.all().values();
    }

    /** Migrations that operators requested, the latest last. */
    public Iterable<MigrationRow> migrations() {
        return operator.migrations();
    }

    /** Drains, by node. */
    public Map<String, DrainRow> drains() {
        return operator.drains();
    }

    /** Answers to policies, the latest last. */
    public Iterable<PolicyAnswer> policyAnswers() {
        return operator.answers();
    }

    /** The policy in force. */
    public Optional<PolicyRow> policy() {
        return Optional.ofNullable(policy);
    }
}
