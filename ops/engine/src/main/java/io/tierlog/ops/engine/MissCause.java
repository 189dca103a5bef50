/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import java.util.Locale;

/** Why a block that an infinite shared cache would have had was computed. The closed list. */
public enum MissCause {
    /** An earlier request was still computing it, or it was still on its way to the store. */
    IN_FLIGHT,
    /** It was computed, and has left every tier before it was stored. */
    EVICTED_BEFORE_BACKUP,
    /** Too few blocks below the host for a fetch. */
    BELOW_THRESHOLD,
    /** It holds the last token of the prompt, which is always computed. */
    PARTIAL_BLOCK,
    /** The request may not reuse a prefix. */
    NOT_REUSE_ELIGIBLE,
    /** It was there, and a block before it in the prompt was not. */
    TOO_SHORT_CHAIN,
    /** The wait for the fetch came to its end, the agent's or the engine's. */
    WAIT_EXPIRED,
    /** The controller answered later than the request would have waited, so it did not wait. */
    CONTROLLER_BEHIND,
    /** No capacity on the host for the fetch. */
    NO_ROOM,
    /** The fetch failed, or part of it. */
    FETCH_FAILED,
    /** The agent had it and did not load it to the device. */
    LOAD_FAILED,
    /** It arrived with wrong content. */
    WRONG_CONTENT,
    /** The agent was not on the log, had too much to do, or refused. */
    AGENT_BUSY,
    /** There was no session with an agent. */
    NO_AGENT,
    /** The agent found it on no lower tier, and the history of the store is not at hand. */
    NOTHING_BELOW,
    /** It was stored before the request came, and the agent did not find it. */
    OTHER;

    /** As it is written in reports. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
