/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One partition, its tables and its log. Every input is decided twice from the same state, which must give the same result, and the tables are
 * checked after it.
 */
public final class World {
    /** Of the first input. */
    public static final long FIRST_OFFSET = 100;

    public static final Policy POLICY = new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 3, true, null, null);

    /** {@link #POLICY} with other rules of promotions and peer reads. */
    public static Policy fetching(FetchPolicy fetch) {
        return new Policy(POLICY.prefetchThresholdBlocks(), POLICY.writePolicy(), POLICY.hostHighMark(), POLICY.hostLowMark(),
                POLICY.diskHighMark(), POLICY.diskLowMark(), POLICY.copyToDisk(), POLICY.reliefBatchBlocks(), POLICY.operationTimeoutMs(),
                POLICY.leaseMs(), POLICY.nodeTimeoutTicks(), POLICY.backUp(), null, fetch);
    }

    public final Tables tables;
    public final Limits limits;
    public final Core core;
    public final List<Input> log = new ArrayList<>();
    public final List<Fact> facts = new ArrayList<>();
    public final List<Command> commands = new ArrayList<>();
    private long offset = FIRST_OFFSET - 1;
    private long timeMs = 1_000;
    private long policyVersion;
    private TableInvariants.Cursor cursor = TableInvariants.Cursor.START;
    private final Map<String, Long> numbers = new LinkedHashMap<>();
    public DecideResult last = new DecideResult(List.of(), List.of(), List.of(), Outcome.APPLIED);

    public World() {
        this(new HeapTables(), Limits.DEFAULTS);
    }

    /** Decided by that version of the core. */
    public World(int coreVersion) {
        this(new HeapTables(), Limits.DEFAULTS, coreVersion);
    }

    public World(Tables tables, Limits limits) {
        this(tables, limits, CoreVersion.CURRENT);
    }

    private World(Tables tables, Limits limits, int coreVersion) {
        this.tables = tables;
        this.limits = limits;
        this.core = new Core(limits, "", coreVersion);
        policy(POLICY);
    }

    public World policy(Policy policy) {
        policyVersion++;
        input(new PolicyPublished(new Envelope("clock/0", "policy", 0, policyVersion, 0, 0, null, null, null), policyVersion, policy));
        return this;
    }

    /** Appends an event, which gets its number now: a test may build several of an agent and append one. */
    public DecideResult input(Event event) {
        return input(new Input.Recorded(0, ++offset, inCount(event), 0));
    }

    private Event inCount(Event event) {
        Envelope e = event.envelope();
        NodeRow row = tables.get(Rows.NODES, new RowKey.Aggregate(e.aggregate()));
        if (row == null || e.sequence() <= row.lastSequence()
                || !Aggregates.isAgent(e.sender(), e.aggregate().substring(Aggregates.NODE.length()), row.processId())) {
            return event;
        }
        return event.withEnvelope(new Envelope(e.aggregate(), e.sender(), e.incarnation(), row.lastSequence() + 1, e.previousCrc32c(), e.timeMs(),
                e.cause(), e.traceContext(), e.taken(), e.repeats()));
    }

    public DecideResult input(Input input) {
        DecideResult first = core.decide(tables, input);
        assertEquals(first, core.decide(tables, input), "the same state and input");
        last = core.step(tables, input);
        assertEquals(first.facts(), last.facts().subList(0, first.facts().size()), "a step begins with what is decided at once");
        numbered();
        log.add(input);
        facts.addAll(last.facts());
        commands.addAll(last.commands());
        if (tables instanceof HeapTables heap) {
            assertEquals(List.of(), TableInvariants.check(heap, 0));
            assertEquals(heap.rows(Rows.PLACEMENTS).size(), clock().placements(), "rows of placements");
            sample(heap);
        }
        return last;
    }

    /** Every command has the number after that of the last one: one that is not on record is given twice, and the agent refuses the second. */
    private void numbered() {
        for (Command command : last.commands()) {
            CommandHeader header = command.header();
            if (!(command instanceof FenceAgent || command instanceof DeleteObjects)) {
                String life = command.envelope().aggregate() + "@" + command.envelope().incarnation();
                long before = Objects.requireNonNullElse(numbers.put(life, header.commandSequence()), header.commandSequence() - 1);
                assertEquals(before + 1, header.commandSequence(), () -> "the number of " + command);
            }
        }
    }

    /** Wherever a sample looks, it finds nothing; it comes round, however few rows it looks at. */
    private void sample(HeapTables heap) {
        TableInvariants.Sample sample = TableInvariants.sample(heap, 0, cursor, 7);
        assertEquals(List.of(), sample.violations());
        cursor = sample.next();
    }

    public long offset() {
        return offset;
    }

    public DecideResult tick() {
        return tick(1_000);
    }

    public DecideResult tick(long ms) {
        timeMs += ms;
        return input(new Tick(new Envelope("clock/0", "clock/0", 0, 0, 0, timeMs, null, null, null), timeMs));
    }

    /** Log time: that of the last tick; 0 before the first. */
    public long timeMsOfLog() {
        return clock().logTimeMs();
    }

    public ClockRow clock() {
        return Objects.requireNonNull(tables.get(Rows.CLOCK, new RowKey.Aggregate("clock/0")));
    }

    public long timeMs() {
        return timeMs;
    }

    /** Registers {@code agent}, which takes the incarnation that it is given. */
    public Agent register(Agent agent) {
        input(agent.registering());
        agent.incarnation = node(agent).incarnation();
        return agent;
    }

    public Agent register(String node, long host) {
        return register(new Agent(node, node + "-1", host));
    }

    /** A request computes the blocks of {@code path}, all of which are then on host and store, in pages from {@code firstPage} on. */
    public void warm(Agent agent, String request, List<Bytes> path, int firstPage) {
        warm(agent, request, path, 0, firstPage);
    }

    /** The same for blocks from index {@code from} on. */
    public void warm(Agent agent, String request, List<Bytes> path, int from, int firstPage) {
        input(agent.submit(request, path).device(from).answered().event());
        input(agent.prefilled(request, 1));
        input(agent.sealed(request, 1, Agent.paged(path, from, path.size(), 1_000 + firstPage)));
        input(agent.finished(request, 1));
        WriteBackBlocks writeBack = command(WriteBackBlocks.class);
        List<BlockResult> results = Agent.arrived(Agent.blocks(path, from, path.size()), firstPage);
        input(new WriteBackDone(agent.envelope(), writeBack.operation(), Agent.NAMESPACE, results, 0, 0));
        if (last.commands().getFirst() instanceof BackUpBlocks backUp) {
            input(new BackUpDone(agent.envelope(), backUp.operation(), Agent.NAMESPACE, results, 0, 0));
        }
    }

    /** The one command of that type in the last answer. */
    public <C extends Command> C command(Class<C> type) {
        List<C> found = commands(type);
        assertEquals(1, found.size(), () -> type.getSimpleName() + " in " + last.commands());
        return found.getFirst();
    }

    public <C extends Command> List<C> commands(Class<C> type) {
        return last.commands().stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** The one fact of that type in the last answer. */
    public <D extends Fact> D fact(Class<D> type) {
        List<D> found = facts(type);
        assertEquals(1, found.size(), () -> type.getSimpleName() + " in " + last.facts());
        return found.getFirst();
    }

    public <D extends Fact> List<D> facts(Class<D> type) {
        return last.facts().stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** Types of the facts of the last answer, InputApplied left out. */
    public String factNames() {
        return String.join(" ", last.facts().stream().map(fact -> fact.getClass().getSimpleName())
                .filter(name -> !name.equals("InputApplied")).toList());
    }

    public NodeRow node(Agent agent) {
        return Objects.requireNonNull(tables.get(Rows.NODES, new RowKey.Aggregate(agent.aggregate())));
    }

    public TierRow host(Agent agent) {
        return tier(agent, Tier.HOST);
    }

    public TierRow tier(Agent agent, Tier tier) {
        return Objects.requireNonNull(NodeRows.tier(node(agent), tier));
    }

    public @Nullable RequestRow request(Agent agent, String request) {
        return tables.get(Rows.REQUESTS, new RowKey.Text(agent.aggregate(), request));
    }

    /** State of the copy of a block; ABSENT when it counts for nothing. */
    public PlacementState state(Agent agent, Tier tier, Bytes key) {
        PlacementRow row = copy(agent, tier, key);
        return row == null ? PlacementState.ABSENT : row.state();
    }

    public @Nullable PlacementRow copy(Agent agent, Tier tier, Bytes key) {
        PlacementRow row = tables.get(Rows.PLACEMENTS, new RowKey.Placement(agent.aggregate(), Namespaces.digest(Agent.NAMESPACE), tier, key));
        return row != null && NodeRows.isCurrent(node(agent), tier, row) ? row : null;
    }

    public static List<Integer> indexes(List<Block> blocks) {
        return blocks.stream().map(Block::index).toList();
    }

    public static void assertRefused(RefusalReason reason, DecideResult decided) {
        assertEquals(reason, assertInstanceOf(Outcome.Refused.class, decided.outcome()).reason());
    }
}
