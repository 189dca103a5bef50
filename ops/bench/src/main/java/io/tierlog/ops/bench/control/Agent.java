/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.agent.core.operation.StoreShard;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Sha256;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.RefusePeerRead;
import io.tierlog.schemas.command.RefuseSave;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An agent without bytes: it answers each command at once, like an agent whose transfers take no time, so that the controller's state is that of a
 * busy node. Host memory fills up to its watermark and stays there. Safe for use by several threads.
 */
final class Agent {
    /** Pages of a device, for requests that compute blocks. */
    static final int DEVICE_BLOCKS = 1_024;

    private static final long BLOCK_BYTES = 16 << 10;
    private static final int CRC = 1;
    private static final int STORE_SHARDS = 16;
    private static final Bytes LAYOUTS = Bytes.wrapUnshared(Sha256.of("all/ATTENTION/1/16/" + BLOCK_BYTES / 2 + "/2/bf16"));

    private final String node;
    private final String processId;
    private final Sender sender;
    private final Course course;
    private final Pages pages;
    private final int deviceBlocks;
    private final Set<Bytes> onHost = new HashSet<>();
    private final Map<String, Long> commands = new TreeMap<>();
    private long commandSequence;

    /** What requests do. */
    interface Course {
        /** The events of a request whose blocks have arrived, from its prefill to its end. */
        List<Event> fetched(String request, int blocks);
    }

    /** With a device of {@link #DEVICE_BLOCKS}. */
    Agent(String node, Sender sender, int hostBlocks, Course course) {
        this(node, sender, hostBlocks, DEVICE_BLOCKS, course);
    }

    Agent(String node, Sender sender, int hostBlocks, int deviceBlocks, Course course) {
        this.node = node;
        this.processId = processId(node);
        this.sender = sender;
        this.pages = new Pages(hostBlocks);
        this.deviceBlocks = deviceBlocks;
        this.course = course;
    }

    static String processId(String node) {
        return "bench-" + node;
    }

    Sender sender() {
        return sender;
    }

    /** Whether this block serves on the host. */
    synchronized boolean hasOnHost(Bytes key) {
        return onHost.contains(key);
    }

    /** Whether relief has begun: the host has been full. */
    synchronized boolean hasRelieved() {
        return commands.containsKey("DropBlocks");
    }

    /** Host pages in use. */
    synchronized int hostBlocks() {
        return pages.used();
    }

    boolean is(String process) {
        return process.equals(processId);
    }

    /** Commands received, by type. */
    synchronized Map<String, Long> commands() {
        return Map.copyOf(commands);
    }

    synchronized void accepted(long incarnation) {
        sender.incarnation(incarnation);
    }

    void register() {
        Layout layout = new Layout("all", LayoutKind.ATTENTION, 1, 16, BLOCK_BYTES / 2, 2, "bf16", false);
        Map<String, String> configuration = Map.of("benchmark", "control");
        sender.send(new AgentRegistering(
                Workload.blank(),
                node,
                processId,
                "benchmark",
                List.of(
                        new TierCapacity(Tier.DEVICE, deviceBlocks, BLOCK_BYTES),
                        new TierCapacity(Tier.HOST, pages.capacity(), BLOCK_BYTES)),
                List.of(layout),
                LAYOUTS,
                1,
                1,
                configuration,
                Bytes.wrapUnshared(Sha256.of("benchmark=control\n")),
                null, null, false));
    }

    /** Its engine comes, for requests that compute blocks. */
    void attach() {
        sender.send(new EngineAttached(Workload.blank(), "engine-0", deviceBlocks, LAYOUTS, Map.of()));
    }

    /** The host still holds these blocks, which its controller does not know. */
    synchronized void recover(List<Block> blocks) {
        sender.send(new BlocksRecovered(Workload.blank(), Tier.HOST, Workload.NAMESPACE, placed(blocks), 0));
    }

    synchronized void heartbeat() {
        TierUsage host = new TierUsage(Tier.HOST, pages.capacity(), pages.available(), 0, 0, pages.used(), 0, 0, 0);
        sender.send(new AgentHeartbeat(Workload.blank(), List.of(host), commandSequence, 0, 0));
    }

