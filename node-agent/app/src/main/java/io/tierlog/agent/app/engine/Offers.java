/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.agent.core.port.Offer;
import io.tierlog.engine.v1.OfferReason;
import io.tierlog.schemas.Tier;

/** Offers as the engine API reports them. Static and without state. */
final class Offers {
    private Offers() {}

    static io.tierlog.engine.v1.Offer encode(Offer offer) {
        io.tierlog.engine.v1.Offer.Builder builder = io.tierlog.engine.v1.Offer.newBuilder()
                .setFirstIndex(offer.firstIndex())
                .setReason(reason(offer.reason()))
                .setLease(offer.lease());
        for (Tier tier : offer.sources()) {
            builder.addSources(source(tier));
        }
        return builder.build();
    }

    private static io.tierlog.engine.v1.Offer.Source source(Tier tier) {
        return switch (tier) {
            case HOST -> io.tierlog.engine.v1.Offer.Source.SOURCE_HOST;
            case DISK -> io.tierlog.engine.v1.Offer.Source.SOURCE_DISK;
            case STORE -> io.tierlog.engine.v1.Offer.Source.SOURCE_STORE;
            case DEVICE, UNKNOWN -> io.tierlog.engine.v1.Offer.Source.SOURCE_UNSPECIFIED;
        };
    }

    private static OfferReason reason(Offer.Reason reason) {
        return switch (reason) {
            case ALL_ON_HOST -> OfferReason.OFFER_REASON_ALL_ON_HOST;
            case NOT_REUSE_ELIGIBLE -> OfferReason.OFFER_REASON_NOT_REUSE_ELIGIBLE;
            case NOTHING_BELOW -> OfferReason.OFFER_REASON_NOTHING_BELOW;
            case BELOW_THRESHOLD -> OfferReason.OFFER_REASON_BELOW_THRESHOLD;
            case FETCHED -> OfferReason.OFFER_REASON_FETCHED;
            case FETCH_FAILED -> OfferReason.OFFER_REASON_FETCH_FAILED;
            case WAIT_EXPIRED -> OfferReason.OFFER_REASON_WAIT_EXPIRED;
            case AGENT_BUSY -> OfferReason.OFFER_REASON_AGENT_BUSY;
            case NO_ROOM -> OfferReason.OFFER_REASON_NO_ROOM;
            case CONTROLLER_BEHIND -> OfferReason.OFFER_REASON_CONTROLLER_BEHIND;
        };
    }
}
