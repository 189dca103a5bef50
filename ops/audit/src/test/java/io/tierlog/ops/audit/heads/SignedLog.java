/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A log of two partitions on a broker, written record by record, and the keys of its signer. A head does not care what records say. */
final class SignedLog {
    private static final int PARTITIONS = 2;

    final Topics topics;
    final KafkaAccess access;
    final Codec codec = new Codec(Schemas.bundled());
    private final Path keys;
    private Path privateKey;

    /** Makes the topics, and keys in a directory of the test. */
    SignedLog(KafkaAccess access, String prefix, Path directory) throws IOException {
        this.topics = new Topics(prefix);
        this.access = access;
        this.keys = directory.resolve(prefix + ".public");
        this.privateKey = newKey(directory.resolve(prefix + ".key"));
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(topics, PARTITIONS, 1);
        }
    }

    /** From now on it signs with another key. */
    SignedLog rotated() throws IOException {
        privateKey = newKey(keys.resolveSibling(topics.prefix() + ".key2"));
        return this;
    }

    /** From now on it signs with its first key again. */
    SignedLog rotatedBack() {
        privateKey = keys.resolveSibling(topics.prefix() + ".key");
        return this;
    }

    private Path newKey(Path file) throws IOException {
        SigningKey.Pair pair = SigningKey.create();
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, pair.privateKey());
        Files.writeString(keys, (Files.exists(keys) ? Files.readString(keys) : "") + pair.publicKey());
        return file;
    }

    HeadKeys keys() {
        return HeadKeys.read(keys);
    }

    SigningKey key() {
        return SigningKey.read(privateKey, keys());
    }

    HeadSigner.Config config(Duration every) {
        return new HeadSigner.Config(access, topics, codec, keys(), key(), every);
    }

    /** Signs one head, by a signer of its own. */
    HeadSigner.Last sign() throws InterruptedException {
        return HeadSigner.once(config(Duration.ofSeconds(1)));
    }

    /** Plain records, as events are written; each is a batch. */
    void events(int partition, String... values) throws Exception {
        plain(topics.events(), partition, values);
    }

    /** Plain records. */
    void plain(String topic, int partition, String... values) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            for (String value : values) {
                producer.send(record(topic, partition, value)).get(60, TimeUnit.SECONDS);
            }
        }
    }

    /** One transaction; each record is a batch. */
    void decisions(int partition, boolean commits, String... values) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("transactional.id", topics.prefix() + "-controller"))) {
            producer.initTransactions();
            producer.beginTransaction();
            for (String value : values) {
                producer.send(record(topics.decisions(), partition, value)).get(60, TimeUnit.SECONDS);
            }
            if (commits) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
        }
        awaitMarker(new TopicPartition(topics.decisions(), partition));
    }

    /** A transaction has ended for its producer before its marker is written. */
    private void awaitMarker(TopicPartition partition) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        try (KafkaConsumer<byte[], byte[]> committed = consumer("read_committed");
                KafkaConsumer<byte[], byte[]> all = consumer("read_uncommitted")) {
            // The last offset is that of the marker, once it is there.
            while (!committed.endOffsets(List.of(partition)).equals(all.endOffsets(List.of(partition)))) {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new AssertionError("a transaction of " + partition + " does not end");
                }
                LockSupport.parkNanos(5_000_000);
            }
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer(String isolation) {
        return new KafkaConsumer<>(access.client(Map.of("isolation.level", isolation)), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, int partition, String value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, "key".getBytes(StandardCharsets.UTF_8),
                value.getBytes(StandardCharsets.UTF_8));
        record.headers().add("tierlog.mac", ("code of " + value).getBytes(StandardCharsets.UTF_8));
        return record;
    }

    KafkaProducer<byte[], byte[]> producer(Map<String, Object> more) {
        return new KafkaProducer<>(access.withCompression("none").producer(more), new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Checks all heads. */
    HeadReport check(LogSource log) throws InterruptedException {
        return check(log, keys(), Optional.empty());
    }

    HeadReport check(LogSource log, HeadKeys with, Optional<HeadReport.Seen> from) throws InterruptedException {
        return new HeadCheck(log, topics, codec, with, 2, Long.MAX_VALUE).check(from);
    }

    /** What is found, by place and detail, with times left out. */
    static List<String> found(HeadReport report) {
        return report.findings().stream().map(Finding::toString)
                .map(text -> text.replaceAll("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "TIME")).toList();
    }

    /** Copies the files of the log, as they are now, to a directory that no broker uses. */
    Path copy(Path broker, Path to) throws IOException {
        Path log = broker.resolve("log");
        Files.createDirectories(to);
        Files.copy(log.resolve("meta.properties"), to.resolve("meta.properties"));
        try (Stream<Path> partitions = Files.list(log)) {
            for (Path partition : partitions.filter(one -> one.getFileName().toString().startsWith(topics.prefix() + ".")).toList()) {
                Path into = Files.createDirectories(to.resolve(partition.getFileName().toString()));
                try (Stream<Path> files = Files.list(partition)) {
                    for (Path file : files.filter(one -> one.toString().endsWith(".log")).toList()) {
                        Files.copy(file, into.resolve(file.getFileName().toString()));
                    }
                }
            }
        }
        return to;
    }

    /** Why signing is refused. */
    String refused() throws InterruptedException {
        try {
            return "signed " + sign();
        } catch (AuditException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
