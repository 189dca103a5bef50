/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.workload.BlockKey;
import java.util.OptionalLong;

/** What the log knows of the shared store. Asked at the end of a run, from one thread, once for every block missed up to the ideal. */
public interface StoredAt {
    /** Whether the history is at hand; if not, a miss is counted by the agent's answer. */
    boolean known();

    /** When the block was first stored, in ms since the epoch by the clock of the machine that runs the engines; empty when it never was. */
    OptionalLong storedAtMs(String namespace, BlockKey key);

    /** Without a history. */
    static StoredAt unknown() {
        return new StoredAt() {
            @Override
            public boolean known() {
                return false;
            }

            @Override
            public OptionalLong storedAtMs(String namespace, BlockKey key) {
                return OptionalLong.empty();
            }
        };
    }
}
