/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.streams;

import io.tierlog.controller.streams.DamagedState;
import io.tierlog.controller.streams.RestorableStore;
import io.tierlog.controller.streams.RowStore;
import io.tierlog.events.topic.Topics;
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.Stores;

/**
 * Three sources, one processor, one store. The topics have the same partitions, so partition p of each makes one task.
 *
 * <pre>
 *   events, decisions, commands --> fold --> live-page (RocksDB, changelog)
 * </pre>
 */
final class DashboardTopology {
    static final String STORE = "live-page";
    private static final String FOLD = "fold";

    private static final Map<String, String> CHANGELOG = Map.of(
            "cleanup.policy", "compact",
            "min.cleanable.dirty.ratio", "0.2",
            "segment.bytes", String.valueOf(64 << 20),
            "segment.ms", "600000");

    private DashboardTopology() {}

    static Topology build(Topics topics, FoldProcessor.Shared shared, DamagedState damaged) {
        Topology topology = new Topology();
        topology.addSource("events", new ByteArrayDeserializer(), new ByteArrayDeserializer(), topics.events());
        topology.addSource("decisions", new ByteArrayDeserializer(), new ByteArrayDeserializer(), topics.decisions());
        topology.addSource("commands", new ByteArrayDeserializer(), new ByteArrayDeserializer(), topics.commands());
        topology.addProcessor(FOLD, () -> new FoldProcessor(shared), "events", "decisions", "commands");
        topology.addStateStore(new RowStore.Builder(Stores.keyValueStoreBuilder(
                        RestorableStore.supplier(STORE, damaged), Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingEnabled(CHANGELOG)
                .withCachingDisabled()), FOLD);
        return topology;
    }
}
