/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The LRU that others are measured by: it knows blocks and no prefixes, and a request uses its blocks from the first to the last, generated ones at
 * the end. So the beginning of a cold prompt leaves before its end, which then cannot be hit. Static and without state.
 */
final class PlainLru {
    private PlainLru() {}

    /** Blocks hit by prefix. */
    static long hits(Prompts workload, int capacity) {
        Map<Long, Boolean> held = new LinkedHashMap<>(16, 0.75f, true);
        long hits = 0;
        for (Prompts.Prompt prompt : workload.prompts()) {
            int prefix = 0;
            while (prefix < prompt.blocks().length && held.containsKey(prompt.blocks()[prefix])) {
                prefix++;
            }
            hits += prefix;
            prompt.all().forEach(block -> held.put(block, true));
            Iterator<Long> coldest = held.keySet().iterator();
            while (held.size() > capacity) {
                coldest.next();
                coldest.remove();
            }
        }
        return hits;
    }
}
