/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.app.store.SharedStore;
import io.tierlog.agent.app.store.StoreWorkers;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.agent.core.port.StoreTransfers.StoredObject;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import java.util.List;

/** Units of one block between host pages and a store, by the agent's workers, with a thread of each kind for every transfer at a time. */
final class StoreUnits implements AutoCloseable {
    private final HostBlocks host;
    private final SharedStore store;
    private final StoreWorkers workers;

    /** Receives the end of every unit, from any thread. */
    interface Ended {
        void unit(long id, List<UnitResult> results);
    }

    /** The store is closed with this. */
    StoreUnits(SharedStore store, HostBlocks host, Ended ended) {
        this.host = host;
        this.store = store;
        StoreWorkers.Limits usual = StoreWorkers.Limits.DEFAULTS;
        int depth = host.shape().depth();
        StoreWorkers.Limits limits = new StoreWorkers.Limits(depth, depth, depth, usual.queueObjects(), usual.queueBytes(), usual.pieceObjects());
        this.workers = new StoreWorkers("bench", store, host.pool(), limits, input -> ended(input, ended));
    }

    private static void ended(AgentInput input, Ended ended) {
        if (input instanceof StoreUnitEnded end) {
            ended.unit(end.unit(), end.results());
        }
    }

    /** Begins to move a block. */
    void begin(Mode mode, long id, int block) {
        switch (mode) {
            case write -> workers.write(id, HostBlocks.NAMESPACE, List.of(new PageObject(host.key(block), block, host.crc32c(block))));
            case read -> workers.read(id, HostBlocks.NAMESPACE, List.of(new PageObject(host.key(block), block, 0)));
        }
    }

    /** Begins to delete a block that has this generation. */
    void delete(long id, int block, long generation) {
        workers.delete(id, HostBlocks.NAMESPACE, List.of(new StoredObject(host.key(block), generation)));
    }

    @Override
    public void close() {
        workers.close();
        store.close();
    }
}
