/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.agent.bridge.view.BlockBook;
import io.tierlog.agent.bridge.view.NamespaceRule;
import io.tierlog.agent.bridge.view.Publisher;

/**
 * How sources are followed.
 *
 * @param silenceMs time without a batch after which a publisher is asked whether the last ones were lost
 * @param unknownMs time after which a view with lost batches counts as whole again
 * @param engineMs time after which an engine whose connection is lost counts as gone
 * @param idleMs the same for a publisher that connects to this bridge and sends nothing
 * @param hintMs time after which a block whose removal has no event counts no longer unless it is named again
 * @param mostBlocks of one instance
 */
public record SourceRules(NamespaceRule naming, long silenceMs, long unknownMs, long engineMs, long idleMs, long hintMs, int mostBlocks) {
    private static final long ANSWER_MS = 2_000;
    private static final int TRIES = 3;
    private static final int WAITING_BATCHES = 10_000;
    private static final long WAITING_BYTES = 32L << 20;
    private static final int INSTANCES = 1_024;

    Publisher.Rules following(boolean replays) {
        return new Publisher.Rules(replays, silenceMs, ANSWER_MS, TRIES, unknownMs, WAITING_BATCHES, WAITING_BYTES, INSTANCES);
    }

    BlockBook.Rules books(boolean counting) {
        return new BlockBook.Rules(naming, counting, mostBlocks, hintMs);
    }
}
