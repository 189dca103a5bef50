/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.Map;
import java.util.TreeMap;

/** Counts events by type, and the requests among them. Confined to one thread. */
final class MixCount {
    private final Map<String, Long> types = new TreeMap<>();
    private long requests;
    private long promptBlocks;

    void add(WireRecord event) {
        types.merge(event.schema().getName(), 1L, Long::sum);
        if (event instanceof RequestSubmitted submitted && submitted.attempt() == Workload.FIRST_ATTEMPT) {
            requests++;
            promptBlocks += submitted.keys().size();
        }
    }

    RecordedLog.Mix mix() {
        return new RecordedLog.Mix(requests, promptBlocks, types);
    }
}
