/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a topic of the log from where it stands to the end, and on from there when asked again: for audits, tests and tallies.
 *
 * <p>It belongs to no consumer group and commits nothing. One thread at a time. Trade-off: it decodes in the caller's thread, and a record
 * that a later version wrote stops it with {@link UnknownTypeException}.
 *
 * @param <F> the family of the topic's records
 */
public final class LogReader<F extends WireRecord> implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final RecordReader<F> reader;
    private final List<TopicPartition> partitions;

    /** What is visible: all records, or those of committed transactions only. */
    public enum Isolation {
        /** Records of transactions that are open or were aborted too. */
        ALL,
        /** Only what is committed: the end is the last stable offset. */
        COMMITTED
    }

    /**
     * One record.
     *
     * @param key as received, null when there is none
     * @param reading the record, or why it is none
     * @param valueBytes length of the value in bytes, 0 when there is none
     */
    public record Entry<F extends WireRecord>(
            int partition, long offset, long timestampMs, @Nullable Bytes key, Reading<F> reading, int valueBytes, Headers headers) {}

    /**
     * Which topic is read, and how.
     *
     * @param leastBytes the broker answers a fetch once it has so many bytes, 1 or more, or after half a second; 1 for each record as it comes
     */
    public record Source<F extends WireRecord>(String topic, Class<F> family, Isolation isolation, int leastBytes) {
        private static final int MANY_BYTES = 1 << 20;

        /** Each record as it comes. */
        public Source(String topic, Class<F> family, Isolation isolation) {
            this(topic, family, isolation, 1);
        }

        /** The same in few fetches of up to 1 MiB, for a reader that is not urgent: records come up to half a second late. */
        public Source<F> inBulk() {
            return new Source<>(topic, family, isolation, MANY_BYTES);
        }
    }

    /**
     * Stands at the beginning of every partition of a topic.
     *
     * @throws LogSetupException when the topic cannot be described
     */
    public LogReader(KafkaAccess access, Codec codec, Source<F> source) {
        int timeoutMs = Math.toIntExact(access.timeout().toMillis());
        Map<String, Object> settings = access.client(Map.of(
                "isolation.level", source.isolation() == Isolation.COMMITTED ? "read_committed" : "read_uncommitted",
                "enable.auto.commit", "false",
                "auto.offset.reset", "earliest",
                "max.poll.records", "5000",
                "fetch.min.bytes", source.leastBytes(),
                "default.api.timeout.ms", timeoutMs));
        consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        reader = codec.reader(source.family());
        partitions = IntStream.range(0, consumer.partitionsFor(source.topic()).size())
                .mapToObj(p -> new TopicPartition(source.topic(), p))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /** Goes to an offset of a partition. */
    public void seek(int partition, long offset) {
        consumer.seek(partitions.get(partition), offset);
    }

    /** Goes to the end of every partition as it is now, and returns these offsets by partition. */
    public Map<Integer, Long> seekToEnd() {
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        ends.forEach(consumer::seek);
        return byNumber(ends);
    }

    /** Where the next read begins, by partition. */
    public Map<Integer, Long> positions() {
        Map<TopicPartition, Long> positions = new HashMap<>();
        partitions.forEach(partition -> positions.put(partition, consumer.position(partition)));
        return byNumber(positions);
    }

    /**
     * Reads to the end of every partition as it was when this was called; order holds within a partition.
     *
     * @return number of records read
     */
    public long readToEnd(Consumer<Entry<F>> sink) {
        Map<TopicPartition, Long> left = new HashMap<>(consumer.endOffsets(partitions));
        left.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
        long read = 0;
        while (!left.isEmpty()) {
            read += deliver(sink, POLL);
            // A position also passes markers of transactions and aborted records, which are never delivered.
            left.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
        }
        return read;
    }

    /**
     * Reads what is there, waiting for the first record for {@code patience} at most.
     *
     * @return number of records read, 0 when none came
     */
    public long poll(Duration patience, Consumer<Entry<F>> sink) {
        return deliver(sink, patience);
    }

    /** Gives the connections back. */
    @Override
    public void close() {
        consumer.close(KafkaAccess.AT_ONCE);
    }

    private long deliver(Consumer<Entry<F>> sink, Duration patience) {
        long read = 0;
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(patience)) {
            sink.accept(entry(record));
            read++;
        }
        return read;
    }

    private Entry<F> entry(ConsumerRecord<byte[], byte[]> record) {
        byte @Nullable [] key = record.key();
        byte @Nullable [] value = record.value();
        return new Entry<>(
                record.partition(),
                record.offset(),
                record.timestamp(),
                key == null ? null : Bytes.wrapUnshared(key),
                reader.read(value),
                value == null ? 0 : value.length,
                record.headers());
    }

    private static Map<Integer, Long> byNumber(Map<TopicPartition, Long> offsets) {
        Map<Integer, Long> numbers = new TreeMap<>();
        offsets.forEach((partition, offset) -> numbers.put(partition.partition(), offset));
        return numbers;
    }
}
