/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import java.io.Serial;
import java.util.LinkedHashMap;
import java.util.Map;

/** A map that forgets the entry that was put first when it is full: what never ends takes no memory. For one thread. */
final class Eldest<K, V> extends LinkedHashMap<K, V> {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int most;

    Eldest(int most) {
        this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > most;
    }
}
