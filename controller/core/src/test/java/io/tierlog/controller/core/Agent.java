/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.DevicePage;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerCopies;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.EngineBlocksStored;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.SaveRequested;
import io.tierlog.schemas.event.WaitExpired;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** An agent process that sends the events a test chooses, numbered as an agent numbers its events. */
public final class Agent {
    public static final String NAMESPACE = "model/bf16";

    final String node;
    final String processId;
    final long host;
    final long disk;
    public long incarnation;
    long sequence;
    public @Nullable String replaces;

    public Agent(String node, String processId, long host) {
        this(node, processId, host, 0);
    }

    /** With a disk of that many blocks; 0 for none. */
    public Agent(String node, String processId, long host, long disk) {
        this.disk = disk;
        this.node = node;
        this.processId = processId;
        this.host = host;
    }

    public String aggregate() {
        return "node/" + node;
    }

    public Envelope envelope() {
        return new Envelope(aggregate(), "agent/" + node + "/" + processId, incarnation, ++sequence, 0, 0, null, null, null);
    }

    /** The envelope of an event that repeats the event of that number. */
    public Envelope repeating(long first) {
        return new Envelope(aggregate(), "agent/" + node + "/" + processId, incarnation, ++sequence, 0, 0, null, null, null, first);
    }

    public AgentRegistering registering() {
        return registering(new Layout("all", LayoutKind.ATTENTION, 4, 2, 4_096, 2, "bf16", false), 1);
    }

    public AgentRegistering registering(Layout layout, int nodesPerInstance) {
        long last = incarnation;
        incarnation = 0;
        Envelope envelope = envelope();
        incarnation = last;
        List<TierCapacity> tiers = new ArrayList<>(List.of(new TierCapacity(Tier.HOST, host, 4_096)));
        if (disk > 0) {
            tiers.add(new TierCapacity(Tier.DISK, disk, 4_096));
        }
        return new AgentRegistering(envelope, node, processId, "1", tiers, List.of(layout), digest(), nodesPerInstance, 1, Map.of(),
                digest(), replaces, null, false);
    }

    /** A bridge registers an engine that it listens to. */
    public AgentRegistering registeringForeign() {
        long last = incarnation;
        incarnation = 0;
        Envelope envelope = envelope();
        incarnation = last;
        return new AgentRegistering(envelope, node, processId, "1", List.of(), List.of(), digest(), 1, 1, Map.of(), digest(), replaces, null, true);
    }

    /** The engine has stored the block. */
    public EngineBlocksStored engineStored(Tier tier, PagedBlock... blocks) {
        return new EngineBlocksStored(envelope(), tier, NAMESPACE, List.of(blocks));
    }

    /** A block of an engine: no page, no parent. */
    public static PagedBlock engineBlock(Bytes key, int index, long generation) {
        return new PagedBlock(new Block(index, key, Bytes.EMPTY), -1, generation, 0);
    }

    public static Bytes digest() {
        return Bytes.wrapUnshared(new byte[32]);
    }

    public AgentStopping stopping() {
        return new AgentStopping(envelope(), processId);
    }

    public AgentHeartbeat heartbeat() {
        return heartbeat(0);
    }

    /** A heartbeat of an agent that has run commands up to that number. */
    public AgentHeartbeat heartbeat(long commandSequence) {
        return new AgentHeartbeat(envelope(), List.of(), commandSequence, 0, 0);
    }

    /** A prompt whose blocks have the keys of {@code path}, of two tokens each and one more token. */
    public Submission submit(String request, List<Bytes> path) {
        return new Submission(this, request, path);
    }

    public RequestPrefilled prefilled(String request, int attempt) {
        return new RequestPrefilled(envelope(), request, attempt, 0, 0, 0);
    }

    public RequestFinished finished(String request, int attempt) {
        return new RequestFinished(envelope(), request, attempt, RequestReason.COMPLETED, 1);
    }

    public RequestCancelled cancelled(String request, int attempt) {
        return new RequestCancelled(envelope(), request, attempt, RequestReason.CLIENT_CANCELLED);
    }

    public WaitExpired waitExpired(String request, int attempt) {
        return new WaitExpired(envelope(), request, attempt, 200);
    }

    public BlocksSealed sealed(String request, int attempt, List<PagedBlock> blocks) {
        return new BlocksSealed(envelope(), request, attempt, NAMESPACE, root(blocks), blocks);
    }

    public SaveRequested save(String request, int attempt, List<PagedBlock> blocks) {
        return new SaveRequested(envelope(), "a/save/1/1", request, attempt, NAMESPACE, root(blocks), blocks);
    }

    public BlocksEvicted evicted(Tier tier, RemovalReason reason, List<PagedBlock> blocks) {
        return new BlocksEvicted(envelope(), tier, NAMESPACE, reason, blocks);
    }

    private static Bytes root(List<PagedBlock> blocks) {
        return blocks.getFirst().block().index() == 0 ? blocks.getFirst().block().key() : key("root");
    }

    /** The fields of a submission, to be changed before it is sent. */
    public static final class Submission {
        private final Agent agent;
        private final String request;
        private final List<Bytes> path;
        int attempt = 1;
        int promptTokens;
        int deviceBlocks;
        int storeFrom;
        int storeBlocks;
        boolean reuseEligible = true;
        boolean answered;
        boolean keepsPages = true;
        List<DevicePage> pages = List.of();
        List<Integer> disk = List.of();
        @Nullable PeerCopies peer;
        @Nullable String instance;

