/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A log on a running cluster, read by consumers that have no group and commit nothing. Aborted records and transaction markers do not show, so a
 * gap between the offsets of two facts may be one of these.
 */
public final class ClusterLog implements LogSource {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final int MOST_RECORDS = 5_000;
    private static final int FETCH_BYTES = 4 << 20;
    private static final int SMALLER = 16;
    private static final int LEAST_FETCH_BYTES = FETCH_BYTES / SMALLER / SMALLER;

    private final KafkaAccess access;
    private final long most;
    private final long toMs;
    private final Patience patience;
    private final IntFunction<Consumer<byte[], byte[]>> consumers;
    private volatile boolean cut;

    /**
     * How long to wait for a record that is there.
     *
     * @param stalledNs until fetches become smaller, and once more; nanoseconds
     * @param lostNs until reading fails; nanoseconds
     */
    record Patience(long stalledNs, long lostNs) {
        /**
         * Fetches become smaller after longer than a client waits for the answer to one: a slow link may never bring a large one in time, and the
         * client would ask for it for ever. Reading fails after longer than a partition is without a leader when a broker has failed.
         */
        static final Patience DEFAULT = new Patience(TimeUnit.SECONDS.toNanos(15), TimeUnit.MINUTES.toNanos(3));
    }

    /** A log on the cluster that {@code access} reaches; it is not contacted yet. */
    public ClusterLog(KafkaAccess access) {
        this(access, Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /**
     * As the other, but only the end of each partition, as it was at a moment.
     *
     * @param most offsets of each partition, 1 or more; what is before them is left out
     * @param toMs time of the moment, milliseconds since 1970; the first later record of a partition and all behind it are left out
     */
    public ClusterLog(KafkaAccess access, long most, long toMs) {
        this.access = access;
        this.most = most;
        this.toMs = toMs;
        patience = Patience.DEFAULT;
        consumers = fetchBytes -> new KafkaConsumer<>(settings(access, fetchBytes), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /**
     * With consumers of a test.
     *
     * @param consumers makes one that fetches at most so many bytes of a partition
     */
    ClusterLog(KafkaAccess access, Patience patience, IntFunction<Consumer<byte[], byte[]>> consumers) {
        this.access = access;
        this.patience = patience;
        this.consumers = consumers;
        most = Long.MAX_VALUE;
        toMs = Long.MAX_VALUE;
    }

    /**
     * What a partition still has.
     *
     * @param begin the first offset
     * @param end the offset of the next record
     */
    public record Kept(long begin, long end) {}

    /** What the brokers still have of a topic now, by partition. */
    public Map<Integer, Kept> kept(String topic) {
        try (Consumer<byte[], byte[]> consumer = consumers.apply(FETCH_BYTES)) {
            List<TopicPartition> all = partitions(consumer, topic);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            Map<Integer, Kept> kept = new TreeMap<>();
            consumer.beginningOffsets(all).forEach((one, begin) -> kept.put(one.partition(), new Kept(begin, ends.getOrDefault(one, begin))));
            return kept;
        } catch (KafkaException e) {
            throw unreachable(topic, e);
        }
    }

    /** Whether something was left out of what was read so far. */
    public boolean cut() {
        return cut;
    }

    @Override
    public int partitions(String topic) {
        try (Consumer<byte[], byte[]> consumer = consumers.apply(FETCH_BYTES)) {
            return partitions(consumer, topic).size();
        } catch (KafkaException e) {
            throw unreachable(topic, e);
        }
    }

    private List<TopicPartition> partitions(Consumer<byte[], byte[]> consumer, String topic) {
        List<PartitionInfo> found = consumer.partitionsFor(topic);
        if (found == null || found.isEmpty()) {
            throw new AuditException("there is no topic " + topic + " at " + access.bootstrapServers(), "look at --topic-prefix");
        }
        return found.stream().map(each -> new TopicPartition(topic, each.partition())).toList();
    }

    @Override
    public Optional<String> topicId(String topic) {
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            return admin.describeTopics(List.of(topic)).allTopicNames().get().values().stream().map(found -> found.topicId().toString()).findFirst();
        } catch (ExecutionException e) {
            throw unreachable(topic, e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e));
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    @Override
    public Stream open(String topic, int partition) {
        return open(topic, List.of(new TopicPartition(topic, partition)), -1);
    }

    @Override
    public Stream open(String topic, int partition, long from) {
        return open(topic, List.of(new TopicPartition(topic, partition)), from);
    }

    @Override
    public Stream openAll(String topic) {
        return open(topic, IntStream.range(0, partitions(topic)).mapToObj(p -> new TopicPartition(topic, p)).toList(), -1);
    }

    private Stream open(String topic, List<TopicPartition> partitions, long from) {
        Consumer<byte[], byte[]> consumer = consumers.apply(FETCH_BYTES);
        try {
            return new Reader(consumer, partitions, from);
        } catch (KafkaException e) {
            consumer.close(KafkaAccess.AT_ONCE);
            throw unreachable(topic, e);
        } catch (AuditException e) {
            consumer.close(KafkaAccess.AT_ONCE);
            throw e;
        }
    }

    @Override
    public boolean isLive() {
        return true;
    }

    @Override
    public boolean hasTopic(String topic) {
        try (Consumer<byte[], byte[]> consumer = consumers.apply(FETCH_BYTES)) {
            return !consumer.partitionsFor(topic).isEmpty();
        } catch (KafkaException e) {
            throw unreachable(topic, e);
        }
    }

    /** Holds nothing. */
    @Override
    public void close() {}

    private static Map<String, Object> settings(KafkaAccess access, int fetchBytes) {
        return access.client(Map.of(
                "isolation.level", "read_committed",
                "enable.auto.commit", "false",
                // A trim while it is read is an error: it would leave out records in silence.
                "auto.offset.reset", "none",
                "allow.auto.create.topics", "false",
                "max.poll.records", MOST_RECORDS,
                "max.partition.fetch.bytes", fetchBytes,
                "default.api.timeout.ms", Math.toIntExact(access.timeout().toMillis())));
    }

    private AuditException unreachable(String topic, KafkaException e) {
        if (e instanceof OffsetOutOfRangeException) {
            return new AuditException(topic + " was trimmed while it was read: " + e.getMessage(), "run it again", e);
        }
        if (e instanceof ApiException refused && !(e instanceof RetriableException)) {
            String why = String.valueOf(LogSetupException.of(access, "READ of " + topic, refused).getMessage());
            return new AuditException(why, "docs/cluster.md shows the file of --client-config and the ACLs of each part", e);
        }
        return new AuditException("cannot read " + topic + " at " + access.bootstrapServers() + ": " + e.getMessage(),
                "check that the cluster is up; read the files of a stopped broker with --log DIR", e);
    }

    private final class Reader implements Stream {
        private final Map<TopicPartition, Long> ends;
        private final long begin;
        private final long end;
        private Consumer<byte[], byte[]> consumer;
        private int fetchBytes = FETCH_BYTES;

        /** Partitions of one topic; {@code from} is where a single one is read from, -1 for its beginning. */
        Reader(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, long from) {
            this.consumer = consumer;
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            ends = consumer.endOffsets(partitions);
            if (toMs < Long.MAX_VALUE) {
                ends.putAll(laterThan(partitions));
            }
            for (TopicPartition one : most == Long.MAX_VALUE ? List.<TopicPartition>of() : partitions) {
                long tail = ends.getOrDefault(one, 0L) - most;
                if (tail > consumer.position(one)) {
                    consumer.seek(one, tail);
                    cut = true;
                }
            }
            TopicPartition first = partitions.getFirst();
            long beginning = consumer.position(first);
            end = ends.getOrDefault(first, beginning);
            if (beginning > from && from >= 0) {
                throw TrimmedLog.before(first.topic(), first.partition(), beginning, from);
            }
            if (from > end) {
                throw TrimmedLog.behind(first.topic(), first.partition(), end, from);
            }
            if (from >= 0) {
                consumer.seek(first, from);
            }
            begin = Math.max(beginning, from);
        }

        /** Offset of the first later record, of the partitions that have one. */
        private Map<TopicPartition, Long> laterThan(List<TopicPartition> partitions) {
            Map<TopicPartition, Long> later = new HashMap<>();
            consumer.offsetsForTimes(partitions.stream().collect(Collectors.toMap(one -> one, _ -> toMs + 1))).forEach((one, found) -> {
                if (found != null) {
                    later.put(one, found.offset());
                }
            });
            return later;
        }

        @Override
        public List<LogEntry> next() {
            List<LogEntry> entries = new ArrayList<>();
            try {
                long movedNs = System.nanoTime();
                for (long before = -1; entries.isEmpty() && !isAtEnd(); ) {
                    long now = positions();
                    if (now != before) {
                        before = now;
                        movedNs = System.nanoTime();
                    } else {
                        stalled(System.nanoTime() - movedNs);
                    }
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                        if (record.offset() < ends.getOrDefault(new TopicPartition(record.topic(), record.partition()), 0L)) {
                            entries.add(new LogEntry.Data(record.offset(), record.timestamp(), record.key(), record.value(), record.headers()));
                        }
                    }
                }
            } catch (KafkaException e) {
                throw unreachable(String.valueOf(consumer.assignment()), e);
            }
            return entries;
        }

        private long positions() {
            return consumer.assignment().stream().mapToLong(consumer::position).sum();
        }

        /**
         * Nothing came for so long: fetches less from then on.
         *
         * @throws AuditException when it was too long
         */
        private void stalled(long ns) {
            if (ns > patience.lostNs) {
                throw new AuditException("no record of " + consumer.assignment() + " came from " + access.bootstrapServers() + " for "
                        + TimeUnit.NANOSECONDS.toSeconds(patience.lostNs) + " s", "look at the brokers and at the link to them");
            }
            boolean first = fetchBytes == FETCH_BYTES && ns > patience.stalledNs;
            boolean second = fetchBytes > LEAST_FETCH_BYTES && ns > 2 * patience.stalledNs;
            if (!first && !second) {
                return;
            }
            fetchBytes /= SMALLER;
            Map<TopicPartition, Long> positions = new LinkedHashMap<>();
            consumer.assignment().forEach(one -> positions.put(one, consumer.position(one)));
            consumer.close(KafkaAccess.AT_ONCE);
            consumer = consumers.apply(fetchBytes);
            consumer.assign(positions.keySet());
            positions.forEach(consumer::seek);
        }

        private boolean isAtEnd() {
            for (Map.Entry<TopicPartition, Long> one : ends.entrySet()) {
                if (consumer.position(one.getKey()) < one.getValue()) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public long begin() {
            return begin;
        }

        @Override
        public long end() {
            return end;
        }

        @Override
        public boolean showsAll() {
            return false;
        }

        @Override
        public void close() {
            consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
        }
    }
}
