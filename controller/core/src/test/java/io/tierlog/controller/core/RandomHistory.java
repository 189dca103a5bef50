/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A history drawn from a seed: two nodes whose requests walk a small tree of prompts, whose agents answer commands well, badly, twice or not at
 * all, evict on their own (as agents do: leaves that no operation holds), stop, and come back. What happens is decided by the seed alone.
 */
public final class RandomHistory {
    private static final int CAPACITY = 10;
    private static final int DISK = 7;

    private final Random random;
    private final World w;
    private final HeapTables tables = new HeapTables();
    private final BiConsumer<World, Event> before;
    private final Runnable after;
    private final List<Agent> agents = new ArrayList<>();
    private final RandomBridge bridge;
    private final RandomStore store;
    private final Map<String, List<String>> requests = new TreeMap<>();
    private int requestCount;
    private final List<Open> open = new ArrayList<>();
    private int lives;
    private int page;
    private final Map<String, ArrayDeque<List<PagedBlock>>> recovering = new TreeMap<>();
    private boolean dropsAtOnce;
    private boolean plain;
    private boolean namesNoOrder;
    private int migrations;
    private long guestIncarnation;
    private final ArrayDeque<Message> underWay = new ArrayDeque<>();

    /** A command that its agent has not answered, or that it will answer again in the same way. */
    private record Open(Agent agent, Command command, @Nullable Event answered) {}

    public RandomHistory(long seed, BiConsumer<World, Event> before, Runnable after) {
        this.random = new Random(seed);
        this.before = before;
        this.after = after;
        this.w = new World(tables, new Limits(1, 12, 100, 3, 5, 64, 4));
        this.bridge = new RandomBridge(random, w);
        this.store = new RandomStore(seed);
    }

    /** From here on agents answer a drop or a copy before anything else happens on their node. */
    void answeringReliefAtOnce() {
        dropsAtOnce = true;
    }

    /** No groups, and no operator: all that leaves a tier leaves for its watermark. */
    RandomHistory plain() {
        plain = true;
        return this;
    }

    /** Policies name no eviction order. */
    RandomHistory ordersOfTheVersion() {
        namesNoOrder = true;
        return this;
    }

    public World world() {
        return w;
    }

    public HeapTables tables() {
        return tables;
    }

    public RandomHistory run(int steps) {
        w.policy(DrawnPolicy.of(random, plain, namesNoOrder ? null : DrawnOrders.of(dropsAtOnce, w.log.size())));
        for (String node : List.of("a", "b")) {
            agents.add(new Agent(node, node + "-" + lives++, CAPACITY, node.equals("a") ? DISK : 0));
            send(agents.getLast().registering());
            agents.getLast().incarnation = w.node(agents.getLast()).incarnation();
        }
        for (int i = 0; i < steps; i++) {
            step();
        }
        return this;
    }

    /** Probes for blocks that requests are expected to need, mostly such as the disk has. */
    private void probe(Agent agent) {
        List<Block> wanted = new ArrayList<>();
        onDisk(agent).stream().map(PagedBlock::block).filter(b -> random.nextInt(3) > 0).forEach(wanted::add);
        if (random.nextInt(4) == 0 || wanted.isEmpty()) {
            wanted.addAll(Blocks.of(paged(path())));
        }
        Envelope envelope = new Envelope(agent.aggregate(), "directory/d", 0, 0, 0, 0, null, null, null);
        send(new PromotionRequested(envelope, "p" + page, Agent.NAMESPACE, wanted));
    }

