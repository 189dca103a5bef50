/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.streams.DamagedState;
import io.tierlog.controller.streams.RestorableStore;
import io.tierlog.events.topic.Topics;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/** One source, one read-only store straight from the topic, and so no changelog besides it. Static and without state. */
final class DirectoryTopology {
    /** The store with the records as they came. */
    static final String STORE = "placements";

    private DirectoryTopology() {}

    static Topology build(Topics topics, IndexProcessor.Shared shared, DamagedState damaged) {
        StoreBuilder<KeyValueStore<byte[], byte[]>> store = Stores.keyValueStoreBuilder(
                        RestorableStore.supplier(STORE, damaged), Serdes.ByteArray(), Serdes.ByteArray())
                .withLoggingDisabled()
                .withCachingDisabled();
        return new Topology().addReadOnlyStateStore(store, "published", new ByteArrayDeserializer(), new ByteArrayDeserializer(),
                topics.placements(), "index", () -> new IndexProcessor(shared));
    }
}
