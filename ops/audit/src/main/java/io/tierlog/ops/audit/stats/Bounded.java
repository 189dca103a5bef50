/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that drops its oldest entry when it would hold more than its limit. Not thread-safe. */
final class Bounded<K, V> extends LinkedHashMap<K, V> {
    private static final long serialVersionUID = 1L;

    private final int limit;

    Bounded(int limit) {
        this.limit = limit;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > limit;
    }
}
