/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.agent.core.api.AgentLimits;

/**
 * The bounds of the engine API, checked once.
 *
 * @param pendingCalls calls that wait for the core's answer
 * @param sessions sessions open at once
 * @param queuedNotices notices that wait for an engine that reads slowly; one more ends its session
 * @param promptBlocks blocks of a prompt that the core takes, and most of a load; the core behind the API has the same bound, {@code keysPerRequest}
 * @param blocksPerCall keys or blocks in any other call; the core behind the API has the same bound of that name
 * @param namespaceBytes length of a namespace in UTF-8
 * @param callMs how long the API waits for the answer to a call that brings no deadline of its own, in milliseconds
 */
public record EngineApiLimits(
        int pendingCalls, int sessions, int queuedNotices, int promptBlocks, int blocksPerCall, int namespaceBytes, long callMs) {
    /** 1,024 calls, 16 sessions, 8,192 notices, as many blocks as the core takes (65,536 and 4,096), 1,024 bytes, 30 s. */
    public static final EngineApiLimits DEFAULTS = new EngineApiLimits(
            1_024, 16, 8_192, AgentLimits.KEYS_PER_REQUEST, AgentLimits.BLOCKS_PER_CALL, 1_024, 30_000);

    private static final int BYTES_PER_BLOCK = 128;
    private static final int BYTES_PER_CALL = 64 << 10;

    public EngineApiLimits {
        if (pendingCalls < 1 || sessions < 1 || queuedNotices < 1 || blocksPerCall < 1 || promptBlocks < blocksPerCall || namespaceBytes < 1
                || callMs < 1) {
            throw new IllegalArgumentException("limits of the engine API are 1 or more, and a prompt has no fewer blocks than a call: pendingCalls "
                    + pendingCalls + ", sessions " + sessions + ", queuedNotices " + queuedNotices + ", promptBlocks " + promptBlocks
                    + ", blocksPerCall " + blocksPerCall + ", namespaceBytes " + namespaceBytes + ", callMs " + callMs);
        }
    }

    /** With one bound for the blocks of a prompt and of a call. */
    public EngineApiLimits(int pendingCalls, int sessions, int queuedNotices, int blocksPerCall, int namespaceBytes, long callMs) {
        this(pendingCalls, sessions, queuedNotices, blocksPerCall, blocksPerCall, namespaceBytes, callMs);
    }

    /** The same as a core with these bounds has. */
    public EngineApiLimits with(AgentLimits.Bounds core) {
        return new EngineApiLimits(
                pendingCalls, sessions, queuedNotices, core.keysPerRequest(), core.blocksPerCall(), namespaceBytes, callMs);
    }

    /** Longest message: an engine may name every block of a prompt that is longer than what is taken of it. */
    int messageBytes() {
        long blocks = Math.max(promptBlocks, AgentLimits.KEYS_PER_REQUEST);
        return Math.toIntExact(Math.min(Integer.MAX_VALUE, blocks * BYTES_PER_BLOCK + namespaceBytes + BYTES_PER_CALL));
    }
}
