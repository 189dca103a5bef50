/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.schemas.Bytes;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.Nested;

/** The contracts of reads across nodes, held by the implementation in memory, without faults and with them. */
class PeerContractsTest {
    private static PeerTable finding(Consumer<AgentInput> told) {
        return new PeerTable(PeerFinderContract.SELF, PeerFinderContract.COPIES, PeerFinderContract::key, page -> new byte[0], told);
    }

    @Nested
    class FinderInMemory extends PeerFinderContract {
        @Override
        protected PeerFinder finder(BlockingQueue<AgentInput> told) {
            return finding(told::add);
        }
    }

    @Nested
    class FaultyFinder extends PeerFinderContract {
        @Override
        protected PeerFinder finder(BlockingQueue<AgentInput> told) {
            return finding(new FaultyPeers(11, told::add));
        }

        @Override
        protected boolean faulty() {
            return true;
        }
    }

    /** Reads into arrays. */
    abstract static class InMemory extends PeerTransfersContract {
        private final byte[][] pages = new byte[PAGES][BLOCK];

        PeerTable table(Map<Bytes, byte[]> shared, Consumer<AgentInput> told) {
            PeerTable table = new PeerTable("b", List.of(), PeerFinderContract::key, page -> pages[page], told);
            table.lease("g", shared);
            return table;
        }

        @Override
        protected String address() {
            return "a:7000";
        }

        @Override
        protected String unreachable() {
            return "x:7000";
        }

        @Override
        protected byte[] page(int number) {
            return pages[number];
        }
    }

    @Nested
    class TransfersInMemory extends InMemory {
        @Override
        protected PeerTransfers transfers(Map<Bytes, byte[]> shared, BlockingQueue<AgentInput> told) {
            return table(shared, told::add);
        }
    }

    @Nested
    class FaultyTransfers extends InMemory {
        @Override
        protected PeerTransfers transfers(Map<Bytes, byte[]> shared, BlockingQueue<AgentInput> told) {
            return table(shared, new FaultyPeers(12, told::add));
        }

        @Override
        protected boolean faulty() {
            return true;
        }
    }
}
