/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.schemas.Bytes;
import java.util.List;
import java.util.function.Consumer;

/** The finder of an agent without a directory: no other node has a block. */
public final class NoopPeerFinder implements PeerFinder {
    private final Consumer<AgentInput> completions;

    public NoopPeerFinder(Consumer<AgentInput> completions) {
        this.completions = completions;
    }

    @Override
    public void find(long unit, String namespace, int firstIndex, List<Bytes> keys) {
        completions.accept(new PeersFound(unit, List.of()));
    }
}
