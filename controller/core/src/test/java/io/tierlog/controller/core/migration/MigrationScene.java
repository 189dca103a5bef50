/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.MigrationRequested;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Node a has a host and a disk of 100 blocks each, of 4,096 bytes; no marks of its own. Its one namespace is of group g, with a route from HOST to
 * DISK that copies and marks, and one from HOST to STORE that copies. A block called by a number is a prompt of one block.
 */
public abstract class MigrationScene {
    static final long BLOCK = 4_096;

    public final World w;
    final Agent a;
    /** Messages that the relay has not delivered yet. */
    public final Deque<Message> underWay = new ArrayDeque<>();
    /** What the node has answered last. */
    @Nullable MigrationReported report;
    private long generation = 10;
    private int requests;

    public MigrationScene() {
        this(policy(8, true, MarkClearing.ON_WRITE), 100);
    }

    public MigrationScene(Policy policy, long host) {
        w = new World(new HeapTables(), new Limits(1, 100, 5_000, 8, 100, 256, 4)).policy(policy);
        a = w.register(new Agent("a", "a-1", host, 100));
        w.tick();
    }

    /** The number of copies at once; whether the route to the disk marks. */
    static Policy policy(int concurrency, boolean marks, MarkClearing clearing) {
        MigrationRoute disk = new MigrationRoute(Tier.HOST, Tier.DISK, 0.9, true, marks, Retention.DELETE_SOURCE, concurrency, 1L << 30);
        MigrationRoute store = new MigrationRoute(Tier.HOST, Tier.STORE, 0.9, true, marks, Retention.KEEP_BOTH, 8, 2 * BLOCK);
        GroupPolicy group = new GroupPolicy("g", List.of(Agent.NAMESPACE), null, List.of(), List.of(disk, store));
        return new Policy(2, WritePolicy.WRITE_BACK, 0, 0, 0, 0, false, 3, 1_000, 5_000, 0, false,
                new MigrationPolicy(86_400_000, clearing, 8, 1L << 30, List.of(group)), null);
    }

    /** On the host, each a prompt of its own, coldest first. */
    void onHost(int... names) {
        for (int name : names) {
            w.warm(a, "r" + requests++, List.of(key(name)), 100 + requests);
        }
    }

    /** On the disk as well, or alone. */
    void onDisk(int... names) {
        List<PagedBlock> blocks = new ArrayList<>();
        for (int name : names) {
            blocks.add(new PagedBlock(new Block(0, key(name), Bytes.EMPTY), -1, 7, 77));
        }
        w.input(new BlocksRecovered(a.envelope(), Tier.DISK, Agent.NAMESPACE, blocks, 0));
    }

    /** Computed on the device by a request that has ended; answers with the request. */
    String seal(int... names) {
        String request = "s" + requests++;
        List<PagedBlock> blocks = new ArrayList<>();
        for (int name : names) {
            blocks.add(new PagedBlock(new Block(0, key(name), Bytes.EMPTY), 500 + blocks.size(), 1, 0));
        }
        w.input(a.submit(request, List.of(key(names[0]))).answered().event());
        w.input(a.sealed(request, 1, blocks));
        w.input(a.finished(request, 1));
        return request;
    }

    /** On the device, computed by no registered request, so that nothing is written yet. */
    void onDevice(int... names) {
        for (int name : names) {
            w.input(a.sealed("absent", 1, Agent.paged(List.of(key(name)), 0, 1, 900 + name)));
        }
    }

    /** Has node a mark blocks. */
    void mark(Tier target, @Nullable Long timeoutMs, int... names) {
        MigrationOrder o = order(MigrationMethod.MARK, target, names);
        ask("k" + w.offset(), new MigrationOrder(o.method(), o.source(), o.target(), o.retention(), o.blocks(), null, timeoutMs, false));
    }

    static Bytes key(int name) {
        return Agent.key("" + name);
    }

    static BlockName name(int name) {
        return new BlockName(Agent.NAMESPACE, key(name));
    }

    static MigrationOrder order(MigrationMethod method, Tier target, int... names) {
        List<BlockName> blocks = new ArrayList<>();
        for (int name : names) {
            blocks.add(name(name));
        }
        return new MigrationOrder(method, Tier.HOST, target, Retention.DELETE_SOURCE, blocks, null, null, false);
    }

    static MigrationOrder sample(int count, long minAgeMs) {
        return new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.DISK, Retention.DELETE_SOURCE, List.of(),
                new SampleRule(count, minAgeMs, ""), null, false);
    }

    static Envelope operator(String aggregate) {
        return new Envelope(aggregate, "operator/me", 0, 0, 0, 0, null, null, null);
    }

    static MigrationRequested requested(String id, MigrationOrder order, String... nodes) {
        return new MigrationRequested(operator("migration/" + id), List.of(nodes), order);
    }

    /** Sends an order to node a, delivers what follows, and returns the node's answer. */
    MigrationAnswer ask(String id, MigrationOrder order) {
        w.input(requested(id, order, "a"));
        relay();
        deliver();
        return Objects.requireNonNull(Objects.requireNonNull(report).answer());
    }

    /** Takes the messages of the last answer under way. */
    void relay() {
        w.last.messages().forEach(message -> underWay.add(message.message()));
    }

    /** Delivers messages, and those that follow from them, until none is under way. The node's facts are those of {@code decided}. */
    DecideResult decided = new DecideResult(List.of(), List.of(), List.of(), Outcome.APPLIED);

    void deliver() {
        while (!underWay.isEmpty()) {
            Message message = underWay.remove();
            DecideResult next = w.input(message);
            if (message instanceof MigrationReported said) {
                report = said;
            } else {
                decided = next;
            }
            relay();
        }
    }

    /** The node's copies for the last order. */
    List<CopyBlocks> copies() {
        return decided.commands().stream().filter(CopyBlocks.class::isInstance).map(CopyBlocks.class::cast).toList();
    }

    CopyDone done(CopyBlocks copy) {
        List<BlockResult> results = copy.blocks().stream().map(b -> arrived(b.block(), copy.source())).toList();
        return done(copy, results);
    }

    CopyDone done(CopyBlocks copy, List<BlockResult> results) {
        return new CopyDone(a.envelope(), copy.operation(), copy.source(), copy.target(), Agent.NAMESPACE, results, BLOCK * results.size(), 1_234);
    }

    BlockResult arrived(Block block, Tier source) {
        BlockResult r = Agent.arrived(List.of(block), 0).getFirst();
        return new BlockResult(block, r.status(), r.reason(), -1, ++generation, r.crc32c(), source);
    }

    CopyFailed failed(CopyBlocks copy, OperationReason reason) {
        return new CopyFailed(a.envelope(), copy.operation(), copy.source(), copy.target(), reason, Agent.NAMESPACE,
                Agent.failed(Blocks.of(copy.blocks()), reason));
    }

    DropDone gone(DropBlocks drop) {
        return new DropDone(a.envelope(), drop.operation(), drop.tier(), Agent.NAMESPACE, Agent.gone(drop));
    }

    static List<Integer> numbers(List<BlockName> names) {
        return names.stream().map(n -> Integer.parseInt(new String(n.key().unshared(), java.nio.charset.StandardCharsets.UTF_8).trim())).toList();
    }
}
