/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import io.tierlog.agent.core.port.PeerReplies;
import io.tierlog.schemas.PeerReadReason;
import java.util.List;

/** The replies of an agent without a peer API, which receives no calls. */
public final class NoopPeerReplies implements PeerReplies {
    @Override
    public void retry(long call, long afterMs) {
        throw noPeerApi(call);
    }

    @Override
    public void refuse(long call, PeerReadReason why) {
        throw noPeerApi(call);
    }

    @Override
    public void send(long call, List<LeasedPage> pages) {
        throw noPeerApi(call);
    }

    private static IllegalStateException noPeerApi(long call) {
        return new IllegalStateException("this agent has no peer API and cannot have received call " + call + "");
    }
}
