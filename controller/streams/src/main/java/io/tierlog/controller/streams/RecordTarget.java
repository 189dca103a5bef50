/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Partitions;
import io.tierlog.schemas.Bytes;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.jspecify.annotations.Nullable;

/**
 * Where a record goes within its topic: its key, and the partition, which does not always follow from the key alone.
 *
 * @param key the key as readers see it; null for a dead letter that came without one
 * @param partition from 0
 */
@SuppressWarnings("ArrayRecordComponent") // Lives for one call, is never compared.
record RecordTarget(byte @Nullable [] key, int partition) {
    /** What sinks make of it. */
    static final Serializer<RecordTarget> SERIALIZER = (topic, address) -> address.key();

    /** Where sinks put it. */
    static final StreamPartitioner<RecordTarget, byte[]> PARTITIONER =
            (topic, address, value, partitions) -> Optional.of(Set.of(address.partition()));

    /** Where the records of an aggregate are. */
    static RecordTarget of(String aggregate, int partitions) {
        return new RecordTarget(Partitions.key(aggregate), Partitions.of(aggregate, partitions));
    }

    /** Where the copies of a block are published: all of them in one partition. */
    static RecordTarget of(Bytes namespace, Bytes block, Bytes key, int partitions) {
        byte[] both = new byte[namespace.size() + block.size()];
        System.arraycopy(namespace.unshared(), 0, both, 0, namespace.size());
        System.arraycopy(block.unshared(), 0, both, namespace.size(), block.size());
        return new RecordTarget(key.unshared(), Partitions.ofKey(both, partitions));
    }
}
