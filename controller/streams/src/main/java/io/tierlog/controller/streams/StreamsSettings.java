/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.sign.RecordSigner;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.streams.StreamsConfig;

/**
 * The configuration of Kafka Streams for a controller. Static and without state.
 *
 * <p>Why these values: Streams would otherwise wait 100 ms to fill a batch and poll for 100 ms; a member that keeps its name takes over
 * after a restart without waiting for its session to end; and a thread that does not come back, be it from a wait for the registry, must not keep
 * partitions that another instance can decide.
 */
final class StreamsSettings {
    private static final int DIRECT_LINGER_MS = 20;
    private static final int BATCH_BYTES = 128 * 1024;
    private static final int BUFFERED_RECORDS = 500;
    private static final int FETCH_BYTES = 8 << 20;

    private StreamsSettings() {}

    /** The same with producers that tell {@code spans} the offsets of decisions. */
    static Properties of(ControllerConfig config, String instanceId, DecisionSpans spans) {
        Properties all = of(config, instanceId);
        all.merge(StreamsConfig.producerPrefix(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG), DecisionSpans.Offsets.class.getName(),
                (before, more) -> before + "," + more);
        all.put(StreamsConfig.producerPrefix(DecisionSpans.Offsets.SPANS), spans);
        return all;
    }

    static Properties of(ControllerConfig config, String instanceId) {
        StreamsTuning tuning = config.streams();
        Properties all = new Properties();
        all.putAll(config.kafka().client(Map.of()));
        config.kafka().signed(RecordSigner.Writer.CONTROLLER, new HashMap<>())
                .forEach((name, value) -> all.put(StreamsConfig.producerPrefix(name), value));
        all.put(StreamsConfig.APPLICATION_ID_CONFIG, config.applicationId());
        all.put(StreamsConfig.STATE_DIR_CONFIG, config.stateDir().toString());
        all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, tuning.commitIntervalMs());
        all.put(StreamsConfig.POLL_MS_CONFIG, 20);
        all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, tuning.threads());
        all.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, tuning.standbyReplicas());
        all.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, tuning.recordCacheBytes());
        all.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
        all.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
        // Rows carry the time of their input: a broker whose clock was set back would refuse those of before.
        all.put(StreamsConfig.topicPrefix(TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG), String.valueOf(Long.MAX_VALUE));
        all.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, FailWithoutLogging.class);
        // By its name, since the constant is deprecated already: it will be the only way.
        all.put("processing.exception.handler.global.enabled", true);
        all.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, RocksDbSettings.class);
        all.put(RocksDbSettings.BYTES, String.valueOf(tuning.rocksDbBytes()));
        // No reader sees a decision before its commit, which sends all waiting records; so unless commands are in the transaction, fewer and larger
        // requests win.
        boolean direct = config.commands() == CommandDelivery.DIRECT;
        all.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), direct ? DIRECT_LINGER_MS : 0);
        all.put(StreamsConfig.producerPrefix(ProducerConfig.BATCH_SIZE_CONFIG), BATCH_BYTES);
        all.put(StreamsConfig.producerPrefix(ProducerConfig.COMPRESSION_TYPE_CONFIG), config.kafka().compression());
        // More than one, and the first request of a transaction that comes too early makes the broker log errors for the ones behind it.
        all.put(StreamsConfig.producerPrefix(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION), 1);
        all.put(StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG), tuning.transactionTimeoutMs());
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG), instanceId);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), tuning.sessionTimeoutMs());
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), tuning.sessionTimeoutMs() / 4);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG), tuning.stuckMs());
        // What waits on the heap per partition: an event can name a thousand blocks and then has some 100 kB.
        all.put(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, BUFFERED_RECORDS);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), BUFFERED_RECORDS);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.FETCH_MAX_BYTES_CONFIG), FETCH_BYTES);
        return all;
    }
}
