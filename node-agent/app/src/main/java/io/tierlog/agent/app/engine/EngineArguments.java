/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import com.google.protobuf.ByteString;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.DeviceEvicted;
import io.tierlog.agent.core.api.AgentInput.EvictedBlock;
import io.tierlog.agent.core.api.AgentInput.ExistCalled;
import io.tierlog.agent.core.api.AgentInput.Finished;
import io.tierlog.agent.core.api.AgentInput.LeaseReleased;
import io.tierlog.agent.core.api.AgentInput.LoadCalled;
import io.tierlog.agent.core.api.AgentInput.Prefilled;
import io.tierlog.agent.core.api.AgentInput.ReadCalled;
import io.tierlog.agent.core.api.AgentInput.ReserveCalled;
import io.tierlog.agent.core.api.AgentInput.SaveCalled;
import io.tierlog.agent.core.api.AgentInput.Sealed;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.ExistRequest;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.OpenRequest;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.ReadRequest;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.ReleaseRequest;
import io.tierlog.engine.v1.ReserveRequest;
import io.tierlog.engine.v1.SaveRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.RequestReason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks every argument of every call and makes the core's inputs of them, so that bad input ends at the API. Without state; safe for use
 * by several threads.
 */
final class EngineArguments {
    private static final Pattern INSTANCE = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final int LEAST_KEY_BYTES = 8;
    private static final int MOST_KEY_BYTES = 32;
    private static final int DIGEST_BYTES = 32;
    private static final int MOST_ID_BYTES = 256;
    private static final int MOST_OPTIONS = 1_000;
    private static final int MOST_OPTION_BYTES = 4_096;

    private final EngineApiLimits limits;
    private final int blockBytes;

    EngineArguments(EngineApiLimits limits, int blockBytes) {
        this.limits = limits;
        this.blockBytes = blockBytes;
    }

    String instance(OpenRequest request) throws BadArgumentException {
        String instance = request.getInstance();
        check(INSTANCE.matcher(instance).matches(), "instance", "is not 1 to 64 letters, digits, dots, dashes or underscores");
        return instance;
    }

    /** Checks everything of the call but the memory and how it is laid out. */
    void buffers(RegisterBuffersRequest request) throws BadArgumentException {
        if (EngineBuffers.opaque(request)) {
            text("shared_memory_path", request.getSharedMemoryPath(), MOST_OPTION_BYTES);
        } else {
            check(request.getSharedMemoryPath().isEmpty(), "shared_memory_path", "is given, and regions or layers too: one or the other");
        }
        least("pages", request.getPages(), 1);
        least("block_bytes", request.getBlockBytes(), 1);
        check(request.getBlockBytes() == blockBytes, "block_bytes", "is " + request.getBlockBytes() + ", this agent moves " + blockBytes);
        check(request.getLayoutDigest().size() == DIGEST_BYTES, "layout_digest",
                "has " + request.getLayoutDigest().size() + " bytes, a SHA-256 has " + DIGEST_BYTES);
        check(request.getConfigurationCount() <= MOST_OPTIONS, "configuration", "has more than " + MOST_OPTIONS + " entries");
        for (Map.Entry<String, String> option : request.getConfigurationMap().entrySet()) {
            text("configuration name", option.getKey(), MOST_ID_BYTES);
            check(option.getValue().length() <= MOST_OPTION_BYTES, "configuration[" + option.getKey() + "]", "is too long");
        }
    }

    Submitted submit(long call, SubmitRequest request, int devicePages, @Nullable String traceContext) throws BadArgumentException {
        least("prompt_tokens", request.getPromptTokens(), 1);
        least("block_tokens", request.getBlockTokens(), 1);
        int wholeBlocks = request.getPromptTokens() / request.getBlockTokens();
        int keysCount = request.getKeysCount();
        check(keysCount <= wholeBlocks && keysCount >= Math.min(wholeBlocks, limits.promptBlocks()), "keys", "are " + keysCount + ", but "
                + request.getPromptTokens() + " tokens in blocks of " + request.getBlockTokens() + " have " + wholeBlocks
                + " whole blocks: name all of them, or the first " + limits.promptBlocks() + " at least");
        check(request.getDeviceBlocks() >= 0 && request.getDeviceBlocks() <= keysCount, "device_blocks",
                "is " + request.getDeviceBlocks() + ", must be 0 to " + keysCount);
        check(request.getPrefillNsPerToken() >= 0 && request.getPrefillNsPerToken() <= EngineCallChecks.MOST_PREFILL_NS, "prefill_ns_per_token",
                "is " + request.getPrefillNsPerToken() + ", must be 0 (not known) to " + EngineCallChecks.MOST_PREFILL_NS);
        List<Bytes> keys = new ArrayList<>(request.getKeysCount());
        for (ByteString key : request.getKeysList()) {
            keys.add(key("keys[" + keys.size() + "]", key));
        }
        return new Submitted(
                call,
                attempt(request.getSession(), request.getRequest(), request.getAttempt()),
                namespace(request.getNamespace()),
                List.copyOf(keys),
                request.getPromptTokens(),
                request.getBlockTokens(),
                request.getDeviceBlocks(),
                request.getDevicePagesCount() == 0 ? List.of() : run(request.getDevicePagesList(), request.getDeviceBlocks(), devicePages),
                request.getKeepsPages(),
                request.getReuseEligible(),
                request.getPrefillNsPerToken(),
                traceContext);
    }

