/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import java.util.Arrays;
import java.util.Optional;

/** The policies by name. */
public enum RetentionPolicies {
    /** What the controller does: its eviction order. */
    DEFAULT("default", "what the product does, order gaps: a use delays a block's turn by the gap before it"),
    /** The other order of the controller. */
    LRU_LEAVES("lru-leaves", "the product's order lru: coldest leaf first, among equals the deeper one"),
    /** Tierlog's own. */
    TURNS("turns", "Tierlog's own: uses earn time, at a rate that competes with LRU"),
    /** Queues in order of arrival. */
    S3_FIFO("s3-fifo", "S3-FIFO over leaves"),
    /** A hand and marks. */
    SIEVE("sieve", "SIEVE over leaves"),
    /** Recency against frequency, by ghosts. */
    ARC("arc", "ARC over leaves"),
    /** Admission by frequency. */
    TINYLFU("tinylfu", "W-TinyLFU: admission by frequency, over leaves"),
    /** Frequency times cost. */
    GDSF("gdsf", "GDSF over leaves, by uses and cost of recomputation");

    private final String text;
    private final String description;

    RetentionPolicies(String text, String description) {
        this.text = text;
        this.description = description;
    }

    /** The name that people type. */
    public String text() {
        return text;
    }

    /** What it does, in half a line. */
    public String description() {
        return description;
    }

    /** A new one for an empty tier of {@code capacity} blocks. */
    public RetentionPolicy make(int capacity) {
        return switch (this) {
            case DEFAULT -> new Gaps();
            case LRU_LEAVES -> new LruLeaves();
            case TURNS -> new Turns(capacity);
            case S3_FIFO -> new S3Fifo(capacity);
            case SIEVE -> new Sieve();
            case ARC -> new Arc(capacity);
            case TINYLFU -> new TinyLfu(capacity);
            case GDSF -> new Gdsf();
        };
    }

    /** The policy called {@code text}. */
    public static Optional<RetentionPolicies> of(String text) {
        return Arrays.stream(values()).filter(policy -> policy.text.equals(text)).findFirst();
    }
}
