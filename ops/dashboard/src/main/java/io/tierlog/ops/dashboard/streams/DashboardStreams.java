/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.streams;

import io.tierlog.controller.streams.DamagedState;
import io.tierlog.controller.streams.FailWithoutLogging;
import io.tierlog.controller.streams.RocksDbSettings;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.PatientReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Kafka Streams side of the live page. A thread that fails is replaced; after {@value #MAX_FAILURES} failures, none of them more than
 * {@value #FORGET_MINUTES} minutes after the one before, the instance ends. Safe for use by several threads.
 */
public final class DashboardStreams implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DashboardStreams.class);
    private static final Duration CLOSE = Duration.ofSeconds(10);
    private static final int MAX_FAILURES = 20;
    private static final int FORGET_MINUTES = 10;
    private static final int COMMIT_MS = 1_000;
    private static final int POLL_RECORDS = 2_000;
    private static final int FETCH_BYTES = 8 << 20;
    /** A page that was killed keeps its partitions from its successor for so long. */
    private static final int SESSION_MS = 10_000;
    private static final int HEARTBEAT_MS = SESSION_MS / 4;

    private final KafkaAccess kafka;
    private final KafkaStreams streams;
    private final FoldTasks tasks = new FoldTasks();
    private final CompletableFuture<Throwable> ended = new CompletableFuture<>();
    private final CountDownLatch running = new CountDownLatch(1);
    private final AtomicBoolean started = new AtomicBoolean();
    private final FoldProcessor.Shared shared;
    private volatile boolean closing;
    private volatile String waitsFor = "";
    private int failures;
    private long failedNanos;

    /**
     * What it works on.
     *
     * @param kafka the cluster
     * @param topics names of the topics
     * @param applicationId of this application alone
     * @param stateDir directory of this instance alone
     * @param rocksDbBytes memory for RocksDB outside of the heap
     */
    public record Settings(KafkaAccess kafka, Topics topics, String applicationId, Path stateDir, long rocksDbBytes) {}

    /**
     * Prepares it; {@link #start} joins the group.
     *
     * @throws UncheckedIOException when the state directory cannot be made
     */
    public DashboardStreams(Settings settings, Codec codec, FoldLimits limits) {
        try {
            Files.createDirectories(settings.stateDir());
        } catch (IOException e) {
            throw new UncheckedIOException("the state directory " + settings.stateDir() + " cannot be made", e);
        }
        kafka = settings.kafka();
        DamagedState damaged = new DamagedState(settings.stateDir(), _ -> {}); // it logs by itself
        shared = FoldProcessor.Shared.of(settings.topics(), codec, limits, tasks, new WaitsShown());
        streams = new KafkaStreams(DashboardTopology.build(settings.topics(), shared, damaged), properties(settings));
        streams.setStateListener((now, _) -> {
            if (now == KafkaStreams.State.RUNNING) {
                running.countDown();
            }
            if (now == KafkaStreams.State.ERROR) {
                ended.complete(new IllegalStateException("Kafka Streams stopped with an error"));
                running.countDown();
            }
        });
        streams.setUncaughtExceptionHandler(this::failed);
    }

    /** Joins the group, and returns while it catches up. Starting twice is harmless; what is closed does not start. */
    public void start() {
        if (started.compareAndSet(false, true)) {
            streams.start();
        }
    }

    private static Properties properties(Settings settings) {
        Properties all = new Properties();
        all.putAll(settings.kafka().properties());
        all.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, settings.kafka().bootstrapServers());
        all.put(StreamsConfig.APPLICATION_ID_CONFIG, settings.applicationId());
        all.put(StreamsConfig.STATE_DIR_CONFIG, settings.stateDir().toString());
        // Rows and position in one transaction: no record counts twice.
        all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_MS);
        all.put(StreamsConfig.POLL_MS_CONFIG, 50);
        all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 1);
        all.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        all.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
        all.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
        all.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, FailWithoutLogging.class);
        all.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, RocksDbSettings.class);
        all.put(RocksDbSettings.BYTES, String.valueOf(settings.rocksDbBytes()));
        all.put(StreamsConfig.producerPrefix(ProducerConfig.COMPRESSION_TYPE_CONFIG), settings.kafka().compression());
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.ISOLATION_LEVEL_CONFIG),
                IsolationLevel.READ_COMMITTED.toString().toLowerCase(Locale.ROOT));
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), SESSION_MS);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), HEARTBEAT_MS);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), POLL_RECORDS);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.FETCH_MAX_BYTES_CONFIG), FETCH_BYTES);
        return all;
    }

    private final class WaitsShown implements PatientReader.Listener {
        @Override
        public void waits(String why) {
            LOG.warn("{}", why);
            waitsFor = why;
        }

        @Override
        public void goesOn() {
            waitsFor = "";
        }
    }

    private StreamThreadExceptionResponse failed(Throwable failure) {
        if (closing) {
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        if (survives(System.nanoTime())) {
            LOG.warn("the live page goes on with another thread after: {}", failure.getMessage(), failure);
            kafka.awaitName(() -> closing);
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        }
        LOG.error("the live page stops after {} failures: {}", MAX_FAILURES, failure.getMessage(), failure);
        ended.complete(failure);
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    private synchronized boolean survives(long now) {
        failures = failures > 0 && now - failedNanos > TimeUnit.MINUTES.toNanos(FORGET_MINUTES) ? 1 : failures + 1;
        failedNanos = now;
        return failures <= MAX_FAILURES;
    }

    /** Why its reader stands still, in plain words; empty when it does not. */
    public String waitsFor() {
        return waitsFor;
    }

    /** Whether {@link #start} or {@link #close} was called. */
    public boolean started() {
        return started.get();
    }

    /** Waits until it has its partitions; false when that did not come about in time, or it has ended. */
    public boolean awaitRunning(Duration patience) throws InterruptedException {
        return running.await(patience.toMillis(), TimeUnit.MILLISECONDS) && !ended.isDone();
    }

    /** Completes when it has ended by a failure. */
    public CompletableFuture<Throwable> ended() {
        return ended.copy();
    }

    /** The state of Kafka Streams. */
    public String state() {
        return streams.state().name();
    }

    /** The folds. */
    public FoldTasks tasks() {
        return tasks;
    }

    /** Records that are not read yet, by {@code TOPIC-PARTITION}, as far as the consumer knows. */
    public Map<String, Long> lag() {
        Map<String, Long> lag = new TreeMap<>();
        streams.metrics().forEach((name, metric) -> {
            if (name.name().equals("records-lag") && metric.metricValue() instanceof Double value && !value.isNaN()
                    && !String.valueOf(name.tags().get("client-id")).contains("restore")) {
                lag.put(name.tags().get("topic") + "-" + name.tags().get("partition"), value.longValue());
            }
        });
        // For a topic with dots the consumer has each number twice, under the old name with underscores too.
        Set<String> old = lag.keySet().stream().filter(name -> name.indexOf('.') >= 0).map(name -> name.replace('.', '_'))
                .collect(Collectors.toSet());
        lag.keySet().removeAll(old);
        return lag;
    }

    /** For how long the brokers have not taken its heartbeats, which go every 2.5 s; 0 before the first, and while it joins its group. */
    public long brokersSilentMs() {
        if (streams.state() != KafkaStreams.State.RUNNING) {
            return 0;
        }
        return streams.metrics().entrySet().stream().filter(metric -> metric.getKey().name().equals("last-heartbeat-seconds-ago"))
                .mapToLong(metric -> metric.getValue().metricValue() instanceof Double seconds ? (long) (1_000 * seconds) : 0)
                .max().orElse(0);
    }

    @Override
    public void close() {
        started.set(true);
        closing = true;
        shared.close();
        streams.close(CloseOptions.timeout(CLOSE).withGroupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
    }
}
