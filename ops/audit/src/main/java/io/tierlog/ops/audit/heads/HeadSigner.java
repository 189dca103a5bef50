/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.head.LogHead;
import io.tierlog.schemas.head.Stretch;
import io.tierlog.threads.RareWarning;
import io.tierlog.threads.Supervised;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signs the heads of a log. Its state is the last head in the topic: it begins there, and again there after every fault.
 *
 * <pre>
 *   begin:  fence signers before (transactional id) --> read the last head --> read on from where it ends
 *   every minute, when something is new:  one head, in a transaction
 *   fault (Kafka is away, a commit with unknown outcome):  begin again a second later
 *   end:  another signer has begun; the log ends before where the last head says, or a head is gone: signing on would hide that
 * </pre>
 *
 * <p>One thread reads, digests and writes. Memory: a digest for each partition, and what one fetch brings (8 MiB). Trade-off: it signs what it reads;
 * what was altered before, at most a minute after it was appended, is signed as it is.
 */
public final class HeadSigner implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HeadSigner.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration CLOSE = Duration.ofSeconds(2);
    private static final long CLOSE_MS = 10_000;
    private static final long PAUSE_MS = 1_000;
    private static final long MARKER_MS = 10;
    private static final int FETCH_BYTES = 8 << 20;
    /** A broker answers the requests of a connection in order, so the next one waits while a fetch waits for records. */
    private static final int FETCH_WAIT_ONCE_MS = 20;
    private static final int FETCH_WAIT_MS = 500;
    private static final int PARTITION_BYTES = 1 << 20;
    private static final int REQUEST_MS = 15_000;
    private static final int DELIVERY_MS = 30_000;

    private final Config config;
    private final HeadRecords records;
    private final RareWarning away = new RareWarning(LOG);
    private final CompletableFuture<Throwable> ended = new CompletableFuture<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = Supervised.unstarted("tierlog-heads", this::run);
    private final LongAdder signed = new LongAdder();
    private final LongAdder faults = new LongAdder();
    private volatile Last last = new Last(0, 0);
    private volatile String trouble = "";
    /** When the next head is due, also over faults; for the thread that signs. */
    private long dueNs;

    /**
     * What is signed, and how.
     *
     * @param keys public keys; heads before were signed with one of them
     * @param every between two heads, 100 ms or more
     */
    public record Config(KafkaAccess access, Topics topics, Codec codec, HeadKeys keys, SigningKey key, Duration every) {
        /** Checks the interval. */
        public Config {
            if (every.toMillis() < 100) {
                throw new IllegalArgumentException("the time between two heads is 100 ms or more, not " + every.toMillis() + " ms");
            }
        }
    }

    /**
     * The last head that this process knows.
     *
     * @param number its number, 0 when there is none
     * @param timeMs when it was signed, milliseconds since 1970
     */
    public record Last(long number, long timeMs) {}

    private HeadSigner(Config config) {
        this.config = config;
        this.records = new HeadRecords(config.topics(), config.codec(), config.keys());
        this.dueNs = System.nanoTime() + config.every().toNanos();
    }

    /**
     * Begins to sign.
     *
     * @throws io.tierlog.events.LogSetupException when the broker or the topics are not there or not as they must be, or an ACL is missing
     */
    public static HeadSigner start(Config config) {
        check(config);
        HeadSigner signer = new HeadSigner(config);
        signer.thread.start();
        return signer;
    }

    /**
     * Signs one head at the present end of the log, and returns it as the last one; where nothing is new, the one before.
     *
     * @throws io.tierlog.events.LogSetupException as {@link #start}
     * @throws AuditException when another signer has begun, the log ends before the last head, or Kafka does not answer
     */
    public static Last once(Config config) throws InterruptedException {
        check(config);
        HeadSigner signer = new HeadSigner(config);
        try {
            signer.session(true);
        } catch (KafkaException e) {
            throw isFenced(e) ? fenced(e)
                    : new AuditException("no head was signed: " + Causes.of(e), "look at --bootstrap-servers, and run it again", e);
        }
        return signer.last;
    }

    private static void check(Config config) {
        try (TopicAdmin admin = new TopicAdmin(config.access())) {
            admin.check(config.topics());
            admin.checkHeads(config.topics());
            AclTable.require(admin, config.topics(), AccessRole.SIGNER);
        }
    }

    private boolean going() {
        return closing.getCount() > 0;
    }

    private void run() throws InterruptedException {
        while (going()) {
            try {
                session(false);
            } catch (InterruptException e) {
                return; // It is asked to end.
            } catch (AuditException e) {
                end(e);
                return;
            } catch (KafkaException | RegistryUnavailableException e) {
                if (isFenced(e)) {
                    end(fenced(e));
                    return;
                }
                if (signed.sum() == 0 && isCausedBy(e, AuthorizationException.class)) {
                    end(new AuditException(String.valueOf(LogSetupException.of(config.access(), "signing heads", e).getMessage()),
                            "docs/cluster.md shows the ACLs of each part", e));
                    return;
                }
                trouble = Causes.of(e);
                faults.increment();
                away.warn("no head can be signed now, and it is tried again: {}", trouble);
                if (closing.await(PAUSE_MS, TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        }
    }

    private void end(AuditException why) {
        LOG.error("no more heads are signed: {}", why.getMessage());
        ended.complete(why);
    }

    private static boolean isFenced(Throwable failure) {
        return isCausedBy(failure, ProducerFencedException.class) || isCausedBy(failure, InvalidProducerEpochException.class);
    }

    private static boolean isCausedBy(Throwable failure, Class<? extends Throwable> type) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return true;
            }
        }
        return false;
    }

    private static AuditException fenced(Throwable cause) {
        return new AuditException("another signer of this log has begun, or this process stood still for a minute",
                "run one signer for each log: start this one again when the other is gone", cause);
    }

    /** Signs from the last head on, until it is closed; {@code once}: until the present end. */
    private void session(boolean once) throws InterruptedException {
        KafkaProducer<byte[], byte[]> producer = producer();
        try {
            KafkaConsumer<byte[], byte[]> consumer = consumer(once);
            try {
                // From here on no signer before this one writes a head: what is read next is the last one.
                producer.initTransactions();
                sign(producer, consumer, once);
            } finally {
                consumer.close(KafkaAccess.AT_ONCE);
            }
        } finally {
            producer.close(CLOSE);
        }
    }

    private void sign(KafkaProducer<byte[], byte[]> producer, KafkaConsumer<byte[], byte[]> consumer, boolean once) throws InterruptedException {
        Optional<HeadRecords.Read.Signed> before =
                new HeadTopic(consumer, config.topics(), records, config.access().timeout(), this::going).last();
        if (!going()) {
            return;
        }
        Last found = before.map(head -> new Last(head.head().number(), head.head().timeMs())).orElse(new Last(0, 0));
        requireNotBefore(found, last);
        last = found;
        List<TopicPartition> partitions = partitions(consumer);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, Long> begins = begins(consumer, partitions, ends, before.map(HeadRecords.Read.Signed::head));
        NextHead next = new NextHead(config.topics().prefix(), found.number(), before.map(HeadRecords.Read.Signed::hash).orElse(Bytes.EMPTY), begins);
        consumer.assign(partitions);
        begins.forEach(consumer::seek);
        trouble = "";
        long progressNs = System.nanoTime();
        while (going()) {
            ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
            for (ConsumerRecord<byte[], byte[]> record : polled) {
                next.take(new TopicPartition(record.topic(), record.partition()), new LogEntry.Data(record.offset(), record.timestamp(), record.key(),
                        record.value(), record.headers()));
            }
            boolean atEnd = once && partitions.stream().allMatch(each -> consumer.position(each) >= ends.getOrDefault(each, 0L));
            if (atEnd || (!once && System.nanoTime() - dueNs >= 0)) {
                partitions.forEach(each -> next.reached(each, consumer.position(each)));
                if (next.isNew()) {
                    long offset = write(producer, next);
                    dueNs = System.nanoTime() + config.every().toNanos();
                    if (once) {
                        awaitReadable(consumer, offset);
                    }
                }
            }
            progressNs = polled.isEmpty() ? progressNs : System.nanoTime();
            if (atEnd) {
                return;
            }
            if (once && System.nanoTime() - progressNs > config.access().timeout().toNanos()) {
                throw new TimeoutException("no record came for " + config.access().timeout().toSeconds() + " s");
            }
        }
    }

    /** After a fault, the last head is not one before that which this process knows. */
    static void requireNotBefore(Last found, Last known) {
        if (found.number() < known.number()) {
            throw new AuditException("head " + known.number() + ", which this process has signed or read, is not there any more: heads were lost or"
                    + " cut off", "audit verify --head-keys says what else is missing");
        }
    }

    private List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer) {
        List<TopicPartition> all = new ArrayList<>();
        for (String topic : List.of(config.topics().events(), config.topics().decisions())) {
            List<PartitionInfo> found = Objects.requireNonNullElse(consumer.partitionsFor(topic), List.of());
            found.stream().map(each -> new TopicPartition(topic, each.partition()))
                    .sorted(Comparator.comparingInt(TopicPartition::partition)).forEach(all::add);
        }
        return all;
    }

    /** Where the next stretches begin: where the last head ends, or later where the log was trimmed since. */
    private static Map<TopicPartition, Long> begins(
            KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions, Map<TopicPartition, Long> ends, Optional<LogHead> before) {
        Map<TopicPartition, Long> begins = new LinkedHashMap<>();
        Map<TopicPartition, Long> first = consumer.beginningOffsets(partitions);
        partitions.forEach(each -> begins.put(each, first.getOrDefault(each, 0L)));
        for (Stretch stretch : before.map(LogHead::stretches).orElse(List.of())) {
            TopicPartition place = new TopicPartition(stretch.topic(), stretch.partition());
            long end = ends.getOrDefault(place, 0L);
            if (end < stretch.end()) {
                throw new AuditException("partition " + place.partition() + " of " + place.topic() + " ends at offset " + end + ", and head "
                        + before.map(LogHead::number).orElse(0L) + " has it up to offset " + stretch.end() + ": the end of the log was lost",
                        "audit verify --head-keys says what else is missing; restore the log, or make the topic of heads again to sign what is left");
            }
            begins.merge(place, stretch.end(), Math::max);
        }
        return begins;
    }

    /** A commit has returned before its marker is written; an audit right after it shall find the head. */
    private void awaitReadable(KafkaConsumer<byte[], byte[]> consumer, long offset) throws InterruptedException {
        TopicPartition heads = new TopicPartition(config.topics().heads(), 0);
        long deadlineNs = System.nanoTime() + config.access().timeout().toNanos();
        while (consumer.endOffsets(List.of(heads)).getOrDefault(heads, 0L) <= offset) {
            if (closing.await(MARKER_MS, TimeUnit.MILLISECONDS) || System.nanoTime() - deadlineNs > 0) {
                throw new TimeoutException("the head is written, and the marker of its transaction is not");
            }
        }
    }

    /** Writes the head, and returns its offset. */
    private long write(KafkaProducer<byte[], byte[]> producer, NextHead next) throws InterruptedException {
        long nowMs = System.currentTimeMillis();
        LogHead head = next.at(nowMs);
        byte[] value = config.codec().encode(config.topics().heads(), head);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(config.topics().heads(), 0, null, value);
        config.key().sign(value, record.headers());
        producer.beginTransaction();
        Future<RecordMetadata> sent = producer.send(record);
        producer.commitTransaction();
        long offset;
        try {
            offset = sent.get().offset();
        } catch (ExecutionException e) {
            throw new KafkaException("a head was not written", e.getCause());
        }
        next.signed(value);
        last = new Last(head.number(), nowMs);
        signed.increment();
        LOG.info("signed head {}", head.number());
        return offset;
    }

    private KafkaProducer<byte[], byte[]> producer() {
        Map<String, Object> settings = config.access().producer(Map.of(
                "transactional.id", AclTable.transactionOfHeads(config.topics()),
                "acks", "all",
                "max.block.ms", Math.toIntExact(config.access().timeout().toMillis()),
                "request.timeout.ms", REQUEST_MS,
                "delivery.timeout.ms", DELIVERY_MS));
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private KafkaConsumer<byte[], byte[]> consumer(boolean once) {
        Map<String, Object> settings = config.access().client(Map.of(
                "isolation.level", "read_committed",
                "enable.auto.commit", "false",
                "auto.offset.reset", "none",
                "allow.auto.create.topics", "false",
                "fetch.max.bytes", FETCH_BYTES,
                "fetch.max.wait.ms", once ? FETCH_WAIT_ONCE_MS : FETCH_WAIT_MS,
                "max.partition.fetch.bytes", PARTITION_BYTES,
                "default.api.timeout.ms", Math.toIntExact(config.access().timeout().toMillis())));
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** The last head. */
    public Last last() {
        return last;
    }

    /** Heads that this process has signed. */
    public long signed() {
        return signed.sum();
    }

    /** How often it began again after a fault. */
    public long faults() {
        return faults.sum();
    }

    /** Why it cannot sign now, for people; empty when it can. */
    public String trouble() {
        return trouble;
    }

    /** Completes with what ended it by itself; trying again does not help then. */
    public CompletableFuture<Throwable> ended() {
        return ended;
    }

    /** Ends it; at most 10 s. Closing twice is harmless. */
    @Override
    public void close() {
        closing.countDown();
        try {
            if (!thread.join(CLOSE)) {
                // Kafka does not answer. A head that is being written is whole or not there.
                thread.interrupt();
                thread.join(CLOSE_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
