/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A second, simpler book of the owners of pages, kept beside {@link PageTable} to catch its mistakes: a page that
 * still has an owner is never allocated. It records every allocation and release. Not thread-safe; guarded by the pool's lock.
 */
final class ShadowOwners {
    private final Map<Integer, Set<String>> owners = new HashMap<>();

    /** {@code owner} gets {@code page} for new content. */
    void give(int page, String owner) {
        Set<String> present = owners.getOrDefault(page, Set.of());
        if (!present.isEmpty()) {
            throw new IllegalStateException("device page " + page + " was given to " + owner + " while " + present + " still owned it");
        }
        add(page, owner);
    }

    /** {@code owner} uses {@code page} too, for the content it has. */
    void add(int page, String owner) {
        if (!owners.computeIfAbsent(page, p -> new HashSet<>()).add(owner)) {
            throw new IllegalStateException("device page " + page + " was given twice to " + owner);
        }
    }

    /** {@code owner} has released {@code page}. */
    void remove(int page, String owner) {
        Set<String> present = owners.get(page);
        if (present == null || !present.remove(owner)) {
            throw new IllegalStateException("device page " + page + " was given back by " + owner + ", which did not own it");
        }
        if (present.isEmpty()) {
            owners.remove(page);
        }
    }

    /** Pages with at least one owner. */
    int owned() {
        return owners.size();
    }
}
