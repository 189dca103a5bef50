/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.ShardResults;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
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
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The events of an agent that executes every command at once and successfully: a page of memory is a number. One thread.
 *
 * <p>Its events are numbered and chained as a real agent's.
 */
final class FakeAgent {
    static final String NAMESPACE = "model/a rev/1";
    static final int BLOCK_TOKENS = 16;
    static final long HOST_BLOCKS = 4_000_000;
    private static final Bytes DIGEST = Bytes.wrapUnshared(new byte[32]);

    final String node;
    final String aggregate;
    private final String process;
    private final long hostBlocks;
    private final long diskBlocks;
    private final Map<String, RecordStamp> stamps = new HashMap<>();
    private long incarnation;
    private int nextPage;

    FakeAgent(String node, String process) {
        this(node, process, HOST_BLOCKS, 0);
    }

    /** With that capacity, and a disk when {@code diskBlocks} is not 0. */
    FakeAgent(String node, String process, long hostBlocks, long diskBlocks) {
        this.hostBlocks = hostBlocks;
        this.diskBlocks = diskBlocks;
        this.node = node;
        this.aggregate = "node/" + node;
        this.process = process;
    }

    /** From now on it is the agent of this incarnation of the node. */
    void accepted(long newIncarnation) {
        incarnation = newIncarnation;
    }

    AgentRegistering registering() {
        List<TierCapacity> tiers = new ArrayList<>(
                List.of(new TierCapacity(Tier.DEVICE, 10_000, 1_024), new TierCapacity(Tier.HOST, hostBlocks, 1_024)));
        if (diskBlocks > 0) {
            tiers.add(new TierCapacity(Tier.DISK, diskBlocks, 1_024));
        }
        List<Layout> layouts = List.of(new Layout("all", LayoutKind.ATTENTION, 1, BLOCK_TOKENS, 512, 2, "bf16", false));
        return stamped(
                new AgentRegistering(blank(aggregate), node, process, "test", tiers, layouts, DIGEST, 1, 1, Map.of(), DIGEST, null, null, false));
    }

    EngineAttached attached() {
        return stamped(new EngineAttached(blank(aggregate), "engine-0", 10_000, DIGEST, Map.of()));
    }

    /** What the disk still held when this process began. */
    BlocksRecovered recovered(Prompt prompt) {
        List<PagedBlock> found = onDisk(IntStream.range(0, prompt.blocks()).mapToObj(prompt::block).toList());
        return stamped(new BlocksRecovered(blank(aggregate), Tier.DISK, NAMESPACE, found, 0));
    }

    AgentStopping stopping() {
        return stamped(new AgentStopping(blank(aggregate), process));
    }

    AgentHeartbeat heartbeat() {
        TierUsage usage = new TierUsage(Tier.HOST, HOST_BLOCKS, HOST_BLOCKS - nextPage, 0, 0, nextPage, 0, 0, 0);
        return stamped(new AgentHeartbeat(blank(aggregate), List.of(usage), 0, 0, 0));
    }

    /** A request for a prompt of which only the store has the first blocks. */
    RequestSubmitted submitted(String request, Prompt prompt, int storeBlocks) {
        return stamped(new RequestSubmitted(
                blank(aggregate),
                request,
                1,
                NAMESPACE,
                prompt.keys(),
                prompt.blocks() * BLOCK_TOKENS + 1,
                BLOCK_TOKENS,
                0,
                List.of(),
                List.of(),
                0,
                storeBlocks,
                true,
                false,
                false,
                List.of(),
                null));
    }

    /** The rest of that request: the blocks from {@code computed} on are computed and sealed. */
    List<Event> prefilledSealedFinished(String request, Prompt prompt, int computed) {
        List<PagedBlock> sealed = IntStream.range(computed, prompt.blocks())
                .mapToObj(i -> new PagedBlock(prompt.block(i), nextPage++, 1, 0))
                .toList();
        List<Event> events = new ArrayList<>();
        events.add(stamped(
                new RequestPrefilled(blank(aggregate), request, 1, 0, computed, prompt.blocks() - computed)));
        if (!sealed.isEmpty()) {
            events.add(stamped(new BlocksSealed(blank(aggregate), request, 1, NAMESPACE, prompt.key(0), sealed)));
        }
        events.add(stamped(new RequestFinished(blank(aggregate), request, 1, RequestReason.COMPLETED, 5)));
        return events;
    }

    /** A completed write-back of an operation that the controller may or may not know. */
    WriteBackDone writeBackDone(String operation, List<Block> blocks) {
        return stamped(new WriteBackDone(blank(aggregate), operation, NAMESPACE, landed(pages(blocks)), blocks.size(), 1));
    }

