/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Tier;
import java.util.List;

/**
 * What an engine may load for an attempt: the blocks {@code firstIndex .. firstIndex + sources.size() - 1}, on the host and pinned for it.
 *
 * @param firstIndex index of the first offered block in the prompt
 * @param sources the tier each block was on when the request came (HOST, DISK or STORE)
 * @param reason why no more is offered
 * @param lease names the pins of the offered blocks: a load consumes it; empty when none is offered
 */
public record Offer(int firstIndex, List<Tier> sources, Reason reason, String lease) {
    public Offer {
        sources = List.copyOf(sources);
    }

    /** An offer of nothing. */
    public static Offer none(int firstIndex, Reason reason) {
        return new Offer(firstIndex, List.of(), reason, "");
    }

    /** The closed list of reasons. */
    public enum Reason {
        ALL_ON_HOST,
        NOT_REUSE_ELIGIBLE,
        NOTHING_BELOW,
        BELOW_THRESHOLD,
        FETCHED,
        FETCH_FAILED,
        WAIT_EXPIRED,
        AGENT_BUSY,
        NO_ROOM,
        CONTROLLER_BEHIND
    }
}
