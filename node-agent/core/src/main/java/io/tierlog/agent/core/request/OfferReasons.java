/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.RequestReason;

/** The reason that an engine receives when the controller fetches nothing for a request. Without state. */
final class OfferReasons {
    private OfferReasons() {}

    static Offer.Reason of(RequestReason reason) {
        return switch (reason) {
            case BELOW_THRESHOLD -> Offer.Reason.BELOW_THRESHOLD;
            case NOTHING_BELOW -> Offer.Reason.NOTHING_BELOW;
            case NOT_REUSE_ELIGIBLE -> Offer.Reason.NOT_REUSE_ELIGIBLE;
            case FETCH_FAILED -> Offer.Reason.FETCH_FAILED;
            case QUOTA_EXCEEDED -> Offer.Reason.NO_ROOM;
            case UNKNOWN, DRAINING, SUBMITTED, ANSWERED_AT_ONCE, FETCH_ISSUED, FETCH_ARRIVED, WAIT_EXPIRED, PREFILLED, COMPLETED, PREEMPTED,
                    CLIENT_CANCELLED, ENGINE_GONE, NODE_LOST, NEW_ATTEMPT, CONTEXT_LENGTH, KV_BUDGET, UNKNOWN_ADAPTER ->
                Offer.Reason.AGENT_BUSY;
        };
    }
}