    /** What comes back for a command. */
    List<Event> on(Command command) {
        return switch (command) {
            case PrefetchBlocks c -> {
                OperationStarted started = started(c.operation(), OperationKind.PREFETCH, c.blocks());
                yield List.of(
                        started,
                        stamped(new PrefetchDone(
                                blank(aggregate), c.operation(), c.lease(), c.namespace(), fetched(started.pages()), c.blocks().size(), 1)));
            }
            case WriteBackBlocks c -> {
                OperationStarted started = started(c.operation(), OperationKind.WRITE_BACK, blocks(c.blocks()));
                yield List.of(
                        started,
                        stamped(new WriteBackDone(
                                blank(aggregate), c.operation(), c.namespace(), landed(started.pages()), c.blocks().size(), 1)));
            }
            case BackUpBlocks c -> List.of(
                    stamped(new BackUpDone(blank(aggregate), c.operation(), c.namespace(), landed(c.blocks()), c.blocks().size(), 1)),
                    stamped(new BlocksStored(blank("store/0"), node, c.namespace(), c.blocks())));
            case CopyBlocks c -> List.of(stamped(new CopyDone(blank(aggregate), c.operation(), c.source(), c.target(), c.namespace(),
                    results(onDisk(blocks(c.blocks())), BlockStatus.ARRIVED, c.source()), c.blocks().size(), 1)));
            case DropBlocks c -> List.of(stamped(new DropDone(
                    blank(aggregate), c.operation(), c.tier(), c.namespace(), results(c.blocks(), BlockStatus.GONE, c.reliesOn()))));
            case CancelOperation c -> List.of(stamped(new OperationCancelled(
                    blank(aggregate), c.operation(), OperationReason.NEVER_STARTED, "", List.of())));
            case PromoteBlocks c -> List.of(stamped(new PromoteDone(blank(aggregate), c.operation(), c.lease(), c.namespace(),
                    fetched(pages(blocks(c.blocks()))), List.of(), c.blocks().size(), 1)));
            case DeleteObjects c -> List.of(stamped(new ObjectsDeleted(blank(c.shard()), node, c.deletion(), c.objects().stream()
                    .map(one -> new ShardResults(one.namespace(), results(one.blocks(), BlockStatus.GONE, Tier.UNKNOWN))).toList())));
            case ResumeRequest _, ReleaseRequest _, RefuseSave _, ReleasePins _, FenceAgent _, GrantPeerRead _, RefusePeerRead _ -> List.of();
        };
    }

    private OperationStarted started(String operation, OperationKind kind, List<Block> blocks) {
        return stamped(new OperationStarted(blank(aggregate), operation, kind, NAMESPACE, pages(blocks)));
    }

    private List<PagedBlock> pages(List<Block> blocks) {
        return blocks.stream().map(block -> new PagedBlock(block, nextPage++, 1, 77)).toList();
    }

    private static List<PagedBlock> onDisk(List<Block> blocks) {
        return blocks.stream().map(block -> new PagedBlock(block, -1, 1, 77)).toList();
    }

    private static List<BlockResult> landed(List<PagedBlock> pages) {
        return results(pages, BlockStatus.ARRIVED, Tier.UNKNOWN);
    }

    private static List<BlockResult> fetched(List<PagedBlock> pages) {
        return results(pages, BlockStatus.ARRIVED, Tier.STORE);
    }

    private static List<BlockResult> results(List<PagedBlock> pages, BlockStatus status, Tier source) {
        return pages.stream()
                .map(page -> new BlockResult(
                        page.block(), status, OperationReason.COMPLETED, page.page(), page.generation(), page.crc32c(), source))
                .toList();
    }

    private static List<Block> blocks(List<PagedBlock> pages) {
        return pages.stream().map(PagedBlock::block).toList();
    }

    private Envelope blank(String about) {
        return new Envelope(about, "agent/" + node + "/" + process, incarnation, 0, 0, 0, null, null, null);
    }

    @SuppressWarnings("unchecked") // withEnvelope gives the record's own type.
    private <T extends Event> T stamped(T event) {
        RecordStamp last = stamps.getOrDefault(event.envelope().aggregate(), RecordStamp.NONE);
        T stamped = (T) event.withEnvelope(last.onto(event.envelope()));
        stamps.put(event.envelope().aggregate(), last.after(Codec.avro(stamped)));
        return stamped;
    }

    /** A prompt of whole blocks whose keys follow from a number. */
    record Prompt(long number, int blocks) {
        Bytes key(int index) {
            return Bytes.wrapUnshared(ByteBuffer.allocate(16).putLong(number).putLong(index + 1).array());
        }

        List<Bytes> keys() {
            return IntStream.range(0, blocks).mapToObj(this::key).toList();
        }

        Block block(int index) {
            return new Block(index, key(index), index == 0 ? Bytes.EMPTY : key(index - 1));
        }
    }
}
