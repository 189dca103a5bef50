/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A unit that the core has queued. It is a holder of its pool until it has ended.
 *
 * @param id the core's number of it
 * @param pool what its device pages are of; null when no engine has one
 * @param copies its blocks
 * @param blockBytes bytes of each
 */
record CopyUnit(long id, @Nullable EnginePool pool, List<PageCopy> copies, long blockBytes) {
    long bytes() {
        return blockBytes * copies.size();
    }

    void letGo() {
        if (pool != null) {
            pool.release();
        }
    }
}
