/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PeerReadReason;
import java.util.List;

/** Answers to readers of other nodes. Each call of a reader, {@code AgentInput.PeerReadCalled}, is answered once by one of these. */
public interface PeerReplies {
    /** One block to send: its host page, pinned until {@code AgentInput.PeerReadFinished} comes, and the checksum that the page must have. */
    record LeasedPage(Bytes key, int hostPage, int crc32c) {}

    /** The lease has not arrived yet, or too many reads are under way: the reader tries again after this many milliseconds. */
    void retry(long call, long afterMs);

    /** Nothing is read. */
    void refuse(long call, PeerReadReason why);

    /**
     * The pages are sent, in this order. {@code AgentInput.PeerReadFinished} is posted once, however it ends, and no page is read after it.
     */
    void send(long call, List<LeasedPage> pages);
}
