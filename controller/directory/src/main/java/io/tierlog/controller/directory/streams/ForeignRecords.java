/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.schemas.Envelope;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Notices records of one partition of the placements topic that no controller can have written, by their envelopes: the records about an owner carry
 * the numbers of its decisions, which never fall. A record with the right sender and a number that is too high is noticed at the next one about its
 * owner. For one thread. Trade-off: an owner is never forgotten, some 100 bytes each.
 */
final class ForeignRecords {
    private static final String CONTROLLER = "controller/";

    private final Map<String, Long> newest = new HashMap<>();

    /** Why the sender of the envelope is no controller, or what it is about not {@code owner}; empty when both fit. */
    static Optional<String> wrongSender(Envelope envelope, String owner) {
        boolean fits = envelope.sender().startsWith(CONTROLLER) && envelope.aggregate().equals(owner);
        return fits ? Optional.empty()
                : Optional.of("no controller wrote it: it is from " + envelope.sender() + " about " + envelope.aggregate() + ", for " + owner);
    }

    /** What is wrong with the order of the owner's records, this one included; the next one is compared with this one. */
    Optional<String> outOfOrder(Envelope envelope) {
        Long before = newest.put(envelope.aggregate(), envelope.sequence());
        return before == null || before <= envelope.sequence() ? Optional.empty()
                : Optional.of("decision " + envelope.sequence() + " about " + envelope.aggregate() + " comes after decision " + before
                        + ": one of both was not written by the controller, see tierlog audit verify");
    }
}
