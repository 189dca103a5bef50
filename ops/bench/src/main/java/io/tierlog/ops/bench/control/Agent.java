/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.BenchException;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.CopyBlocks;
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
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An agent without bytes: it answers each command at once, like an agent whose transfers take no time, so that the controller's state is that of a
 * busy node. Host memory fills up to its watermark and stays there. Safe for use by several threads.
 */
final class Agent {
    private static final int HOST_BLOCKS = 20_000;
    private static final long BLOCK_BYTES = 16 << 10;
    private static final int CRC = 1;

    private final String node;
    private final String processId;
    private final Sender sender;
    private final Workload workload;
    private final Pages pages = new Pages(HOST_BLOCKS);
    private final Map<String, Long> commands = new TreeMap<>();
    private long commandSequence;

    Agent(String node, Sender sender, Workload workload) {
        this.node = node;
        this.processId = "bench-" + node;
        this.sender = sender;
        this.workload = workload;
    }

    Sender sender() {
        return sender;
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
                List.of(new TierCapacity(Tier.HOST, HOST_BLOCKS, BLOCK_BYTES)),
                List.of(layout),
                sha256("all/ATTENTION/1/16/" + BLOCK_BYTES / 2 + "/2/bf16"),
                1,
                1,
                configuration,
                sha256("benchmark=control\n"),
                null, null));
    }

    synchronized void heartbeat() {
        TierUsage host = new TierUsage(Tier.HOST, HOST_BLOCKS, pages.available(), 0, 0, pages.used(), 0, 0, 0);
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
            case WriteBackBlocks write -> refuse(write.header(), write.operation(), OperationReason.UNSUPPORTED);
            case BackUpBlocks backUp -> refuse(backUp.header(), backUp.operation(), OperationReason.UNSUPPORTED);
            case CopyBlocks copy -> refuse(copy.header(), copy.operation(), OperationReason.UNSUPPORTED);
            case PromoteBlocks promote -> refuse(promote.header(), promote.operation(), OperationReason.UNSUPPORTED);
            case GrantPeerRead grant -> began(grant.header());
            case RefusePeerRead refusal -> began(refusal.header());
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

    /** All blocks arrive, the prompt is prefilled, the request ends. */
    private void fetch(PrefetchBlocks fetch) {
        if (pages.available() < fetch.blocks().size()) {
            refuse(fetch.header(), fetch.operation(), OperationReason.NO_ROOM);
        } else {
            List<PagedBlock> placed = new ArrayList<>(fetch.blocks().size());
            for (Block block : fetch.blocks()) {
                int page = pages.allocate();
                placed.add(new PagedBlock(block, page, pages.generation(page), CRC));
            }
            List<BlockResult> results =
                    placed.stream().map(at -> result(at, BlockStatus.ARRIVED, Tier.STORE)).toList();
            sender.send(new OperationStarted(
                    Workload.blank(), fetch.operation(), OperationKind.PREFETCH, fetch.namespace(), placed));
            sender.send(new PrefetchDone(
                    Workload.blank(), fetch.operation(), fetch.lease(), fetch.namespace(), results, placed.size() * BLOCK_BYTES, 1));
        }
        sender.send(workload.prefilled(fetch.request(), fetch.blocks().size()));
        sender.send(workload.finished(fetch.request()));
    }

    private void drop(DropBlocks drop) {
        drop.blocks().forEach(block -> pages.free(block.page()));
        List<BlockResult> results =
                drop.blocks().stream().map(at -> result(at, BlockStatus.GONE, drop.reliesOn())).toList();
        sender.send(new DropDone(Workload.blank(), drop.operation(), drop.tier(), drop.namespace(), results));
    }

    private static BlockResult result(PagedBlock at, BlockStatus status, Tier source) {
        return new BlockResult(at.block(), status, OperationReason.COMPLETED, at.page(), at.generation(), at.crc32c(), source);
    }

    private static Bytes sha256(String text) {
        try {
            return Bytes.wrapUnshared(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }
}
