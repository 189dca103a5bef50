/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is remembered of blocks that have left: a number for each, the oldest forgotten first. Confined to one thread.
 */
final class Ghosts {
    /** A key and a number in an ordered table. */
    static final int BYTES = 80;

    private final Map<Long, Long> numbers = new LinkedHashMap<>();
    private final int most;

    /** @param most blocks remembered, 1 or more */
    Ghosts(int most) {
        this.most = Math.max(1, most);
    }

    int size() {
        return numbers.size();
    }

    /** Remembers {@code number}, 1 or more, of a block that leaves. */
    void add(Kept block, long number) {
        numbers.put(block.id(), number);
        if (numbers.size() > most) {
            removeOldest();
        }
    }

    /** What was remembered of {@code block}, and is no longer; 0 for nothing. */
    long remove(Kept block) {
        Long number = numbers.remove(block.id());
        return number == null ? 0 : number;
    }

    void removeOldest() {
        Iterator<Long> oldest = numbers.keySet().iterator();
        oldest.next();
        oldest.remove();
    }
}
