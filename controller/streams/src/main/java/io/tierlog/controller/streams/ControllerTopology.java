/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.topic.Topics;
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The one topology. Every node, store and topic has a name of its own, since names are part of what an upgrade finds again.
 *
 * <pre>
 *   tierlog.events --> decide --+--> decisions     (read_committed: the truth)
 *                        |      +--> commands      (unless sent directly)
 *                  tierlog-state +-> messages      (to the relay)
 *               (RocksDB, changelog)+-> placements (compacted)
 *                               +--> dead-letters
 * </pre>
 */
final class ControllerTopology {
    static final String EVENTS = "events";
    static final String DECIDE = "decide";
    static final String STORE = "tierlog-state";
    static final String DECISIONS = "decisions";
    static final String COMMANDS = "commands";
    static final String MESSAGES = "messages";
    static final String PLACEMENTS = "placements";
    static final String DEAD_LETTERS = "dead-letters";

    /** Compact, and soon: what a restore reads is then little more than the state itself. */
    static final Map<String, String> CHANGELOG = Map.of(
            "cleanup.policy", "compact",
            "min.cleanable.dirty.ratio", "0.2",
            "segment.bytes", String.valueOf(64 << 20),
            "segment.ms", "600000");

    private ControllerTopology() {}

    /**
     * @param damaged what becomes of rows that RocksDB finds damaged
     * @param caching whether Streams' record cache holds rows between commits, beneath the rows that the processor keeps
     */
    static Topology build(Topics topics, EventProcessor.Parts parts, boolean caching, DamagedState damaged) {
        StoreBuilder<KeyValueStore<Bytes, byte[]>> store = Stores.keyValueStoreBuilder(
                        RestorableStore.supplier(STORE, damaged), Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingEnabled(CHANGELOG);
        Topology topology = new Topology();
        topology.addSource(EVENTS, new ByteArrayDeserializer(), new ByteArrayDeserializer(), topics.events());
        topology.addProcessor(DECIDE, () -> new EventProcessor(parts), EVENTS);
        RowStore.Builder rows = new RowStore.Builder(store);
        topology.addStateStore(caching ? rows.withCachingEnabled() : rows.withCachingDisabled(), DECIDE);
        sink(topology, DECISIONS, topics.decisions());
        sink(topology, COMMANDS, topics.commands());
        sink(topology, MESSAGES, topics.messages());
        sink(topology, PLACEMENTS, topics.placements());
        sink(topology, DEAD_LETTERS, topics.deadLetters());
        return topology;
    }

    private static void sink(Topology topology, String name, String topic) {
        topology.addSink(name, topic, RecordTarget.SERIALIZER, new ByteArraySerializer(), RecordTarget.PARTITIONER, DECIDE);
    }
}