    /** All of it arrives, some, or nothing; now and then a request has waited. */
    private Event promoted(Agent agent, PromoteBlocks c, int mood) {
        List<Block> blocks = Blocks.of(c.blocks());
        return switch (mood) {
            case 0 -> new PromoteFailed(agent.envelope(), c.operation(), OperationReason.IO, Agent.NAMESPACE,
                    Agent.failed(blocks, OperationReason.IO));
            case 1 -> refused(agent, c.header(), c.operation(), OperationReason.NO_ROOM);
            case 2 -> refused(agent, c.header(), c.operation(), random.nextBoolean() ? OperationReason.QUEUE_FULL : OperationReason.COMMAND_CONFLICT);
            default -> {
                List<BlockResult> results = some(blocks).stream().map(r -> new BlockResult(r.block(), r.status(), r.reason(), r.page(),
                        r.generation(), r.crc32c(), r.status() == BlockStatus.ARRIVED ? Tier.DISK : Tier.UNKNOWN)).toList();
                List<Integer> awaited = mood == 3 ? List.of(0) : List.of();
                yield new PromoteDone(agent.envelope(), c.operation(), c.lease(), Agent.NAMESPACE, results, awaited, 0, 0);
            }
        };
    }

    private void send(Event event) {
        before.accept(w, event);
        DecideResult decided = w.input(event);
        for (Command command : decided.commands()) {
            for (Agent agent : agents) {
                if (agent.aggregate().equals(command.envelope().aggregate()) && agent.incarnation == command.envelope().incarnation()) {
                    open.add(new Open(agent, command, null));
                }
            }
        }
        decided.messages().forEach(out -> underWay.add(out.message()));
        after.run();
        answerDrops();
    }

    /** What an operator may want: some blocks moved or marked, or the coldest; a migration cancelled; marks cleared; a drain begun or ended. */
    private void operate(Agent agent) {
        switch (random.nextInt(9)) {
            case 0 -> send(new MigrationCancelRequested(operator("migration/m" + random.nextInt(migrations + 1))));
            case 1 -> send(new MarksClearRequested(operator(agent.aggregate()), "c" + page, random.nextBoolean() ? List.of() : named()));
            case 2 -> send(new NodeDrainRequested(operator(agent.aggregate()), "d" + ++page, random.nextInt(3) == 0, null));
            default -> {
                MigrationMethod method = List.of(MigrationMethod.COPY, MigrationMethod.MARK, MigrationMethod.BOTH).get(random.nextInt(3));
                Tier source = random.nextInt(3) == 0 ? Tier.DISK : Tier.HOST;
                Tier target = source == Tier.DISK || random.nextInt(3) == 0 ? Tier.STORE : Tier.DISK;
                SampleRule sample = random.nextBoolean() ? new SampleRule(1 + random.nextInt(5), random.nextInt(2_000), "") : null;
                Retention kept = random.nextInt(3) == 0 ? Retention.KEEP_BOTH : Retention.DELETE_SOURCE;
                MigrationOrder order = new MigrationOrder(method, source, random.nextInt(20) == 0 ? Tier.HOST : target, kept,
                        sample == null ? named() : List.of(), sample, random.nextBoolean() ? null : 1L + random.nextInt(5_000),
                                random.nextInt(8) == 0);
                List<String> nodes = random.nextInt(3) == 0 ? List.of("a", "b", "c") : List.of(agent.node);
                send(new MigrationRequested(operator("migration/m" + migrations++), nodes, order));
            }
        }
    }

    private List<BlockName> named() {
        return path().stream().map(key -> new BlockName(Agent.NAMESPACE, key)).toList();
    }

    private static Envelope operator(String aggregate) {
        return new Envelope(aggregate, "operator/o", 0, 0, 0, 0, null, null, null);
    }

    /** The relay delivers the next message; now and then it does so twice. */
    private void relay() {
        Message message = underWay.poll();
        if (message != null) {
            send(message);
            if (random.nextInt(6) == 0) {
                send(message);
            }
        }
    }

    private void answerDrops() {
        for (int i = 0; dropsAtOnce && i < open.size(); i++) {
            Open one = open.get(i);
            boolean relief = one.command() instanceof DropBlocks || one.command() instanceof CopyBlocks;
            if (relief && one.answered() == null) {
                open.remove(i);
                Event event = answer(one.agent(), one.command());
                if (event != null) {
                    send(event);
                }
                return;
            }
        }
    }