        Submission(Agent agent, String request, List<Bytes> path) {
            this.agent = agent;
            this.request = request;
            this.path = path;
            this.promptTokens = path.size() * 2 + 1;
        }

        public Submission attempt(int value) {
            attempt = value;
            return this;
        }

        public Submission tokens(int value) {
            promptTokens = value;
            return this;
        }

        public Submission device(int blocks) {
            deviceBlocks = blocks;
            return this;
        }

        public Submission store(int from, int blocks) {
            storeFrom = from;
            storeBlocks = blocks;
            return this;
        }

        public Submission disk(Integer... indexes) {
            disk = List.of(indexes);
            return this;
        }

        /** Node {@code node} has {@code blocks} blocks from index {@code from} on. */
        public Submission peer(String node, Tier tier, int from, int blocks) {
            peer = new PeerCopies(node, node + ":7000", tier, from, blocks);
            return this;
        }

        /** Of that engine instance. */
        public Submission of(String engine) {
            instance = engine;
            return this;
        }

        public Submission notEligible() {
            reuseEligible = false;
            return this;
        }

        /** Names the pages of the device blocks: consecutive ones from {@code page} on, of that generation. */
        public Submission pages(int page, long generation) {
            pages = IntStream.range(page, page + deviceBlocks).mapToObj(p -> new DevicePage(p, generation)).toList();
            return this;
        }

        public Submission keepsNoPages() {
            keepsPages = false;
            pages = List.of();
            return this;
        }

        public Submission answered() {
            answered = true;
            return this;
        }

        public RequestSubmitted event() {
            return new RequestSubmitted(agent.envelope(), request, attempt, NAMESPACE, path, promptTokens, 2, deviceBlocks, List.of(), disk,
                    storeFrom, storeBlocks, reuseEligible, answered, keepsPages, pages, peer, instance);
        }
    }

    /** A key named for people: padded to eight bytes. */
    public static Bytes key(String name) {
        byte[] bytes = new byte[8];
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(text, 0, bytes, 0, Math.min(8, text.length));
        return Bytes.wrapUnshared(bytes);
    }

    public static Bytes key(long number) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(8).putLong(number).array());
    }

    /** Keys name0, name1, ... of a prompt that is alone. */
    public static List<Bytes> path(String name, int blocks) {
        List<Bytes> keys = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            keys.add(key(name + i));
        }
        return keys;
    }

    public static Block block(List<Bytes> path, int index) {
        return new Block(index, path.get(index), index == 0 ? Bytes.EMPTY : path.get(index - 1));
    }

    public static List<Block> blocks(List<Bytes> path, int from, int to) {
        List<Block> blocks = new ArrayList<>();
        for (int i = from; i < to; i++) {
            blocks.add(block(path, i));
        }
        return blocks;
    }

    /** Blocks from..to-1 in pages firstPage, firstPage + 1, ... of generation 1. */
    public static List<PagedBlock> paged(List<Bytes> path, int from, int to, int firstPage) {
        List<PagedBlock> paged = new ArrayList<>();
        for (int i = from; i < to; i++) {
            paged.add(new PagedBlock(block(path, i), firstPage + i - from, 1, 77));
        }
        return paged;
    }

    public static List<BlockResult> results(List<Block> blocks, BlockStatus status, OperationReason reason, int firstPage) {
        List<BlockResult> results = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            results.add(new BlockResult(blocks.get(i), status, reason, firstPage + i, 1, 77, Tier.UNKNOWN));
        }
        return results;
    }

    /** Blocks that were read from the store. */
    public static List<BlockResult> fetched(List<Block> blocks, int firstPage) {
        return arrived(blocks, firstPage).stream()
                .map(r -> new BlockResult(r.block(), r.status(), r.reason(), r.page(), r.generation(), r.crc32c(), Tier.STORE)).toList();
    }

    public static List<BlockResult> arrived(List<Block> blocks, int firstPage) {
        return results(blocks, BlockStatus.ARRIVED, OperationReason.COMPLETED, firstPage);
    }

    public static List<BlockResult> failed(List<Block> blocks, OperationReason reason) {
        return results(blocks, BlockStatus.FAILED, reason, -1);
    }

    public static List<BlockResult> gone(List<PagedBlock> blocks) {
        List<BlockResult> results = new ArrayList<>();
        for (PagedBlock b : blocks) {
            results.add(new BlockResult(b.block(), BlockStatus.GONE, OperationReason.COMPLETED, b.page(), b.generation(), 0, Tier.UNKNOWN));
        }
        return results;
    }

    /** All blocks of a drop are gone; the agent has seen them where the command relies on them. */
    public static List<BlockResult> gone(DropBlocks drop) {
        List<BlockResult> results = new ArrayList<>();
        for (BlockResult r : gone(drop.blocks())) {
            results.add(new BlockResult(r.block(), r.status(), r.reason(), r.page(), r.generation(), 0, drop.reliesOn()));
        }
        return results;
    }

    /** Why a drop that relies on that tier keeps a block that the tier lacks. */
    static OperationReason lacks(Tier reliesOn) {
        return reliesOn == Tier.STORE ? OperationReason.NOT_IN_STORE : OperationReason.LAST_COPY;
    }
}
