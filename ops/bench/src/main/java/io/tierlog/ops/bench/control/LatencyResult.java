/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * The latencies of one part, all rounds together. No thread writes to the histogram any more.
 *
 * @param micros times from the moment a request should have been sent, in microseconds
 * @param roundMedians the median of each round, in microseconds: how steady the machine was
 * @param count requests and answers, warm-up included
 */
record LatencyResult(Histogram micros, List<Long> roundMedians, Arrivals.Count count) {
    static LatencyResult of(Arrivals arrivals) {
        Histogram micros = arrivals.micros();
        return new LatencyResult(micros, List.of(micros.getValueAtPercentile(50)), arrivals.count());
    }

    LatencyResult plus(LatencyResult other) {
        Histogram sum = micros.copy();
        sum.add(other.micros);
        List<Long> medians = new ArrayList<>(roundMedians);
        medians.addAll(other.roundMedians);
        return new LatencyResult(sum, medians, count.plus(other.count));
    }
}
