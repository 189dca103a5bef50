/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** A map that drops its oldest entry when it would hold more than its limit, and reports the key. Not thread-safe. */
final class Bounded<K, V> extends LinkedHashMap<K, V> {
    private static final long serialVersionUID = 1L;

    private final int limit;
    private final transient Consumer<K> dropped;

    Bounded(int limit) {
        this(limit, key -> {});
    }

    Bounded(int limit, Consumer<K> dropped) {
        this.limit = limit;
        this.dropped = dropped;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        if (size() > limit) {
            dropped.accept(eldest.getKey());
            return true;
        }
        return false;
    }
}
