/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** What became of the blocks of probes; those that were looked at and are in memory, or nowhere, are not counted. Safe for use by several threads. */
public final class ProbeCounts {
    private final Map<End, LongAdder> byEnd = new EnumMap<>(End.class);

    /** What became of a block. */
    public enum End {
        /** A node received a request to promote it. */
        ASKED,
        /** It was requested lately, or its holders will not promote it for a while. */
        KEPT_BACK,
        /** Too much waited to be looked at. */
        DROPPED,
        /** Its lookup or its request failed. */
        FAILED
    }

    /** Nothing so far. */
    public ProbeCounts() {
        for (End end : End.values()) {
            byEnd.put(end, new LongAdder());
        }
    }

    void count(End end, int blocks) {
        adder(end).add(blocks);
    }

    /** Blocks with which it ended so. */
    public long of(End end) {
        return adder(end).sum();
    }

    private LongAdder adder(End end) {
        return Objects.requireNonNull(byEnd.get(end));
    }
}