    private void step() {
        Agent agent = agents.get(random.nextInt(agents.size()));
        if (!plain) {
            Event report = store.next(agent);
            if (report != null) {
                send(report);
            }
        }
        if (!w.node(agent).alive() && random.nextInt(4) == 0) {
            restart(agent, false);
            return;
        }
        if (random.nextInt(3) == 0 && recover(agent)) {
            return;
        }
        if (!plain && random.nextInt(3) == 0) {
            relay();
        }
        switch (random.nextInt(plain ? 24 : 30)) {
            case 0, 1, 2, 3 -> submit(agent);
            case 4, 5, 15 -> send(agent.sealed(request(agent), 1, paged(path())));
            case 6 -> send(agent.prefilled(request(agent), 1 + random.nextInt(2)));
            case 7, 8 -> send(agent.finished(request(agent), 1));
            case 9 -> maybe(agent.cancelled(request(agent), 1 + random.nextInt(2)));
            case 10 -> send(agent.waitExpired(request(agent), 1));
            case 11 -> evict(agent, Tier.HOST);
            case 12 -> evict(agent, random.nextInt(3) == 0 ? Tier.DISK : Tier.DEVICE);
            case 13 -> tick();
            case 14 -> send(agent.heartbeat());
            case 16 -> rare(agent);
            case 24, 25, 26 -> operate(agent);
            case 27, 28, 29 -> probe(agents.getFirst().disk > 0 ? agents.getFirst() : agent);
            default -> answer();
        }
    }

    /** Half of the time. */
    private void maybe(Event event) {
        if (random.nextBoolean()) {
            send(event);
        }
    }

    private void rare(Agent agent) {
        switch (random.nextInt(16)) {
            case 0 -> restart(agent, false);
            case 1 -> restart(agent, true);
            case 2 -> w.policy(DrawnPolicy.of(random, plain, DrawnOrders.of(dropsAtOnce, w.log.size())));
            case 3 -> send(new EngineAttached(agent.envelope(), "e", 10, Agent.digest(), Map.of()));
            case 4 -> send(new EngineDetached(agent.envelope(), "e", false));
            case 5 -> unknown(agent);
            case 6 -> send(new LoadBackDone(agent.envelope(), "l" + page, request(agent), 1, Agent.NAMESPACE,
                    Agent.arrived(Blocks.of(paged(path())), page), 0, 0));
            case 7, 8 -> send(bridge.next());
            default -> tick();
        }
    }

    /** A third node comes and goes at once; it comes again when it is forgotten, under a higher incarnation. */
    private void guest() {
        if (tables.get(Rows.NODES, new RowKey.Aggregate("node/guest")) == null) {
            Agent guest = new Agent("guest", "guest-" + lives++, CAPACITY);
            send(guest.registering());
            guest.incarnation = w.node(guest).incarnation();
            if (guest.incarnation <= guestIncarnation) {
                throw new IllegalStateException("incarnation " + guest.incarnation + " after " + guestIncarnation);
            }
            guestIncarnation = guest.incarnation;
            send(guest.stopping());
        }
    }

    private void tick() {
        guest();
        before.accept(w, new Tick(agents.getFirst().envelope(), 0));
        DecideResult decided = w.tick(random.nextInt(2_000) + 1);
        for (Command command : decided.commands()) {
            agents.stream().filter(a -> a.aggregate().equals(command.envelope().aggregate())).forEach(a -> open.add(new Open(a, command, null)));
        }
        decided.messages().forEach(out -> underWay.add(out.message()));
        after.run();
        answerDrops();
    }

    private void restart(Agent agent, boolean orderly) {
        if (orderly) {
            send(agent.stopping());
        }
        Agent next = new Agent(agent.node, agent.node + "-" + lives++, CAPACITY, agent.disk);
        List<PagedBlock> kept = onDisk(agent);
        for (int i = 0; i < 6 && next.incarnation <= agent.incarnation; i++) {
            send(next.registering());
            next.incarnation = w.node(next).processId().equals(next.processId) ? w.node(next).incarnation() : 0;
            if (next.incarnation == 0) {
                tick();
            }
        }
        if (next.incarnation > agent.incarnation) {
            agents.set(agents.indexOf(agent), next);
            open.removeIf(o -> o.agent() == agent);
            find(next, kept);
        }
    }