    LoadCalled load(long call, LoadRequest request, int devicePages) throws BadArgumentException {
        boolean outside = request.getRequest().isEmpty() && request.getAttempt() == 0;
        return new LoadCalled(
                call,
                outside ? new Attempt(request.getSession(), "", 0) : attempt(request.getSession(), request.getRequest(), request.getAttempt()),
                namespace(request.getNamespace()),
                lease(request.getLease()),
                run(request.getBlocksList(), limits.promptBlocks(), devicePages));
    }

    ExistCalled exist(long call, ExistRequest request) throws BadArgumentException {
        return new ExistCalled(call, request.getSession(), namespace(request.getNamespace()), keys(request.getKeysList()));
    }

    ReserveCalled reserve(long call, ReserveRequest request) throws BadArgumentException {
        least("lease_ms", request.getLeaseMs(), 0);
        return new ReserveCalled(
                call, request.getSession(), namespace(request.getNamespace()), keys(request.getKeysList()), request.getLeaseMs());
    }

    LeaseReleased release(long call, ReleaseRequest request) throws BadArgumentException {
        return new LeaseReleased(call, request.getSession(), lease(request.getLease()));
    }

    /** One key at least. */
    private List<Bytes> keys(List<ByteString> named) throws BadArgumentException {
        check(!named.isEmpty(), "keys", "are none");
        count("keys", named.size());
        List<Bytes> keys = new ArrayList<>(named.size());
        for (ByteString key : named) {
            keys.add(key("keys[" + keys.size() + "]", key));
        }
        return List.copyOf(keys);
    }

    private static String lease(String lease) throws BadArgumentException {
        text("lease", lease, MOST_ID_BYTES);
        return lease;
    }

    Prefilled prefilled(long call, PrefilledRequest request) throws BadArgumentException {
        least("device_blocks", request.getDeviceBlocks(), 0);
        least("loaded_blocks", request.getLoadedBlocks(), 0);
        least("computed_blocks", request.getComputedBlocks(), 0);
        return new Prefilled(
                call,
                attempt(request.getSession(), request.getRequest(), request.getAttempt()),
                request.getDeviceBlocks(),
                request.getLoadedBlocks(),
                request.getComputedBlocks());
    }

    Sealed sealed(long call, SealedRequest request, int devicePages) throws BadArgumentException {
        List<DeviceBlock> blocks = run(request.getBlocksList(), devicePages, devicePages);
        boolean first = blocks.getFirst().index() == 0;
        check(first == request.getParent().isEmpty(), "parent", first ? "is given, but the first block has index 0" : "is missing");
        Bytes root = key("root", request.getRoot());
        check(!first || root.equals(blocks.getFirst().key()), "root", "is not the key of block 0");
        return new Sealed(
                call,
                attempt(request.getSession(), request.getRequest(), request.getAttempt()),
                namespace(request.getNamespace()),
                root,
                first ? Bytes.EMPTY : key("parent", request.getParent()),
                blocks);
    }

    ReadCalled read(long call, ReadRequest request, int devicePages) throws BadArgumentException {
        check(request.getBlocksCount() > 0, "blocks", "are none");
        count("blocks", request.getBlocksCount());
        least("wait_ms", request.getWaitMs(), 0);
        List<DeviceBlock> blocks = new ArrayList<>(request.getBlocksCount());
        for (BlockPage block : request.getBlocksList()) {
            String at = "blocks[" + blocks.size() + "]";
            page(at, block.getIndex(), block.getPage(), block.getGeneration(), devicePages);
            blocks.add(new DeviceBlock(block.getIndex(), key(at + ".key", block.getKey()), block.getPage(), block.getGeneration()));
        }
        long waitMs = request.hasWaitMs() ? request.getWaitMs() : -1;
        return new ReadCalled(call, request.getSession(), namespace(request.getNamespace()), List.copyOf(blocks), waitMs);
    }

    SaveCalled save(long call, SaveRequest request, int devicePages) throws BadArgumentException {
        return new SaveCalled(
                call,
                attempt(request.getSession(), request.getRequest(), request.getAttempt()),
                namespace(request.getNamespace()),
                run(request.getBlocksList(), limits.blocksPerCall(), devicePages));
    }

