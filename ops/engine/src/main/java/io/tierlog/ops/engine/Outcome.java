/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.workload.Request;
import java.util.List;
import java.util.OptionalLong;

/**
 * What became of one request that was served.
 *
 * @param ideal leading blocks of its prompt that an infinite shared cache would have had
 * @param origins where each block of its prompt came from
 * @param misses for each block up to the ideal that was computed, why
 */
record Outcome(Request request, int ideal, List<Origin> origins, List<Miss> misses, Times times) {
    /**
     * Measured and modelled times, in ns.
     *
     * @param answer from the submit to the offer, waited for or not; empty without an agent
     * @param ready the same, for those that had to wait
     * @param load the load; empty when there was nothing to load
     * @param firstToken wait and load as measured, and the modelled cost of computing the rest
     */
    record Times(OptionalLong answer, OptionalLong ready, OptionalLong load, long firstToken) {}

    /** One block that was missed; {@code settled} false when the history of the store may still tell more. */
    record Miss(int index, MissCause cause, boolean settled) {}

    Outcome {
        origins = List.copyOf(origins);
        misses = List.copyOf(misses);
    }

    Hits hits() {
        return new Hits(count(Origin.DEVICE), count(Origin.HOST), count(Origin.DISK), count(Origin.STORE));
    }

    long computed() {
        return count(Origin.COMPUTED);
    }

    /** Hits that the ideal did not have, because requests overtook each other. */
    long beyondIdeal() {
        return origins.stream().skip(ideal).filter(origin -> origin != Origin.COMPUTED).count();
    }

    private long count(Origin origin) {
        return origins.stream().filter(each -> each == origin).count();
    }
}
