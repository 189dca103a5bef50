/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An infinite cache shared by all engines of a run: what could have been a hit at best.
 *
 * <p>Requests are admitted in order of arrival, and one admitted earlier counts as having left all its blocks: that makes the ideal a property of
 * the workload, equal in every run. What had really been sealed by some moment is kept beside it, so that a miss that only a slower arrival would
 * have avoided can be distinguished. Thread-safe. Trade-off: an entry for every unique block of the workload.
 */
public final class IdealCache {
    private final Map<BlockId, Boolean> sealed = new HashMap<>();

    /** Admits {@code request}; the leading blocks of its prompt that some earlier request had, the partial one included. */
    public synchronized int admit(Request request) {
        int prefix = 0;
        while (prefix < request.accesses() && sealed.containsKey(request.id(request.promptKeys().get(prefix)))) {
            prefix++;
        }
        request.promptKeys().forEach(key -> sealed.putIfAbsent(request.id(key), false));
        request.generatedKeys().forEach(key -> sealed.putIfAbsent(request.id(key), false));
        return prefix;
    }

    /** Some engine has sealed blocks {@code keys} of {@code request}. */
    public synchronized void sealAll(Request request, List<BlockKey> keys) {
        keys.forEach(key -> sealed.put(request.id(key), true));
    }

    /** Whether any engine has sealed {@code block} so far. */
    public synchronized boolean isSealed(BlockId block) {
        return sealed.getOrDefault(block, false);
    }

    /** Blocks known so far. */
    public synchronized int size() {
        return sealed.size();
    }
}
