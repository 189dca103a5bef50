/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A broker with the topics of a log in three partitions, its controller and its directory, in this process. */
public record LiveLog(EmbeddedKafka broker, ControllerApp controller, DirectoryApp where) implements AutoCloseable {
    private static final int PARTITIONS = 3;

    /** Started, with their files in {@code directory}. */
    public static LiveLog start(Path directory) throws Exception {
        EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, PARTITIONS, 1);
        }
        ControllerApp controller =
                ControllerApp.start(ControllerConfig.of(access, directory.resolve("controller")).with().http("127.0.0.1", 0).build());
        DirectoryApp where = DirectoryApp.start(DirectoryConfig.of(access, Topics.DEFAULT, directory.resolve("directory")));
        assertTrue(where.awaitRunning(Duration.ofSeconds(60)));
        return new LiveLog(broker, controller, where);
    }

    /** Keys and values of all records of all topics, also of aborted transactions. */
    List<byte[]> bytes() {
        List<TopicPartition> all = Topics.DEFAULT.specs().stream()
                .flatMap(topic -> IntStream.range(0, topic.partitions(PARTITIONS))
                        .mapToObj(partition -> new TopicPartition(topic.name(), partition)))
                .toList();
        List<byte[]> found = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                KafkaAccess.of(broker.bootstrapServers()).client(Map.of()), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (all.stream().anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
                consumer.poll(Duration.ofSeconds(1)).forEach(record ->
                        Stream.of(record.key(), record.value()).filter(Objects::nonNull).forEach(found::add));
            }
        }
        return found;
    }

    @Override
    public void close() {
        where.close();
        controller.close();
        broker.close();
    }
}
