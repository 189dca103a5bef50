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
 * Key and partition of a record to send. The partition does not always follow from the key alone.
 *
 * @param key the key as readers see it; null for a dead letter that came without one
 * @param partition from 0
 */
@SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
record RecordTarget(byte @Nullable [] key, int partition) {
    /** Serializes the key for sinks. */
    static final Serializer<RecordTarget> SERIALIZER = (topic, address) -> address.key();

    /** Gives sinks the partition. */
    static final StreamPartitioner<RecordTarget, byte[]> PARTITIONER =
            (topic, address, value, partitions) -> Optional.of(Set.of(address.partition()));

    /** The target of an aggregate's records. */
    static RecordTarget of(String aggregate, int partitions) {
        return new RecordTarget(Partitions.key(aggregate), Partitions.of(aggregate, partitions));
    }

    /** The target of a block's placements: one partition for all of them. */
    static RecordTarget of(Bytes namespace, Bytes block, Bytes key, int partitions) {
        byte[] both = new byte[namespace.size() + block.size()];
        System.arraycopy(namespace.unshared(), 0, both, 0, namespace.size());
        System.arraycopy(block.unshared(), 0, both, namespace.size(), block.size());
        return new RecordTarget(key.unshared(), Partitions.ofKey(both, partitions));
    }
}
