/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import java.util.function.Consumer;

/** Collects violations, with the record that is being checked. Confined to one partition's fold. */
final class Findings {
    private final Consumer<Violation> listener;
    private final int partition;
    private String topicKind = Violation.EVENTS;
    private long offset;

    Findings(Consumer<Violation> listener, int partition) {
        this.listener = listener;
        this.partition = partition;
    }

    void at(String kind, long recordOffset) {
        topicKind = kind;
        offset = recordOffset;
    }

    /** Offset of the record that is being checked. */
    long offset() {
        return offset;
    }

    /** The record that is being checked violates the invariant. */
    void say(Invariant invariant, String detail) {
        listener.accept(new Violation(invariant, topicKind, partition, offset, detail));
    }

    /** An earlier decision breaks it, as shows only now. */
    void sayOfDecision(Invariant invariant, long decisionOffset, String detail) {
        listener.accept(new Violation(invariant, Violation.DECISIONS, partition, decisionOffset, detail));
    }

    /** An earlier event breaks it, as shows only now. */
    void sayOfEvent(Invariant invariant, long eventOffset, String detail) {
        listener.accept(new Violation(invariant, Violation.EVENTS, partition, eventOffset, detail));
    }
}
