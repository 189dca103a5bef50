/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.streams.FailWithoutLogging;
import io.tierlog.controller.streams.RocksDbSettings;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.streams.StreamsConfig;

/**
 * The configuration of Kafka Streams for a directory. Static and without state.
 *
 * <p>Why these values: it writes nothing, so at least once is enough; records of an open transaction are not facts yet, so the main and the restore
 * consumer read committed; a partition that waits for the registry must not lose the group membership.
 */
final class DirectorySettings {
    private static final int FETCH_BYTES = 8 << 20;
    private static final int POLL_RECORDS = 5_000;

    private DirectorySettings() {}

    static Properties of(DirectoryConfig config, String server) {
        DirectoryLimits limits = config.limits();
        Properties all = new Properties();
        all.putAll(config.kafka().client(Map.of()));
        all.put(StreamsConfig.APPLICATION_ID_CONFIG, config.applicationId());
        all.put(StreamsConfig.APPLICATION_SERVER_CONFIG, server);
        all.put(StreamsConfig.STATE_DIR_CONFIG, config.stateDir().toString());
        all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE);
        all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, limits.commitMs());
        all.put(StreamsConfig.POLL_MS_CONFIG, 20);
        all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, limits.threads());
        all.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 1);
        all.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        all.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
        all.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, FailWithoutLogging.class);
        all.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, DirectoryRocksDb.class);
        all.put(RocksDbSettings.BYTES, String.valueOf(limits.rocksDbBytes()));
        String committed = IsolationLevel.READ_COMMITTED.toString().toLowerCase(Locale.ROOT);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.ISOLATION_LEVEL_CONFIG), committed);
        all.put(StreamsConfig.restoreConsumerPrefix(ConsumerConfig.ISOLATION_LEVEL_CONFIG), committed);
        config.instanceId().ifPresent(id -> all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG), id));
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), limits.sessionMs());
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), limits.sessionMs() / 4);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        all.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG), Integer.MAX_VALUE);
        all.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), POLL_RECORDS);
        all.put(StreamsConfig.consumerPrefix(ConsumerConfig.FETCH_MAX_BYTES_CONFIG), FETCH_BYTES);
        return all;
    }
}
