/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * What each role may write and read, tried on the brokers: a list of its own, so that a mistake in the ACL table shows; and what no role may do, or
 * the controllers alone. Only what must be refused is written. Static and without state.
 */
final class RoleRefusals {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final Set<String> ALL = Set.of(TOPICS.events(), TOPICS.decisions(), TOPICS.commands(), TOPICS.messages(), TOPICS.placements(),
            TOPICS.deadLetters(), TOPICS.heads());
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final AclBinding ANY_ACL = new AclBinding(new ResourcePattern(ResourceType.TOPIC, "no-topic", PatternType.LITERAL),
            new AccessControlEntry("User:*", "*", AclOperation.READ, AclPermissionType.ALLOW));
    private static final Map<ConfigResource, Collection<AlterConfigOp>> SHORT_LIVED_EVENTS = Map.of(
            new ConfigResource(ConfigResource.Type.TOPIC, TOPICS.events()),
            List.of(new AlterConfigOp(new ConfigEntry("retention.ms", "1"), AlterConfigOp.OpType.SET)));

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
            "setup", new Allowed(Set.of(), Set.of()),
            "publisher", new Allowed(Set.of(), Set.of(TOPICS.decisions())));

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
        int refused = refusedWrites.size() + ALL.size() - readable.size();
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            refused += assertRefused(role, TopicAuthorizationException.class, admin.deleteTopics(List.of(TOPICS.placements())).all());
            refused += assertRefused(role, ClusterAuthorizationException.class, admin.createAcls(List.of(ANY_ACL)).all());
            if (!role.equals("setup")) {
                refused += assertRefused(role, TopicAuthorizationException.class,
                        admin.incrementalAlterConfigs(SHORT_LIVED_EVENTS, new AlterConfigsOptions().validateOnly(true)).all());
            }
            if (!role.equals("controller")) {
                refused += assertRefused(role, GroupAuthorizationException.class,
                        admin.listConsumerGroupOffsets(TOPICS.controllers()).partitionsToOffsetAndMetadata());
            }
        }
        return role.equals("controller") ? refused : refused + assertTransactionRefused(role, access);
    }

    /** With the id of a controller it would end that one's transactions; no controller has this one. */
    private static int assertTransactionRefused(String role, KafkaAccess access) {
        Map<String, Object> settings = access.client(Map.of(
                "transactional.id", TOPICS.controllers() + "-of-" + role, "max.block.ms", (int) PATIENCE.toMillis()));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            assertThrows(TransactionalIdAuthorizationException.class, producer::initTransactions, role);
        }
        return 1;
    }

    private static int assertRefused(String role, Class<? extends AuthorizationException> refusal, KafkaFuture<?> attempt) {
        ExecutionException failed = assertThrows(ExecutionException.class, attempt::get, role);
        assertEquals(refusal, failed.getCause().getClass(), role);
        return 1;
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
            assertTrue(Until.within(PATIENCE, () -> {
                consumer.poll(Duration.ofMillis(100));
                return consumer.currentLag(first).isPresent();
            }), () -> topic + " answers nothing");
            return true;
        } catch (AuthorizationException e) {
            return false;
        }
    }
}
