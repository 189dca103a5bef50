/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.PlacementIndex.Batch;
import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.streams.PlacementDecoder.Change;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.directory.NodeEpoch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * Answers from the records of a partition that this instance keeps without an index: as a standby, or while it builds one. Safe for use by several
 * threads. Trade-off: a scan in RocksDB for each key, some hundred times slower than the index,
 * and one for each node, since no task here reads node incarnations.
 */
final class StandbyStore {
    private static final Serializer<byte[]> PREFIX = new ByteArraySerializer();

    private final KafkaStreams streams;
    private final PlacementDecoder decoder;
    private final LocalShards copies;

    StandbyStore(KafkaStreams streams, PlacementDecoder decoder, LocalShards copies) {
        this.streams = streams;
        this.decoder = decoder;
        this.copies = copies;
    }

    /** Where blocks of a partition are, in the order of the batch; empty when this instance has no copy, or none that can be read now. */
    Optional<List<Found>> where(int partition, Batch batch) {
        try {
            ReadOnlyKeyValueStore<byte[], byte[]> store = store(partition);
            learn(store);
            List<Found> found = new ArrayList<>(batch.to() - batch.from());
            for (int i = batch.from(); i < batch.to(); i++) {
                int from = batch.order()[i] * batch.width();
                Bytes key = Bytes.wrapUnshared(Arrays.copyOfRange(batch.keys(), from, from + batch.width()));
                found.add(where(store, new BlockKey(batch.namespace(), key)));
            }
            return Optional.of(found);
        } catch (InvalidStateStoreException e) {
            // No copy here, or it moves at this moment.
            return Optional.empty();
        }
    }

    /** Reads node incarnations from this instance's replica of a partition, since no task does; does nothing without a replica. */
    void learn(int partition) {
        try {
            learn(store(partition));
        } catch (InvalidStateStoreException e) {
            // The next look may find it.
        }
    }

    private ReadOnlyKeyValueStore<byte[], byte[]> store(int partition) {
        return streams.store(StoreQueryParameters.fromNameAndType(DirectoryTopology.STORE, QueryableStoreTypes.<byte[], byte[]>keyValueStore())
                .withPartition(partition)
                .enableStaleStores());
    }

    private void learn(ReadOnlyKeyValueStore<byte[], byte[]> store) {
        try (KeyValueIterator<byte[], byte[]> rows = store.prefixScan(PlacementDecoder.NODE, PREFIX)) {
            while (rows.hasNext()) {
                KeyValue<byte[], byte[]> row = rows.next();
                if (decoder.read(row.key, row.value) instanceof Change.EpochChanged(NodeEpoch epoch)) {
                    copies.nodes().apply(epoch);
                }
            }
        }
    }

    private Found where(ReadOnlyKeyValueStore<byte[], byte[]> store, BlockKey block) {
        byte[] prefix = new byte[block.namespace().size() + block.key().size()];
        System.arraycopy(block.namespace().unshared(), 0, prefix, 0, block.namespace().size());
        System.arraycopy(block.key().unshared(), 0, prefix, block.namespace().size(), block.key().size());
        List<BlockPlacement> serving = new ArrayList<>();
        boolean readable = true;
        try (KeyValueIterator<byte[], byte[]> rows = store.prefixScan(prefix, PREFIX)) {
            while (rows.hasNext()) {
                KeyValue<byte[], byte[]> row = rows.next();
                switch (decoder.read(row.key, row.value)) {
                    // A longer key may begin as this one does.
                    case Change.Put(BlockKey other, BlockPlacement placed, _) when other.equals(block) -> {
                        if (copies.incarnations().counts(placed.location().owner(), placed.incarnation())) {
                            serving.add(placed);
                        }
                    }
                    case Change.Unreadable(BlockKey other, _, _) when other.equals(block) -> readable = false;
                    case Change.Put _, Change.Unreadable _, Change.Removed _, Change.Nameless _, Change.EpochChanged _ -> { }
                }
            }
        }
        Presence otherwise = readable && !copies.incarnations().isUnknown(block.namespace()) ? Presence.NOT_FOUND : Presence.UNKNOWN;
        return new Found(serving.isEmpty() ? otherwise : Presence.FOUND, serving);
    }
}