    /** What the disk of a node holds by the books, in the order of keys. */
    private List<PagedBlock> onDisk(Agent agent) {
        List<PagedBlock> blocks = new ArrayList<>();
        tables.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            boolean there = row.state() == PlacementState.SERVING || row.state() == PlacementState.LEAVING;
            if (there && key.aggregate().equals(agent.aggregate()) && key.tier() == Tier.DISK && row.incarnation() == agent.incarnation) {
                blocks.add(paged(key.block(), row));
            }
        });
        return blocks;
    }

    /** After a start the disk has all, some or none of its blocks; they are reported in steps, whatever else happens meanwhile. */
    private void find(Agent agent, List<PagedBlock> kept) {
        int luck = random.nextInt(4);
        ArrayDeque<List<PagedBlock>> steps = new ArrayDeque<>();
        List<PagedBlock> found = new ArrayList<>(kept);
        found.removeIf(b -> luck == 0 || (luck == 1 && random.nextBoolean()));
        while (!found.isEmpty()) {
            List<PagedBlock> step = found.subList(0, Math.min(found.size(), 1 + random.nextInt(3)));
            steps.add(List.copyOf(step));
            step.clear();
        }
        recovering.put(agent.node, steps);
    }

    private boolean recover(Agent agent) {
        ArrayDeque<List<PagedBlock>> steps = recovering.getOrDefault(agent.node, new ArrayDeque<>());
        List<PagedBlock> step = steps.poll();
        if (step != null) {
            send(new BlocksRecovered(agent.envelope(), Tier.DISK, Agent.NAMESPACE, step, steps.stream().mapToLong(List::size).sum()));
        }
        return step != null;
    }

    /** One of the last requests of the node. */
    private String request(Agent agent) {
        List<String> known = requests(agent);
        return known.isEmpty() || random.nextInt(20) == 0 ? "absent" : known.get(Math.max(0, known.size() - 1 - random.nextInt(3)));
    }

    private List<String> requests(Agent agent) {
        return requests.computeIfAbsent(agent.node, node -> new ArrayList<>());
    }

    /** A path in a tree: at each level one of two blocks, mostly the first. */
    private List<Bytes> path() {
        StringBuilder name = new StringBuilder();
        List<Bytes> path = new ArrayList<>();
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            name.append(random.nextInt(4) == 0 ? 'r' : 'l');
            path.add(Agent.key(name.toString()));
        }
        return path;
    }

    private List<PagedBlock> paged(List<Bytes> path) {
        List<PagedBlock> blocks = Agent.paged(path, random.nextInt(path.size()), path.size(), page);
        page += blocks.size();
        return blocks;
    }

    private void submit(Agent agent) {
        List<Bytes> path = path();
        if (random.nextInt(6) > 0 || requests(agent).isEmpty()) {
            requests(agent).add("r" + requestCount++);
        }
        Agent.Submission submission = agent.submit(requests(agent).getLast(), path).attempt(1 + random.nextInt(5) / 4)
                .device(random.nextInt(3) == 0 ? random.nextInt(path.size()) : 0).pages(10, 1)
                .store(random.nextInt(2), random.nextInt(path.size() + 1));
        if (random.nextInt(4) == 0) {
            submission.answered();
        }
        if (random.nextInt(10) == 0) {
            submission.notEligible();
        }
        send(submission.event());
    }

    private void evict(Agent agent, Tier tier) {
        List<PagedBlock> candidates = new ArrayList<>();
        tables.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            boolean current = key.aggregate().equals(agent.aggregate()) && NodeRows.isCurrent(w.node(agent), tier, row);
            boolean may = switch (tier) {
                case HOST -> PlacementRows.isLeaf(row);
                // A block that fails verification goes from wherever it is.
                case DISK -> PlacementRows.isLeaf(row) || page % 3 == 0;
                default -> true;
            };
            if (current && key.tier() == tier && row.state() == PlacementState.SERVING && may) {
                candidates.add(paged(key.block(), row));
            }
        });
        candidates.sort((a, b) -> a.block().key().compareTo(b.block().key()));
        if (!candidates.isEmpty()) {
            PagedBlock one = candidates.get(random.nextInt(candidates.size()));
            long generation = random.nextInt(4) == 0 ? one.generation() - 1 : one.generation();
            send(agent.evicted(tier, RemovalReason.PRESSURE, List.of(new PagedBlock(one.block(), one.page(), generation, 0))));
        }
    }

    private static PagedBlock paged(Bytes key, PlacementRow row) {
        return new PagedBlock(new Block(row.index(), key, row.parent()), row.page(), row.generation(), row.crc32c());
    }

    private void unknown(Agent agent) {
        List<BlockResult> results = Agent.arrived(Blocks.of(paged(path())), page++);
        if (agent.disk > 0 && random.nextBoolean()) {
            List<BlockResult> copied = results.stream().map(this::onDisk).toList();
            send(new CopyDone(agent.envelope(), "node/x@" + page + ".1", Tier.HOST, Tier.DISK, Agent.NAMESPACE, copied, 0, 0));
        } else {
            send(new PrefetchDone(agent.envelope(), "node/x@" + page + ".0", null, Agent.NAMESPACE, results, 0, 0));
        }
    }

    /** Answers one of the open commands; now and then it stays open, to be answered again. */
    private void answer() {
        if (open.isEmpty()) {
            return;
        }
        Open one = open.remove(random.nextInt(open.size()));
        Agent agent = one.agent();
        Event before = one.answered();
        Event event = before == null ? answer(agent, one.command()) : before.withEnvelope(agent.envelope());
        if (event != null) {
            if (random.nextInt(8) == 0) {
                open.add(new Open(agent, one.command(), event));
            }
            send(event);
        }
    }

    private @Nullable Event answer(Agent agent, Command command) {
        int mood = random.nextInt(10);
        return switch (command) {
            case PrefetchBlocks c -> prefetched(agent, c, mood);
            case WriteBackBlocks c -> writtenBack(agent, c, mood);
            case BackUpBlocks c -> backedUp(agent, c, mood);
            case DropBlocks c -> dropped(agent, c, mood);
            case CopyBlocks c -> copied(agent, c, mood);
            case PromoteBlocks c -> promoted(agent, c, mood);
            case DeleteObjects c -> store.deleted(agent, c);
            // Most of the time the operation's own end is on its way.
            case CancelOperation c -> mood == 0 && c.kind() != OperationKind.DROP
                    ? new OperationCancelled(agent.envelope(), c.operation(), OperationReason.NEVER_STARTED, "", List.of())
                    : null;
            default -> null;
        };
    }

    private static Event backedUp(Agent agent, BackUpBlocks c, int mood) {
        List<Block> blocks = Blocks.of(c.blocks());
        return mood < 8
                ? new BackUpDone(agent.envelope(), c.operation(), Agent.NAMESPACE, Agent.arrived(blocks, 0), 0, 0)
                : new BackUpFailed(agent.envelope(), c.operation(), OperationReason.IO, Agent.NAMESPACE, Agent.failed(blocks, OperationReason.IO));
    }

    private static Event refused(Agent agent, CommandHeader header, String operation, OperationReason reason) {
        return new CommandRefused(agent.envelope(), header.command(), header.commandSequence(), operation, reason, "");
    }

    private List<BlockResult> some(List<Block> blocks) {
        int arrived = random.nextInt(3) == 0 ? random.nextInt(blocks.size()) + 1 : blocks.size();
        List<BlockResult> results = new ArrayList<>(Agent.arrived(blocks.subList(0, arrived), page));
        results.addAll(Agent.failed(blocks.subList(arrived, blocks.size()), OperationReason.IO));
        page += blocks.size();
        return results;
    }

    private Event prefetched(Agent agent, PrefetchBlocks c, int mood) {
        return switch (mood) {
            case 0 -> new PrefetchFailed(agent.envelope(), c.operation(), OperationReason.IO, Agent.NAMESPACE,
                    Agent.failed(c.blocks(), OperationReason.IO));
            case 1 -> refused(agent, c.header(), c.operation(), OperationReason.NO_ROOM);
            case 2 -> refused(agent, c.header(), c.operation(), OperationReason.COMMAND_CONFLICT);
            case 3 -> new PrefetchDone(agent.envelope(), c.operation(), null, Agent.NAMESPACE, from(c, some(c.blocks())), 0, 0);
            default -> new PrefetchDone(agent.envelope(), c.operation(), c.lease(), Agent.NAMESPACE, from(c, some(c.blocks())), 0, 0);
        };
    }

    /** Mostly from where the controller believes them to be; now and then the disk's copy is bad, and the store's is read. */
    private List<BlockResult> from(PrefetchBlocks c, List<BlockResult> results) {
        List<BlockResult> read = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            BlockResult r = results.get(i);
            Tier source = r.status() != BlockStatus.ARRIVED ? Tier.UNKNOWN : random.nextInt(8) == 0 ? Tier.STORE : c.sources().get(i);
            read.add(new BlockResult(r.block(), r.status(), r.reason(), r.page(), r.generation(), r.crc32c(), source));
        }
        return read;
    }

    /** All of a copy arrives, some of it, or nothing; what the host lacks cannot be copied; now and then no answer comes. */
    private @Nullable Event copied(Agent agent, CopyBlocks c, int mood) {
        List<Block> blocks = Blocks.of(c.blocks());
        OperationReason why = List.of(OperationReason.IO, OperationReason.NO_ROOM, OperationReason.NOT_SERVING).get(random.nextInt(3));
        return switch (mood) {
            case 0 -> new CopyFailed(agent.envelope(), c.operation(), c.source(), c.target(), why, Agent.NAMESPACE, Agent.failed(blocks, why));
            case 1 -> refused(agent, c.header(), c.operation(), OperationReason.QUEUE_FULL);
            case 2 -> dropsAtOnce ? refused(agent, c.header(), c.operation(), OperationReason.UNSUPPORTED) : null;
            default -> {
                List<BlockResult> results = new ArrayList<>();
                for (Block block : blocks) {
                    BlockResult result = onDisk(Agent.arrived(List.of(block), 0).getFirst());
                    results.add(random.nextInt(6) > 0 ? result : Agent.failed(List.of(block), why).getFirst());
                }
                if (!plain && mood == 3 && random.nextInt(4) == 0) {
                    results.removeLast();
                }
                yield new CopyDone(agent.envelope(), c.operation(), c.source(), c.target(), Agent.NAMESPACE, results, 0, 0);
            }
        };
    }

    private BlockResult onDisk(BlockResult r) {
        return new BlockResult(r.block(), r.status(), r.reason(), -1, ++page, r.crc32c(), Tier.HOST);
    }

    private Event writtenBack(Agent agent, WriteBackBlocks c, int mood) {
        List<Block> blocks = Blocks.of(c.blocks());
        return switch (mood) {
            case 0 -> new WriteBackFailed(agent.envelope(), c.operation(), OperationReason.IO, Agent.NAMESPACE,
                    Agent.failed(blocks, OperationReason.IO));
            case 1 -> refused(agent, c.header(), c.operation(), OperationReason.NO_ROOM);
            default -> new WriteBackDone(agent.envelope(), c.operation(), Agent.NAMESPACE, some(blocks), 0, 0);
        };
    }

    /** From the deep end: that many are dropped, and the rest is pinned. */
    private Event dropped(Agent agent, DropBlocks c, int mood) {
        if (mood == 0) {
            OperationReason why = random.nextBoolean() ? Agent.lacks(c.reliesOn()) : OperationReason.PINNED;
            return new DropFailed(agent.envelope(), c.operation(), c.tier(), why, Agent.NAMESPACE, Agent.failed(Blocks.of(c.blocks()), why));
        }
        int gone = mood == 1 ? 1 : c.blocks().size();
        List<BlockResult> results = new ArrayList<>(Agent.gone(c).subList(0, gone));
        for (PagedBlock b : c.blocks().subList(gone, c.blocks().size())) {
            results.add(new BlockResult(b.block(), BlockStatus.FAILED, OperationReason.PINNED, b.page(), b.generation(), 0, Tier.UNKNOWN));
        }
        return new DropDone(agent.envelope(), c.operation(), c.tier(), Agent.NAMESPACE, results);
    }
}
