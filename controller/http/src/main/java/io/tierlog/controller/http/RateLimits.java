/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Bounds the requests of each caller: a bucket for each, which holds the requests of one second and fills evenly. Safe for use by several threads. Of
 * more than {@value #CALLERS} callers the one that has been silent for longest begins with a full bucket again.
 */
final class RateLimits {
    private static final int CALLERS = 10_000;
    private static final double SECOND_NS = 1e9;

    private final int perSecond;
    private final LongSupplier nowNs;
    private final Map<String, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true);

    private static final class Bucket {
        private double requests;
        private long atNs;
    }

    /** @param perSecond 0 for no limit */
    RateLimits(int perSecond, LongSupplier nowNs) {
        this.perSecond = perSecond;
        this.nowNs = nowNs;
    }

    /** Whether a caller may make a request now. */
    boolean admits(String caller) {
        return perSecond == 0 || take(caller);
    }

    private synchronized boolean take(String caller) {
        long now = nowNs.getAsLong();
        Bucket bucket = buckets.get(caller);
        if (bucket == null) {
            bucket = new Bucket();
            bucket.requests = perSecond;
            buckets.put(caller, bucket);
            if (buckets.size() > CALLERS) {
                buckets.remove(buckets.keySet().iterator().next());
            }
        } else {
            bucket.requests = Math.min(perSecond, bucket.requests + (now - bucket.atNs) / SECOND_NS * perSecond);
        }
        bucket.atNs = now;
        if (bucket.requests < 1) {
            return false;
        }
        bucket.requests--;
        return true;
    }
}
