/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.agent.core.port.EngineReplies.Whereabouts;
import io.tierlog.agent.core.port.Offer;
import java.util.List;

/** What the core can answer a call with, refusals apart. */
sealed interface Answer {
    /** To Submit: go on with this. */
    record Offered(Offer offer) implements Answer {}

    /** To Submit: a Ready notice follows. */
    record Waits() implements Answer {}

    /** To Load. */
    record Loaded(int blocks, String reason) implements Answer {}

    /** To Exist. */
    record Found(List<Whereabouts> blocks) implements Answer {}

    /** To Reserve. */
    record Reserved(String lease, long leaseMs) implements Answer {}

    /** To Read. */
    record Read(List<BlockAnswer> blocks) implements Answer {}

    /** To Save. */
    record Saved(List<BlockAnswer> blocks) implements Answer {}

    /** To everything else. */
    record Done() implements Answer {}
}
