/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.api;

import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.command.Command;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Everything that can happen to an agent core. {@code nowMs} comes with every call to it, from a monotonic clock. */
public sealed interface AgentInput {
    // --- from the log

    /**
     * The controller has accepted this process; commands are run from here on.
     *
     * @param sessionMs time without an event after which the node counts as lost, in milliseconds; null when it is not known
     */
    record Registered(long incarnation, long commandSequence, Policy policy, @Nullable Long sessionMs) implements AgentInput {}

    /** Another process speaks for the node now: drain, then stop. */
    record Fenced(long byIncarnation) implements AgentInput {}

    /** The log may miss an event of this process, so it speaks no longer under its incarnation; it registers again as another process. */
    record LogLost() implements AgentInput {}

    /** A command for this node, in the order of the log. */
    record CommandReceived(Command command) implements AgentInput {}

    // --- from engines; call is the number under which EngineReplies answers

    /** A session begins. */
    record SessionOpened(long call, String session, String instance) implements AgentInput {}

    /** A session has ended; orderly when the engine closed it. */
    record SessionClosed(String session, boolean orderly) implements AgentInput {}

    /** The engine's device pool. */
    record BuffersRegistered(
            long call, String session, int pages, long blockBytes, Bytes layoutDigest, Map<String, String> configuration)
            implements AgentInput {}

    /** Names one attempt of one request of one session. */
    record Attempt(String session, String request, int attempt) {}

    /**
     * One attempt of a request.
     *
     * @param onDevice the leading {@code deviceBlocks} in their pages; empty when the engine does not name them
     * @param keepsPages whether the engine keeps those pages, and loaded ones, until the agent releases them; without it only sealed pages are saved
     * @param prefillNsPerToken what computing a token of a prompt costs the engine, in nanoseconds; 0 when it does not say so
     * @param traceContext what the envelopes of its events carry; null without a trace. The core does not look at it
     */
    record Submitted(
            long call,
            Attempt attempt,
            String namespace,
            List<Bytes> keys,
            int promptTokens,
            int blockTokens,
            int deviceBlocks,
            List<DeviceBlock> onDevice,
            boolean keepsPages,
            boolean reuseEligible,
            long prefillNsPerToken,
            @Nullable String traceContext)
            implements AgentInput {
        /** Of a request without a trace, of an engine that does not state its cost. */
        public Submitted(
                long call,
                Attempt attempt,
                String namespace,
                List<Bytes> keys,
                int promptTokens,
                int blockTokens,
                int deviceBlocks,
                List<DeviceBlock> onDevice,
                boolean keepsPages,
                boolean reuseEligible) {
            this(call, attempt, namespace, keys, promptTokens, blockTokens, deviceBlocks, onDevice, keepsPages, reuseEligible, 0, null);
        }
    }

    /** A block in a device page, as the engine names it. */
    record DeviceBlock(int index, Bytes key, int page, long generation) {}

    /** Host to device, for blocks of {@code lease}; the request is empty, and the attempt 0, for a reservation made outside of requests. */
    record LoadCalled(long call, Attempt attempt, String namespace, String lease, List<DeviceBlock> blocks) implements AgentInput {}

    /**
     * Host to device by name, outside of requests. Blocks on their way to the host are waited for, {@code waitMs} milliseconds for all of them
     * together; negative for the agent's own time.
     */
    record ReadCalled(long call, String session, String namespace, List<DeviceBlock> blocks, long waitMs) implements AgentInput {}

    /** Where the blocks of {@code keys} are, without any consequence. */
    record ExistCalled(long call, String session, String namespace, List<Bytes> keys) implements AgentInput {}

    /** All of {@code keys} shall stay on the host for {@code leaseMs} milliseconds, 0 for the agent's own time; or none. */
    record ReserveCalled(long call, String session, String namespace, List<Bytes> keys, long leaseMs) implements AgentInput {}

    /** The engine releases a lease. */
    record LeaseReleased(long call, String session, String lease) implements AgentInput {}

    /**
     * The caller of a call does not get an answer: its deadline has passed, or the caller is gone. This input comes after the call, which may be
     * under way, answered or refused by then, or may never have come. {@code pages} are the device pages of a Load or Read, as the caller
     * named them, for that attempt.
     */
    record CallGone(long call, Attempt attempt, List<Integer> pages) implements AgentInput {
        /** Of a call that names no device pages to write to. */
        public CallGone(long call) {
            this(call, new Attempt("", "", 0), List.of());
        }
    }

