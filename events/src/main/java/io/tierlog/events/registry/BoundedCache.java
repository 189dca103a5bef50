/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A map of at most so many entries; the one that came first leaves first. Reads take no lock, because they happen for every record;
 * writes take one, because they follow a request over the network. Trade-off: what is used most may leave, and is then asked for again.
 */
final class BoundedCache<K, V> {
    private final int maxEntries;
    private final Map<K, V> entries = new ConcurrentHashMap<>();
    private final ArrayDeque<K> arrivals = new ArrayDeque<>();

    BoundedCache(int maxEntries) {
        this.maxEntries = maxEntries;
    }

    Optional<V> get(K key) {
        return Optional.ofNullable(entries.get(key));
    }

    void put(K key, V value) {
        synchronized (arrivals) {
            if (entries.put(key, value) == null) {
                arrivals.addLast(key);
                if (arrivals.size() > maxEntries) {
                    entries.remove(arrivals.removeFirst());
                }
            }
        }
    }
}
