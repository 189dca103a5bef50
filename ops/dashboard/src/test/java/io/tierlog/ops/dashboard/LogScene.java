/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.audit.state.StateReader;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.StatisticsReader;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.ops.simulation.swarm.RandomLog;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.event.Event;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A log of {@value #PARTITIONS} partitions on an embedded broker. */
final class LogScene implements AutoCloseable {
    static final int PARTITIONS = 2;
    static final Topics TOPICS = Topics.DEFAULT;
    private static final Codec CODEC = new Codec(Schemas.bundled());

    private final EmbeddedKafka broker;
    private final Producer<byte[], byte[]> producer;
    private final KafkaAccess access;

    LogScene(Path directory) {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory));
        access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(TOPICS, PARTITIONS, 1);
        }
        producer = new KafkaProducer<>(access.client(Map.of("acks", "all")), new ByteArraySerializer(), new ByteArraySerializer());
    }

    KafkaAccess access() {
        return access;
    }

    /** The records of one episode, each for its topic; the partitions of the episode are folded onto those here. */
    static List<ProducerRecord<byte[], byte[]>> episode(long seed) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        RandomLog.run(seed, new World.Watcher() {
            @Override
            public void appended(int partition, long offset, Event event) {
                records.add(record(partition, event));
            }

            @Override
            public void committed(int partition, long offset, Fact fact) {
                records.add(record(partition, fact));
            }
        });
        return records;
    }

    static ProducerRecord<byte[], byte[]> record(int partition, Event event) {
        return new ProducerRecord<>(TOPICS.events(), partition % PARTITIONS, null, CODEC.encode(TOPICS.events(), event));
    }

    static ProducerRecord<byte[], byte[]> record(int partition, Fact fact) {
        return new ProducerRecord<>(TOPICS.decisions(), partition % PARTITIONS, null, CODEC.encode(TOPICS.decisions(), fact));
    }

    static ProducerRecord<byte[], byte[]> record(String key, Placement placement) {
        return new ProducerRecord<>(TOPICS.placements(), 0, key.getBytes(StandardCharsets.UTF_8), CODEC.encode(TOPICS.placements(), placement));
    }

    void append(List<ProducerRecord<byte[], byte[]>> records) {
        for (ProducerRecord<byte[], byte[]> record : records) {
            Future<?> _ = producer.send(record);
        }
        producer.flush();
    }

    /** What {@code audit stats} says of the whole log. */
    LogSummary audit() throws InterruptedException {
        try (ClusterLog log = new ClusterLog(access)) {
            return new StatisticsReader(log, TOPICS, CODEC, 1).read();
        }
    }

    /** What {@code audit state --at} says of a time, milliseconds since 1970. */
    LogState state(long atMs) throws InterruptedException {
        try (ClusterLog log = new ClusterLog(access)) {
            return new StateReader(log, TOPICS, CODEC, 1).read(new Moment.Time(atMs), Optional.empty());
        }
    }

    /** A live page at a port; 0 for any. */
    DashboardApp page(Path state, int port) {
        return DashboardApp.start(DashboardConfig.of(access, TOPICS, state, port));
    }

    @Override
    public void close() {
        producer.close();
        broker.close();
    }
}