    Finished finish(long call, FinishRequest request) throws BadArgumentException {
        least("generated_tokens", request.getGeneratedTokens(), 0);
        RequestReason reason = switch (request.getOutcome()) {
            case OUTCOME_COMPLETED -> RequestReason.COMPLETED;
            case OUTCOME_PREEMPTED -> RequestReason.PREEMPTED;
            case OUTCOME_REJECTED_CONTEXT_LENGTH -> RequestReason.CONTEXT_LENGTH;
            case OUTCOME_REJECTED_KV_BUDGET -> RequestReason.KV_BUDGET;
            case OUTCOME_REJECTED_UNKNOWN_ADAPTER -> RequestReason.UNKNOWN_ADAPTER;
            case OUTCOME_UNSPECIFIED, UNRECOGNIZED -> throw new BadArgumentException("outcome " + request.getOutcomeValue() + " is none");
        };
        Attempt attempt = attempt(request.getSession(), request.getRequest(), request.getAttempt());
        return new Finished(call, attempt, reason, request.getGeneratedTokens());
    }

    DeviceEvicted evicted(long call, EvictedRequest request, int devicePages) throws BadArgumentException {
        check(request.getBlocksCount() > 0, "blocks", "are none");
        count("blocks", request.getBlocksCount());
        List<EvictedBlock> blocks = new ArrayList<>(request.getBlocksCount());
        for (io.tierlog.engine.v1.EvictedBlock block : request.getBlocksList()) {
            String at = "blocks[" + blocks.size() + "]";
            page(at, block.getIndex(), block.getPage(), block.getGeneration(), devicePages);
            boolean first = block.getIndex() == 0;
            check(first == block.getParent().isEmpty(), at + ".parent", first ? "is given, but its index is 0" : "is missing");
            blocks.add(new EvictedBlock(
                    block.getIndex(),
                    key(at + ".key", block.getKey()),
                    first ? Bytes.EMPTY : key(at + ".parent", block.getParent()),
                    block.getPage(),
                    block.getGeneration()));
        }
        return new DeviceEvicted(call, request.getSession(), namespace(request.getNamespace()), List.copyOf(blocks));
    }

    Attempt attempt(String session, String request, int attempt) throws BadArgumentException {
        text("request", request, MOST_ID_BYTES);
        least("attempt", attempt, 1);
        return new Attempt(session, request, attempt);
    }

    /** A contiguous run of so many blocks at most, ascending by index. */
    private static List<DeviceBlock> run(List<BlockPage> pages, int most, int devicePages) throws BadArgumentException {
        check(!pages.isEmpty(), "blocks", "are none");
        count("blocks", pages.size(), most);
        List<DeviceBlock> blocks = new ArrayList<>(pages.size());
        for (BlockPage block : pages) {
            String at = "blocks[" + blocks.size() + "]";
            page(at, block.getIndex(), block.getPage(), block.getGeneration(), devicePages);
            int expected = pages.getFirst().getIndex() + blocks.size();
            check(block.getIndex() == expected, at + ".index", "is " + block.getIndex() + ", a contiguous run has " + expected + " here");
            blocks.add(new DeviceBlock(block.getIndex(), key(at + ".key", block.getKey()), block.getPage(), block.getGeneration()));
        }
        return List.copyOf(blocks);
    }

    private static void page(String at, int index, int page, long generation, int devicePages) throws BadArgumentException {
        least(at + ".index", index, 0);
        check(page >= 0 && page < devicePages, at + ".page", "is " + page + ", the device has pages 0 to " + (devicePages - 1));
        least(at + ".generation", generation, 0);
    }

    private static Bytes key(String what, ByteString key) throws BadArgumentException {
        check(key.size() >= LEAST_KEY_BYTES && key.size() <= MOST_KEY_BYTES, what, "has " + key.size() + " bytes, a key has 8 to 32");
        return Bytes.wrapUnshared(key.toByteArray());
    }

    private String namespace(String namespace) throws BadArgumentException {
        text("namespace", namespace, limits.namespaceBytes());
        return namespace;
    }

    private void count(String what, int count) throws BadArgumentException {
        count(what, count, limits.blocksPerCall());
    }

    private static void count(String what, int count, int most) throws BadArgumentException {
        check(count <= most, what, "are " + count + ", a call has " + most + " at most");
    }

    private static void text(String what, String text, int mostBytes) throws BadArgumentException {
        check(!text.isEmpty(), what, "is empty");
        check(text.getBytes(StandardCharsets.UTF_8).length <= mostBytes, what, "is longer than " + mostBytes + " bytes");
    }

    private static void least(String what, long value, long least) throws BadArgumentException {
        check(value >= least, what, "is " + value + ", must be " + least + " or more");
    }

    private static void check(boolean right, String what, String wrong) throws BadArgumentException {
        if (!right) {
            throw new BadArgumentException(what + " " + wrong);
        }
    }
}
