/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.port.PeerReplies.LeasedPage;
import io.tierlog.agent.core.port.PeerTransfers;
import io.tierlog.agent.core.port.PeerTransfersContract;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The real reader, over sockets, from the real peer API of a node whose core shares the blocks of a map. */
class PeerClientContractTest extends PeerTransfersContract {
    private static final PeerLimits LIMITS = new PeerLimits(2_048, 2, 8, 16, 10_000, 5_000, 1L << 20, 2, 4, PeerLimits.UNBOUNDED);

    private final HostPool from = HostPool.allocate(PAGES, BLOCK);
    private final HostPool to = HostPool.allocate(PAGES, BLOCK);
    private final Map<Bytes, LeasedPage> leasedPages = new LinkedHashMap<>();
    private int port;

    @Override
    protected PeerTransfers transfers(Map<Bytes, byte[]> blocks, BlockingQueue<AgentInput> told) {
        own(from);
        own(to);
        blocks.forEach((key, bytes) -> {
            int page = leasedPages.size();
            from.buffer(page).put(bytes);
            leasedPages.put(key, new LeasedPage(key, page, from.crc32c(page)));
        });
        ExecutorService core = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
        own(core::shutdownNow);
        PeerServer[] server = new PeerServer[1];
        PeerServer.Wiring wiring = new PeerServer.Wiring(PeerAddress.parse("127.0.0.1:0"), Optional.empty(), Tls.NONE, from, input -> {
            core.execute(() -> answer(server[0], (PeerReadCalled) input));
            return true;
        }, input -> {}, new PeerGate());
        server[0] = own(new PeerServer("a", wiring, LIMITS)).start();
        port = server[0].port();
        return own(new PeerClient("b", to, new PeerClient.Access(Optional.empty(), Tls.NONE), LIMITS, told::add));
    }

    private void answer(PeerServer server, PeerReadCalled asked) {
        List<LeasedPage> pages = new ArrayList<>();
        asked.keys().forEach(key -> pages.add(leasedPages.getOrDefault(key, new LeasedPage(key, -1, 0))));
        if (!asked.grant().equals("g") || pages.stream().anyMatch(page -> page.hostPage() < 0)) {
            server.refuse(asked.call(), PeerReadReason.NOT_SERVING);
        } else {
            server.send(asked.call(), pages);
        }
    }

    @Override
    protected String address() {
        return "127.0.0.1:" + port;
    }

    /** A port that was free a moment ago. */
    @Override
    protected String unreachable() {
        try (ServerSocket free = new ServerSocket(0)) {
            return "127.0.0.1:" + free.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected byte[] page(int number) {
        byte[] bytes = new byte[BLOCK];
        to.buffer(number).get(bytes);
        return bytes;
    }
}
