/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.agent.core.port.PeerReplies;
import io.tierlog.agent.core.port.PeerTransfers;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PeerReadReason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Records calls to other nodes, and answers to their readers. */
final class FakePeers implements PeerFinder, PeerTransfers, PeerReplies {
    record Find(long unit, String namespace, int firstIndex, List<Bytes> keys) {}

    record Read(long unit, PeerHolder holder, String namespace, List<PeerPage> pages) {}

    sealed interface Reply {}

    record Again(long afterMs) implements Reply {}

    record Not(PeerReadReason why) implements Reply {}

    record Sent(List<LeasedPage> pages) implements Reply {}

    final List<Find> finds = new ArrayList<>();
    final List<Read> reads = new ArrayList<>();
    final Map<Long, Reply> replies = new LinkedHashMap<>();

    @Override
    public void find(long unit, String namespace, int firstIndex, List<Bytes> keys) {
        finds.add(new Find(unit, namespace, firstIndex, List.copyOf(keys)));
    }

    @Override
    public void read(long unit, PeerHolder holder, String namespace, List<PeerPage> pages) {
        reads.add(new Read(unit, holder, namespace, pages));
    }

    @Override
    public void retry(long call, long afterMs) {
        replies.put(call, new Again(afterMs));
    }

    @Override
    public void refuse(long call, PeerReadReason why) {
        replies.put(call, new Not(why));
    }

    @Override
    public void send(long call, List<LeasedPage> pages) {
        replies.put(call, new Sent(pages));
    }
}
