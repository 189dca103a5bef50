/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.report.BenchException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * What is in the topics of one log: bytes as the broker stores them, compressed, and offsets, the markers of transactions included. Immutable.
 *
 * @param byTopic by what a topic's name has after that of the log
 */
record TopicSizes(Map<String, Size> byTopic) {
    static final TopicSizes NOTHING = new TopicSizes(Map.of());

    /** Records and bytes. */
    record Size(long records, long bytes) {
        static final Size NOTHING = new Size(0, 0);

        Size plus(Size other) {
            return new Size(records + other.records, bytes + other.bytes);
        }
    }

    /** Of all topics whose names begin so: with the prefix of a log, or the name of a topic. */
    static TopicSizes of(Admin admin, String log) throws InterruptedException {
        try {
            Map<TopicPartition, Long> bytes = new TreeMap<>((a, b) -> a.toString().compareTo(b.toString()));
            var nodes = admin.describeCluster().nodes().get().stream().map(node -> node.id()).toList();
            admin.describeLogDirs(nodes).allDescriptions().get().values().forEach(directories -> directories.values().forEach(directory ->
                    directory.replicaInfos().forEach((partition, replica) -> {
                        if (partition.topic().startsWith(log)) {
                            bytes.merge(partition, replica.size(), Long::sum);
                        }
                    })));
            Map<TopicPartition, ListOffsetsResultInfo> ends = admin.listOffsets(
                            bytes.keySet().stream().collect(Collectors.toMap(partition -> partition, _ -> OffsetSpec.latest())))
                    .all()
                    .get();
            Map<String, Size> sizes = new TreeMap<>();
            bytes.forEach((partition, size) -> {
                ListOffsetsResultInfo end = ends.get(partition);
                String name = partition.topic().substring(Math.min(partition.topic().length(), log.length() + 1));
                sizes.merge(name, new Size(end == null ? 0 : end.offset(), size), Size::plus);
            });
            return new TopicSizes(sizes);
        } catch (ExecutionException failure) {
            throw BenchException.failed("the broker did not say how large its topics are: " + failure.getCause(), "look at the broker")
                    .causedBy(failure);
        }
    }

    /** All topics together. */
    Size total() {
        return byTopic.values().stream().reduce(Size.NOTHING, Size::plus);
    }

    TopicSizes plus(TopicSizes other) {
        Map<String, Size> sum = new TreeMap<>(byTopic);
        other.byTopic.forEach((topic, size) -> sum.merge(topic, size, Size::plus));
        return new TopicSizes(sum);
    }

    TopicSizes minus(TopicSizes other) {
        Map<String, Size> rest = new TreeMap<>(byTopic);
        other.byTopic.forEach((topic, size) -> rest.merge(topic, new Size(-size.records(), -size.bytes()), Size::plus));
        return new TopicSizes(rest);
    }
}
