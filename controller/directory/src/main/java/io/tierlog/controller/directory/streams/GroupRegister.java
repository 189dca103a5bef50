/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsMetadata;

/** The owners of partitions as Kafka Streams has them, refreshed at most ten times a second. Safe for use by several threads. */
final class GroupRegister implements Owners.Register {
    private static final long KEPT_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final KafkaStreams streams;
    private final String topic;
    private volatile Seen seen = new Seen(System.nanoTime() - KEPT_NS, Map.of());

    private record Seen(long atNs, Map<Integer, Owners> owners) {}

    GroupRegister(KafkaStreams streams, String topic) {
        this.streams = streams;
        this.topic = topic;
    }

    @Override
    public Owners of(int partition) {
        Seen now = seen;
        if (System.nanoTime() - now.atNs() >= KEPT_NS) {
            now = new Seen(System.nanoTime(), look());
            seen = now;
        }
        return now.owners().getOrDefault(partition, Owners.NONE);
    }

    private Map<Integer, Owners> look() {
        Map<Integer, Owners.Peer> active = new LinkedHashMap<>();
        Map<Integer, List<Owners.Peer>> standbys = new LinkedHashMap<>();
        try {
            for (StreamsMetadata instance : streams.metadataForAllStreamsClients()) {
                Owners.Peer peer = new Owners.Peer(instance.host(), instance.port());
                for (TopicPartition partition : instance.topicPartitions()) {
                    if (partition.topic().equals(topic)) {
                        active.put(partition.partition(), peer);
                    }
                }
                for (TopicPartition partition : instance.standbyTopicPartitions()) {
                    if (partition.topic().equals(topic)) {
                        standbys.computeIfAbsent(partition.partition(), _ -> new ArrayList<>()).add(peer);
                    }
                }
            }
        } catch (IllegalStateException e) {
            // It has not started yet, or has ended: there is no owner.
            return Map.of();
        }
        Map<Integer, Owners> owners = new LinkedHashMap<>();
        active.forEach((partition, peer) -> owners.put(partition, new Owners(Optional.of(peer), standbys.getOrDefault(partition, List.of()))));
        standbys.forEach((partition, peers) -> owners.putIfAbsent(partition, new Owners(Optional.empty(), peers)));
        return owners;
    }
}
