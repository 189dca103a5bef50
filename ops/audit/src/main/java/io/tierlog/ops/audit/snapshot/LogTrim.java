/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.SnapshotSeam;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsResult;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/**
 * Deletes events and decisions that come before a verified snapshot. Of each partition it keeps the last decision of the snapshot and the event that
 * it answers, with which a controller compares its state, and all behind them; what the retention keeps; and what a consumer group has not read yet.
 *
 * <p>Each partition of each topic is cut by itself: a process that is killed has made some of the cuts, and each of them alone is safe.
 */
public final class LogTrim {
    /** Groups that commit offsets: a share group has none. */
    private static final Set<GroupType> WITH_OFFSETS = Set.of(GroupType.CLASSIC, GroupType.CONSUMER, GroupType.STREAMS);

    private final KafkaAccess access;
    private final LogSource source;
    private final Topics topics;
    private final Codec codec;

    /**
     * A log on a cluster.
     *
     * @param source the same log, to compare records with those of the snapshot
     */
    public LogTrim(KafkaAccess access, LogSource source, Topics topics, Codec codec) {
        this.access = access;
        this.source = source;
        this.topics = topics;
        this.codec = codec;
    }

    /**
     * What may be deleted.
     *
     * @param groups whose offsets were looked at, sorted: all that the user may DESCRIBE and that commit offsets
     */
    public record Plan(List<Cut> cuts, List<String> groups) {
        public Plan {
            cuts = List.copyOf(cuts);
            groups = List.copyOf(groups);
        }
    }

    /**
     * One partition of a topic.
     *
     * @param begin its first offset now
     * @param before records before this offset are deleted; at most {@code begin} when none are
     * @param limit what the cut is limited by
     */
    public record Cut(TopicPartition place, long begin, long before, String limit) {
        /** Offsets that are deleted. */
        public long records() {
            return Math.max(0, before - begin);
        }

        /** This cut, or an earlier one where something else needs more. */
        Cut atMost(long offset, String why) {
            return offset < before ? new Cut(place, begin, offset, why) : this;
        }
    }

    /**
     * What is kept of the records before a snapshot: both what is young, and the last bytes.
     *
     * @param fromMs records appended from then on, milliseconds since 1970
     * @param bytes at least so many bytes of the records appended last, both topics and all partitions together, 0 or more; counted as the brokers
     *     store one replica of them, by the mean record of the log
     */
    public record Retention(long fromMs, long bytes) {}

