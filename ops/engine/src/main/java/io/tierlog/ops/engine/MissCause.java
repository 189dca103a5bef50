/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import java.util.Locale;

/** Why a block that an infinite shared cache would have had was computed. The closed list. */
public enum MissCause {
    /** An earlier request was still making it, or it was still on its way to the store. */
    IN_FLIGHT,
    /** It was made, and has left every tier before it was ever stored. */
    EVICTED_BEFORE_BACKUP,
    /** So few blocks below the host that fetching them is not worth it. */
    BELOW_THRESHOLD,
    /** It holds the last token of the prompt, which is always computed. */
    PARTIAL_BLOCK,
    /** The request may not reuse a prefix. */
    NOT_REUSE_ELIGIBLE,
    /** It was there, and a block before it in the prompt was not. */
    TOO_SHORT_CHAIN,
    /** The wait for the fetch came to its end, the agent's or the engine's. */
    WAIT_EXPIRED,
    /** No room on the host for the fetch. */
    NO_ROOM,
    /** The fetch failed, or part of it. */
    FETCH_FAILED,
    /** The agent had it and did not bring it to the device. */
    LOAD_FAILED,
    /** It came with other content than it must have. */
    WRONG_CONTENT,
    /** The agent was not on the log, had too much to do, or refused. */
    AGENT_BUSY,
    /** There was no session with an agent. */
    NO_AGENT,
    /** The agent knew no lower tier that holds it, and nobody knows more. */
    NOTHING_BELOW,
    /** It was stored before the request came, and the agent did not find it. */
    OTHER;

    /** As it is written in reports. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