    /** The prompt is prefilled. */
    record Prefilled(long call, Attempt attempt, int deviceBlocks, int loadedBlocks, int computedBlocks) implements AgentInput {}

    /** A contiguous run of whole blocks on the device; parent is the key before the first one. */
    record Sealed(long call, Attempt attempt, String namespace, Bytes root, Bytes parent, List<DeviceBlock> blocks)
            implements AgentInput {}

    /** Blocks that the attempt has sealed shall be on the host now. */
    record SaveCalled(long call, Attempt attempt, String namespace, List<DeviceBlock> blocks) implements AgentInput {}

    /** The attempt has ended: COMPLETED, PREEMPTED, or one of the rejections. */
    record Finished(long call, Attempt attempt, RequestReason reason, int generatedTokens) implements AgentInput {}

    /** The engine cancels the attempt. */
    record Cancelled(long call, Attempt attempt) implements AgentInput {}

    /** A block that left the engine's device pool. */
    record EvictedBlock(int index, Bytes key, Bytes parent, int page, long generation) {}

    /** The engine has dropped blocks. */
    record DeviceEvicted(long call, String session, String namespace, List<EvictedBlock> blocks) implements AgentInput {}

    // --- completions of what the ports started

    /** Result of one block of a unit; {@code crc32c} of the bytes that arrived; {@code generation} on disk or in the store, else 0. */
    record UnitResult(BlockStatus status, OperationReason reason, int crc32c, long generation) {
        /** One that has no generation. */
        public UnitResult(BlockStatus status, OperationReason reason, int crc32c) {
            this(status, reason, crc32c, 0);
        }
    }

    /** A unit of DeviceCopies is idle; results in the order of its copies. */
    record CopiesEnded(long unit, List<UnitResult> results) implements AgentInput {}

    /** The store has answered a probe: {@code present} keys from the first on; {@code reachable} false when it could not be reached. */
    record StoreProbed(long unit, int present, boolean reachable) implements AgentInput {}

    /** A unit of StoreTransfers is idle; results in the order of its objects. */
    record StoreUnitEnded(long unit, List<UnitResult> results) implements AgentInput {}

    /** A unit of DiskTransfers is idle; results in the order of its blocks. */
    record DiskUnitEnded(long unit, List<UnitResult> results) implements AgentInput {}

    /** Other nodes that have the blocks; empty when there are none, or the directory could not be reached. */
    record PeersFound(long unit, List<PeerFinder.Holder> holders) implements AgentInput {}

    /** A unit of PeerTransfers is idle; results in the order of its pages. */
    record PeerUnitEnded(long unit, List<UnitResult> results) implements AgentInput {}

    /** An agent of node {@code asker} reads blocks of a peer read lease; call is the number under which PeerReplies answers. */
    record PeerReadCalled(long call, String grant, String asker, String namespace, List<Bytes> keys) implements AgentInput {}

    /**
     * A read of another node has ended; no page is read for it now.
     *
     * @param sentBlocks blocks that were sent whole, count
     * @param sentBytes bytes that were sent
     * @param reason COMPLETED, CANCELLED by the reader, EXPIRED, or IO
     * @param wrong blocks whose page was found not to have its checksum
     */
    record PeerReadFinished(long call, int sentBlocks, long sentBytes, PeerReadReason reason, List<Bytes> wrong) implements AgentInput {}

    /** A placement that the disk held when the process started, from its header; {@code bytes} is its length. */
    record FoundOnDisk(String namespace, Block block, long generation, int crc32c, int bytes) {}

    /**
     * What the disk held when the process started, in any number of steps; {@code last} with the final one. Until then nothing of the disk is
     * used. Comes only to an agent that has a disk tier.
     */
    record DiskFound(List<FoundOnDisk> copies, boolean last) implements AgentInput {}

    /** Blocks of the disk that the shared store was seen to have; any number of steps, once {@link AgentStatus#diskOpen} has been true. */
    record SeenInStore(String namespace, List<Block> blocks) implements AgentInput {}

    // --- time

    /** Time has passed; deadlines and heartbeats are looked at. */
    record TimePassed() implements AgentInput {}

    /** The process stops: refuse new work, finish transfers, report the end. */
    record StopRequested() implements AgentInput {}

    /** What an agent registers with; kept here because the core checks engines against it; no disk tier when {@code diskBlocks} is 0. */
    record Registration(String node, List<Layout> layouts, Bytes layoutDigest, long blockBytes, int hostBlocks, int diskBlocks) {}
}
