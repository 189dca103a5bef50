/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * What each role may write and read, tried on the brokers: a list of its own, so that a mistake in the ACL table shows. Only what must be refused is
 * written. Static and without state.
 */
final class RoleRefusals {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final Set<String> ALL = Set.of(TOPICS.events(), TOPICS.decisions(), TOPICS.commands(), TOPICS.messages(), TOPICS.placements(),
            TOPICS.deadLetters(), TOPICS.heads());
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private record Allowed(Set<String> written, Set<String> read) {}

    private static final Map<String, Allowed> ROLES = Map.of(
            "controller", new Allowed(Set.of(TOPICS.events(), TOPICS.decisions(), TOPICS.commands(), TOPICS.messages(), TOPICS.placements(),
                    TOPICS.deadLetters()), Set.of(TOPICS.events(), TOPICS.decisions(), TOPICS.messages())),
            "agent", new Allowed(Set.of(TOPICS.events(), TOPICS.deadLetters()), Set.of(TOPICS.commands(), TOPICS.decisions())),
            "directory", new Allowed(Set.of(TOPICS.events()), Set.of(TOPICS.placements(), TOPICS.decisions())),
            "operator", new Allowed(Set.of(TOPICS.events()), Set.of(TOPICS.decisions())),
            "auditor", new Allowed(Set.of(), Set.of(TOPICS.events(), TOPICS.decisions(), TOPICS.commands(), TOPICS.placements(), TOPICS.heads())),
            "signer", new Allowed(Set.of(TOPICS.heads()), Set.of(TOPICS.events(), TOPICS.decisions(), TOPICS.heads())),
            "dashboard", new Allowed(Set.of(), Set.of(TOPICS.events(), TOPICS.decisions(), TOPICS.commands(), TOPICS.placements(),
                    TOPICS.deadLetters())),
            "setup", new Allowed(Set.of(), Set.of()));

    private RoleRefusals() {}

    /** Tries all that the role must not do, and reads all that it may; returns how many attempts were refused. */
    static int of(String role, KafkaAccess access) throws InterruptedException {
        Allowed allowed = ROLES.get(role);
        Set<String> refusedWrites = new TreeSet<>(ALL);
        refusedWrites.removeAll(allowed.written());
        for (String topic : refusedWrites) {
            assertWriteRefused(role, access, topic);
        }
        Set<String> readable = new TreeSet<>();
        for (String topic : ALL) {
            if (reads(access, topic)) {
                readable.add(topic);
            }
        }
        assertEquals(new TreeSet<>(allowed.read()), readable, role);
        assertDeleteRefused(role, access);
        return refusedWrites.size() + ALL.size() - readable.size() + 1;
    }

    private static void assertWriteRefused(String role, KafkaAccess access, String topic) throws InterruptedException {
        Map<String, Object> settings = access.client(Map.of("enable.idempotence", false, "max.block.ms", (int) PATIENCE.toMillis()));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(topic, new byte[1], new byte[1])).get();
            fail(role + " wrote to " + topic);
        } catch (ExecutionException e) {
            assertEquals(TopicAuthorizationException.class, e.getCause().getClass(), role + " writes to " + topic);
        }
    }

    /** Whether a fetch of the topic is answered. */
    private static boolean reads(KafkaAccess access, String topic) {
        Map<String, Object> settings = access.client(Map.of("enable.auto.commit", false, "default.api.timeout.ms", (int) PATIENCE.toMillis()));
        TopicPartition first = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(first));
            consumer.seek(first, 0);
            // An answer, also an empty one, sets the lag; a refusal throws.
            return Until.within(PATIENCE, () -> {
                consumer.poll(Duration.ofMillis(100));
                return consumer.currentLag(first).isPresent();
            });
        } catch (AuthorizationException e) {
            return false;
        }
    }

    private static void assertDeleteRefused(String role, KafkaAccess access) throws InterruptedException {
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.deleteTopics(List.of(TOPICS.placements())).all().get();
            fail(role + " deleted a topic");
        } catch (ExecutionException e) {
            assertEquals(TopicAuthorizationException.class, e.getCause().getClass(), role + " deletes a topic");
        }
    }
}
