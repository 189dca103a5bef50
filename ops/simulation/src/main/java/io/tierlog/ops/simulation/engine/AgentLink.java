/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import io.tierlog.schemas.Bytes;
import java.util.List;

/**
 * The engine's calls to the agent of its node. Every method returns the number of the call: a {@link AgentReply} with this number follows sooner or
 * later, or never.
 */
public interface AgentLink {
    /** Names one attempt of one request of one session. */
    record Attempt(String session, String request, int number) {}

    /** A block in a device page. */
    record PageBlock(int index, Bytes key, Bytes parent, int page, long generation) {}

    /** Whether there is an agent that accepts calls. */
    boolean isUp();

    /** Opens a session of the one instance of this engine. */
    long open(String session);

    /** Hands over the device pool of so many pages. */
    long register(String session, int pages);

    /** A request, whose first blocks are on the device in these pages. */
    long submit(Attempt attempt, Prompt prompt, List<PageBlock> onDevice, boolean reuseEligible);

    /** Host to device; the lease names what is loaded, the request is empty outside of requests. */
    long load(Attempt attempt, String namespace, String lease, List<PageBlock> blocks);

    /** Host to device by name. */
    long read(String session, String namespace, List<PageBlock> blocks, long waitMs);

    /** Where blocks are. */
    long exist(String session, Prompt prompt);

    /** All of these shall stay on the host for a while. */
    long reserve(String session, String namespace, List<Bytes> keys, long leaseMs);

    /** Releases the lease. */
    long giveUp(String session, String lease);

    /** The caller of {@code call} is gone; the pages that it may touch are kept until they are released. */
    void gone(long call, Attempt attempt, List<Integer> pages);

    /** The prompt is prefilled. */
    long prefilled(Attempt attempt, int deviceBlocks, int loadedBlocks, int computedBlocks);

    /** A run of whole blocks is on the device. */
    long sealed(Attempt attempt, String namespace, Bytes root, List<PageBlock> blocks);

    /** Sealed blocks shall be on the host now. */
    long save(Attempt attempt, String namespace, List<PageBlock> blocks);

    /** The attempt has ended: COMPLETED, PREEMPTED, or a reason of rejection. */
    long finished(Attempt attempt, String reason, int generatedTokens);

    /** The attempt is cancelled. */
    long cancelled(Attempt attempt);

    /** Blocks have left the device. */
    long evicted(String session, String namespace, List<PageBlock> blocks);
}
