/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RunTables;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.controller.core.table.WriteBehindTables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.Tick;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.rocksdb.RocksDBException;

/**
 * One node as the core sees it, and the events of its agent. Every prompt has {@value #BLOCKS} blocks of its own. Confined to one thread.
 */
final class CoreWorld implements Closeable {
    /** Blocks of a prompt. */
    static final int BLOCKS = 100;

    static final String NAMESPACE = "model/bf16/layout/tenant";

    private static final String NODE = "node/a";
    private static final String CLOCK = "clock/0";
    private static final int BLOCK_TOKENS = 16;
    private static final long TICK_MS = 61_000;
    private static final Bytes DIGEST = Bytes.wrapUnshared(new byte[32]);

    private final Core core = new Core(Limits.DEFAULTS);
    private final Tables tables;
    private final Closeable store;
    private long offset;
    private long sequence;
    private long timeMs;
    private long prompts;
    private long logBytes = -1;
    private DecideResult last = new DecideResult(List.of(), List.of(), List.of(), Outcome.APPLIED);

    private CoreWorld(Tables tables, Closeable store) {
        this.tables = tables;
        this.store = store;
    }

    /** A prompt: the keys of its blocks, and the name of its request. */
    record Prompt(String request, List<Bytes> keys, List<Block> blocks) {}

    /**
     * A node with a host capacity, and blocks on it already.
     *
     * @param kind heap or rocksdb
     * @param hostBlocks capacity of the host; the high mark is at its end, the low mark {@value #BLOCKS} blocks below
     * @param warmBlocks blocks on the host, a multiple of {@value #BLOCKS}
     * @param nodes nodes in all, 1 or more; the others hold nothing
     */
    static CoreWorld of(String kind, long hostBlocks, int warmBlocks, int nodes) throws IOException, RocksDBException {
        CoreWorld world;
        if (kind.equals("heap")) {
            world = new CoreWorld(new HeapTables(), () -> {});
        } else {
            Path directory = Files.createTempDirectory("tierlog-jmh-");
            RocksBytes bytes = new RocksBytes(directory);
            world = new CoreWorld(new WriteBehindTables(new RunTables(bytes), WriteBehindTables.KEPT), () -> {
                bytes.close();
                delete(directory);
            });
        }
        world.begin(hostBlocks, nodes);
        for (int i = 0; i < warmBlocks / BLOCKS; i++) {
            PromptCycle cycle = new PromptCycle(world);
            cycle.submitWaiting();
            cycle.fetched();
            cycle.finished();
            world.tick();
        }
        return world;
    }

    private void begin(long hostBlocks, int nodes) {
        double low = (double) (hostBlocks - BLOCKS + 1) / hostBlocks;
        Policy policy = new Policy(2, WritePolicy.WRITE_BACK, 1.0, low, 1.0, 1.0, false, BLOCKS, 30_000, 60_000, 0, true, null, null);
        step(new PolicyPublished(new Envelope(CLOCK, "policy", 0, 1, 0, 0, null, null, null), 1, policy));
        tick();
        for (int other = 1; other < nodes; other++) {
            step(registering("other-" + other, hostBlocks));
        }
        sequence++;
        step(registering("a", hostBlocks));
    }

    /** The first event of a node: the registration of its process p. */
    static AgentRegistering registering(String node, long hostBlocks) {
        Layout layout = new Layout("all", LayoutKind.ATTENTION, 36, BLOCK_TOKENS, 2_048, 2, "bf16", false);
        return new AgentRegistering(new Envelope("node/" + node, "agent/" + node + "/p", 0, 1, 0, 0, null, null, null), node, "p", "1",
                List.of(new TierCapacity(Tier.HOST, hostBlocks, 1 << 20)), List.of(layout), DIGEST, 1, 1, Map.of(), DIGEST, null, null, false);
    }

    /** Decides and evolves one event, which must be applied. */
    DecideResult step(Event event) {
        last = core.step(tables, new Input.Recorded(0, ++offset, event, 0));
        if (!last.outcome().equals(Outcome.APPLIED)) {
            throw new IllegalStateException(last.outcome() + ": " + event);
        }
        if (logBytes >= 0) {
            logBytes += encoded(WireType.of(event), event);
            last.facts().forEach(fact -> logBytes += encoded(WireType.of(fact), fact));
        }
        return last;
    }