    /**
     * Runs a command.
     *
     * @param answered receives the request that the command answers, before anything else happens
     */
    synchronized void run(Command command, Consumer<String> answered) {
        commands.merge(command.schema().getName(), 1L, Long::sum);
        switch (command) {
            case PrefetchBlocks fetch -> {
                answered.accept(fetch.request());
                began(fetch.header());
                fetch(fetch);
            }
            case DropBlocks drop -> {
                began(drop.header());
                drop(drop);
            }
            case CancelOperation cancel -> sender.send(new OperationCancelled(
                    Workload.blank(), cancel.operation(), OperationReason.NEVER_STARTED, "", List.of()));
            case ResumeRequest resume -> began(resume.header());
            case ReleaseRequest release -> began(release.header());
            case RefuseSave refusal -> began(refusal.header());
            case ReleasePins release -> began(release.header());
            case WriteBackBlocks write -> {
                began(write.header());
                writeBack(write);
            }
            case BackUpBlocks backUp -> {
                began(backUp.header());
                backUp(backUp);
            }
            case CopyBlocks copy -> refuse(copy.header(), copy.operation(), OperationReason.UNSUPPORTED);
            case PromoteBlocks promote -> refuse(promote.header(), promote.operation(), OperationReason.UNSUPPORTED);
            case GrantPeerRead grant -> began(grant.header());
            case RefusePeerRead refusal -> began(refusal.header());
            case DeleteObjects delete -> throw BenchException.failed(
                    "the controller evicts from the store of the benchmark: " + delete.deletion(),
                    "leave the capacity of the store out of the policy");
            case FenceAgent fence -> throw BenchException.failed(
                    "the controller fenced node " + node + " of the benchmark for incarnation " + fence.currentIncarnation(),
                    "the machine may be too slow for this load: try a lower --rate");
        }
    }

    private void began(CommandHeader header) {
        commandSequence = Math.max(commandSequence, header.commandSequence());
    }

    private void refuse(CommandHeader header, @Nullable String operation, OperationReason reason) {
        sender.send(new CommandRefused(
                Workload.blank(), header.command(), header.commandSequence(), operation, reason, "the agent of the benchmark"));
    }

    /** All blocks arrive, and the request goes on to its end. */
    private void fetch(PrefetchBlocks fetch) {
        if (pages.available() < fetch.blocks().size()) {
            refuse(fetch.header(), fetch.operation(), OperationReason.NO_ROOM);
        } else {
            List<PagedBlock> placed = placed(fetch.blocks());
            sender.send(new OperationStarted(
                    Workload.blank(), fetch.operation(), OperationKind.PREFETCH, fetch.namespace(), placed));
            sender.send(new PrefetchDone(
                    Workload.blank(), fetch.operation(), fetch.lease(), fetch.namespace(), results(placed, BlockStatus.ARRIVED, Tier.STORE),
                    placed.size() * BLOCK_BYTES, 1));
        }
        course.fetched(fetch.request(), fetch.blocks().size()).forEach(sender::send);
    }

    private void writeBack(WriteBackBlocks write) {
        if (pages.available() < write.blocks().size()) {
            refuse(write.header(), write.operation(), OperationReason.NO_ROOM);
            return;
        }
        List<PagedBlock> placed = placed(write.blocks().stream().map(PagedBlock::block).toList());
        sender.send(new OperationStarted(Workload.blank(), write.operation(), OperationKind.WRITE_BACK, write.namespace(), placed));
        sender.send(new WriteBackDone(
                Workload.blank(), write.operation(), write.namespace(), results(placed, BlockStatus.ARRIVED, Tier.UNKNOWN),
                placed.size() * BLOCK_BYTES, 1));
    }

    private void backUp(BackUpBlocks backUp) {
        List<PagedBlock> blocks = backUp.blocks();
        sender.send(new BackUpDone(
                Workload.blank(), backUp.operation(), backUp.namespace(), results(blocks, BlockStatus.ARRIVED, Tier.UNKNOWN),
                blocks.size() * BLOCK_BYTES, 1));
        String shard = "store/" + StoreShard.of(backUp.namespace(), backUp.root(), STORE_SHARDS);
        List<PagedBlock> objects = blocks.stream().map(at -> new PagedBlock(at.block(), -1, 1, at.crc32c())).toList();
        sender.send(shard, new BlocksStored(Workload.blank(), node, backUp.namespace(), objects));
    }

    private void drop(DropBlocks drop) {
        for (PagedBlock block : drop.blocks()) {
            pages.free(block.page());
            onHost.remove(block.block().key());
        }
        sender.send(new DropDone(
                Workload.blank(), drop.operation(), drop.tier(), drop.namespace(), results(drop.blocks(), BlockStatus.GONE, drop.reliesOn())));
    }

    private List<PagedBlock> placed(List<Block> blocks) {
        List<PagedBlock> placed = new ArrayList<>(blocks.size());
        for (Block block : blocks) {
            int page = pages.allocate();
            placed.add(new PagedBlock(block, page, pages.generation(page), CRC));
            onHost.add(block.key());
        }
        return placed;
    }

    private static List<BlockResult> results(List<PagedBlock> blocks, BlockStatus status, Tier source) {
        return blocks.stream().map(at -> result(at, status, source)).toList();
    }

    private static BlockResult result(PagedBlock at, BlockStatus status, Tier source) {
        return new BlockResult(at.block(), status, OperationReason.COMPLETED, at.page(), at.generation(), at.crc32c(), source);
    }
}
