/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.ops.audit.Finding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What is wrong: all are counted, and the first {@value #KEPT} are kept. Safe for use by several threads. */
final class HeadFindings {
    private static final int KEPT = 100;

    private final List<Finding> kept = new ArrayList<>();
    private long count;

    /**
     * One more.
     *
     * @param timeMs of the head that shows it, milliseconds since 1970; 0 when there is none
     */
    synchronized void add(String topic, int partition, long offset, long timeMs, String detail) {
        count++;
        if (kept.size() < KEPT) {
            // Behind all records: what names the record itself comes first.
            kept.add(new Finding(Finding.HEADS, topic, partition, offset, timeMs, Long.MAX_VALUE, detail));
        }
    }

    /** The kept ones, the earliest first. */
    synchronized List<Finding> kept() {
        return kept.stream().sorted(Comparator.comparingLong(Finding::timestampMs).thenComparing(Finding::topic).thenComparingInt(Finding::partition)
                .thenComparingLong(Finding::offset)).toList();
    }

    synchronized long count() {
        return count;
    }
}
