/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.topic.Topics;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * What everything that talks to the log on behalf of one agent process shares. Immutable.
 *
 * @param access how to reach the cluster
 * @param topics names of the topics
 * @param partitions of every topic
 * @param codec records to bytes and back
 * @param node name of the node
 * @param processId random id of this process
 */
public record AgentLog(KafkaAccess access, Topics topics, int partitions, Codec codec, String node, String processId) {
    /** The aggregate this agent speaks for. */
    public String aggregate() {
        return "node/" + node;
    }

    /** The same process from now on, as another sender. */
    public AgentLog as(String otherProcessId) {
        return new AgentLog(access, topics, partitions, codec, node, otherProcessId);
    }

    /** The name under which it signs. */
    public String sender() {
        return "agent/" + node + "/" + processId;
    }

    /** Where the records about this node are in {@code topic}. */
    TopicPartition partitionIn(String topic) {
        return new TopicPartition(topic, Partitions.of(aggregate(), partitions));
    }

    /** A consumer of one partition, standing at its end as it is now. */
    KafkaConsumer<byte[], byte[]> atTheEndOf(TopicPartition partition, boolean committedOnly) {
        Map<String, Object> settings = access.client(Map.of(
                "isolation.level", committedOnly ? "read_committed" : "read_uncommitted",
                "enable.auto.commit", "false",
                "auto.offset.reset", "latest",
                "default.api.timeout.ms", Math.toIntExact(access.timeout().toMillis())));
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        try {
            consumer.assign(List.of(partition));
            consumer.seekToEnd(List.of(partition));
            // seekToEnd is lazy: the position is what pins the end down.
            consumer.position(partition);
            return consumer;
        } catch (RuntimeException e) {
            consumer.close(KafkaAccess.AT_ONCE);
            throw e;
        }
    }
}