    private static <T extends WireRecord> long encoded(WireType<T> type, WireRecord value) {
        return type.encode(type.javaType().cast(value)).length;
    }

    /** Counts from now on what the events and the decisions take, before compression. */
    void countLogBytes() {
        logBytes = 0;
    }

    /** Bytes of the log since {@link #countLogBytes}; -1 before it. */
    long logBytes() {
        return logBytes;
    }

    /** Time passes; the rows of ended requests and operations expire. */
    void tick() {
        tick(TICK_MS);
    }

    /** Time passes by {@code ms} milliseconds. */
    DecideResult tick(long ms) {
        timeMs += ms;
        return step(new Tick(new Envelope(CLOCK, CLOCK, 0, 0, 0, timeMs, null, null, null), timeMs));
    }

    /** The incarnation of a node that has registered with the last step. */
    long incarnation() {
        return last.facts().getFirst().envelope().incarnation();
    }

    Tables tables() {
        return tables;
    }

    /** The one command of that type in the last decision. */
    <C extends Command> C command(Class<C> type) {
        return last.commands().stream().filter(type::isInstance).map(type::cast).findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + type.getSimpleName() + " in " + last.commands().size() + " commands"));
    }

    /** Envelope of the agent's next event. */
    Envelope envelope() {
        return new Envelope(NODE, "agent/a/p", 1, ++sequence, 0, 0, null, null, null);
    }

    /** A new prompt. */
    Prompt prompt() {
        return prompt(BLOCKS);
    }

    /** A new prompt of that many blocks, at most {@value #BLOCKS}. */
    Prompt prompt(int size) {
        if (size < 1 || size > BLOCKS) {
            throw new IllegalArgumentException("a prompt of " + size + " blocks; it has 1 to " + BLOCKS);
        }
        long number = prompts++;
        List<Bytes> keys = new ArrayList<>(size);
        List<Block> blocks = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            // Spread like digests, since keys are digests.
            long high = (number * BLOCKS + i + 1) * 0x9E3779B97F4A7C15L;
            keys.add(Bytes.wrapUnshared(ByteBuffer.allocate(16).putLong(high).putLong(number * BLOCKS + i).array()));
            blocks.add(new Block(i, keys.get(i), i == 0 ? Bytes.EMPTY : keys.get(i - 1)));
        }
        return new Prompt("request-" + number, keys, blocks);
    }

    /** A submission of a prompt; its blocks are in the store if {@code stored}. */
    RequestSubmitted submitted(Prompt prompt, String request, boolean stored, boolean answered) {
        return submitted(prompt, request, NAMESPACE, stored, answered);
    }

    RequestSubmitted submitted(Prompt prompt, String request, String namespace, boolean stored, boolean answered) {
        int size = prompt.blocks().size();
        return new RequestSubmitted(envelope(), request, 1, namespace, prompt.keys(), size * BLOCK_TOKENS + 1, BLOCK_TOKENS, 0, List.of(),
                List.of(), 0, stored ? size : 0, true, answered, false, List.of(), null);
    }

    /** All blocks have arrived, in pages of that generation. */
    static List<BlockResult> arrived(Prompt prompt, Tier source) {
        List<BlockResult> results = new ArrayList<>(prompt.blocks().size());
        for (Block block : prompt.blocks()) {
            results.add(new BlockResult(block, BlockStatus.ARRIVED, OperationReason.COMPLETED, block.index(), 1, 77, source));
        }
        return results;
    }

    /** The blocks in the pages of {@link #arrived}, the deepest first. */
    static List<PagedBlock> deepestFirst(Prompt prompt) {
        List<PagedBlock> blocks = new ArrayList<>(prompt.blocks().size());
        for (int i = prompt.blocks().size() - 1; i >= 0; i--) {
            blocks.add(new PagedBlock(prompt.blocks().get(i), i, 1, 77));
        }
        return blocks;
    }

    @Override
    public void close() throws IOException {
        store.close();
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
