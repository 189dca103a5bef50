/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Ordinary Kafka clients with strings. */
record Clients(String bootstrapServers) {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrapServers));
    }

    void createTopic(String topic) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get(30, TimeUnit.SECONDS);
        }
    }

    Producer<String, String> producer(Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("bootstrap.servers", bootstrapServers);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    void send(String topic, String... values) throws Exception {
        try (Producer<String, String> producer = producer(Map.of())) {
            for (String value : values) {
                producer.send(new ProducerRecord<>(topic, value)).get(30, TimeUnit.SECONDS);
            }
        }
    }

    /** Reads as a member of a group until {@code expected} records arrived or patience ends. */
    List<String> read(String topic, String group, int expected) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrapServers,
                "group.id", group,
                "auto.offset.reset", "earliest",
                "isolation.level", "read_committed");
        List<String> values = new ArrayList<>();
        try (Consumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (values.size() < expected && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    values.add(record.value());
                }
            }
            consumer.commitSync();
        }
        return values;
    }
}