    /**
     * What may be deleted.
     *
     * @param retention what is kept although it is before the snapshot
     * @throws AuditException when the snapshot is not verified, not whole or of another log, or the brokers do not answer
     */
    public Plan plan(Snapshot snapshot, Retention retention) {
        snapshot.requireOf(topics, source.partitions(topics.events()));
        if (!snapshot.isVerified()) {
            throw new AuditException("the snapshot " + snapshot.directory() + " is not verified", "run snapshot verify " + snapshot.directory());
        }
        snapshot.requireWhole();
        SnapshotSeam seam = new SnapshotSeam(source, topics, codec);
        for (PartitionStart.At at : snapshot.places()) {
            snapshot.of(at.partition()).ifPresent(seam::require);
        }
        Map<TopicPartition, Long> limits = new HashMap<>();
        for (PartitionStart.At at : snapshot.places()) {
            limits.put(new TopicPartition(topics.events(), at.partition()), at.lastEvent());
            limits.put(new TopicPartition(topics.decisions(), at.partition()), at.lastDecision());
        }
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            Map<TopicPartition, Cut> cuts = new HashMap<>();
            Map<TopicPartition, ListOffsetsResultInfo> begins = offsets(admin, limits, OffsetSpec.earliest());
            Map<TopicPartition, ListOffsetsResultInfo> kept = offsets(admin, limits, OffsetSpec.forTimestamp(retention.fromMs()));
            limits.forEach((place, limit) -> {
                Cut cut = new Cut(place, offset(begins, place), limit, "snapshot " + snapshot.name());
                // No record is that young: the retention keeps none.
                long young = offset(kept, place);
                cuts.put(place, young < 0 ? cut : cut.atMost(young, "retention"));
            });
            if (retention.bytes() > 0) {
                double share = share(admin, cuts.values(), retention.bytes());
                Map<TopicPartition, ListOffsetsResultInfo> ends = offsets(admin, limits, OffsetSpec.latest());
                cuts.replaceAll((place, cut) -> {
                    long end = offset(ends, place);
                    return cut.atMost(end - (long) Math.ceil((end - cut.begin()) * share), "size");
                });
            }
            Map<String, Map<TopicPartition, OffsetAndMetadata>> readers = readers(admin, limits);
            readers.forEach((group, read) -> read.forEach((place, next) -> {
                if (next != null) {
                    cuts.computeIfPresent(place, (p, cut) -> cut.atMost(next.offset(), "group " + group));
                }
            }));
            List<Cut> sorted = new ArrayList<>(new TreeMap<>(byName(cuts)).values());
            return new Plan(sorted, new ArrayList<>(readers.keySet()));
        }
    }

    private static Map<String, Cut> byName(Map<TopicPartition, Cut> cuts) {
        Map<String, Cut> named = new HashMap<>();
        cuts.forEach((place, cut) -> named.put(String.format(Locale.ROOT, "%s-%09d", place.topic(), place.partition()), cut));
        return named;
    }

    private Map<TopicPartition, ListOffsetsResultInfo> offsets(Admin admin, Map<TopicPartition, Long> places, OffsetSpec spec) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        places.keySet().forEach(place -> asked.put(place, spec));
        return done(admin.listOffsets(asked).all());
    }

    /**
     * The share of the records whose bytes are kept. What was trimmed stays in the first segment until that is deleted as a whole, so a trimmed
     * partition may have up to a segment less than the brokers count.
     */
    private double share(Admin admin, Collection<Cut> cuts, long bytes) {
        Map<String, Long> segments = new HashMap<>();
        List<ConfigResource> asked = Stream.of(topics.events(), topics.decisions()).map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        done(admin.describeConfigs(asked).all()).forEach(
                (topic, settings) -> segments.put(topic.name(), Long.parseLong(settings.get(TopicConfig.SEGMENT_BYTES_CONFIG).value())));
        long trimmed = cuts.stream().filter(cut -> cut.begin() > 0).mapToLong(cut -> segments.getOrDefault(cut.place().topic(), 0L)).sum();
        long stored = stored(admin, cuts.stream().map(Cut::place).toList());
        return stored <= bytes + trimmed ? 1 : (double) (bytes + trimmed) / stored;
    }

    /** Bytes of these partitions, one replica of each. */
    private long stored(Admin admin, List<TopicPartition> places) {
        List<Integer> brokers = done(admin.describeCluster().nodes()).stream().map(Node::id).toList();
        Map<TopicPartition, Long> sizes = new HashMap<>();
        done(admin.describeLogDirs(brokers).allDescriptions()).values().forEach(directories -> directories.values().forEach(
                directory -> directory.replicaInfos().forEach((place, replica) -> sizes.merge(place, replica.size(), Math::max))));
        return places.stream().mapToLong(place -> sizes.getOrDefault(place, 0L)).sum();
    }

    private static long offset(Map<TopicPartition, ListOffsetsResultInfo> found, TopicPartition place) {
        ListOffsetsResultInfo one = found.get(place);
        return one == null ? -1 : one.offset();
    }

    /** What groups have read of these partitions, by group. The brokers leave out groups that this user may not DESCRIBE. */
    private Map<String, Map<TopicPartition, OffsetAndMetadata>> readers(Admin admin, Map<TopicPartition, Long> places) {
        Map<String, ListConsumerGroupOffsetsSpec> asked = new HashMap<>();
        for (GroupListing group : done(admin.listGroups().all())) {
            // A broker that gives no type has classic groups only.
            if (group.type().map(WITH_OFFSETS::contains).orElse(true)) {
                asked.put(group.groupId(), new ListConsumerGroupOffsetsSpec().topicPartitions(places.keySet()));
            }
        }
        Map<String, Map<TopicPartition, OffsetAndMetadata>> readers = new TreeMap<>();
        if (!asked.isEmpty()) {
            ListConsumerGroupOffsetsResult offsets = admin.listConsumerGroupOffsets(asked);
            asked.keySet().forEach(group -> offsetsOf(group, offsets).ifPresent(read -> readers.put(group, read)));
        }
        return readers;
    }

    /** Empty when the group was deleted meanwhile. */
    private Optional<Map<TopicPartition, OffsetAndMetadata>> offsetsOf(String group, ListConsumerGroupOffsetsResult offsets) {
        try {
            return Optional.of(done(offsets.partitionsToOffsetAndMetadata(group)));
        } catch (AuditException e) {
            if (e.getCause() instanceof ExecutionException failed && failed.getCause() instanceof GroupIdNotFoundException) {
                return Optional.empty();
            }
            throw new AuditException("what group " + group + " has read is not known: " + e.getMessage(), e.hint(), e);
        }
    }

    /**
     * Deletes what a plan says.
     *
     * @throws AuditException when a cut fails; those before it are made
     */
    public void delete(Plan plan) {
        Map<TopicPartition, RecordsToDelete> cuts = new HashMap<>();
        plan.cuts().stream().filter(cut -> cut.records() > 0).forEach(cut -> cuts.put(cut.place(), RecordsToDelete.beforeOffset(cut.before())));
        if (cuts.isEmpty()) {
            return;
        }
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            done(admin.deleteRecords(cuts).all());
        }
    }

    private <T> T done(KafkaFuture<T> future) {
        try {
            return future.get(access.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new AuditException("the brokers did not do it: " + Causes.of(e), "look at --bootstrap-servers and at the rights of this user", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AuditException("interrupted", "run it again", e);
        }
    }
}
