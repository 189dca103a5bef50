/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.agent.bridge.publish.BatchLog.Numbered;
import io.tierlog.events.KafkaAccess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Counts the batches of all partitions from the start of the log, and hands out those that come after its own start. Confined to one thread.
 * Trade-off: it reads the whole log when it starts. It knows records by their schema there, and decodes only live ones.
 */
final class LiveStream implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(20);

    private final BatchLog log;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final List<BatchIndex> indexes = new ArrayList<>();
    private final Map<TopicPartition, Long> ends;

    /**
     * Stands at the start of the log.
     *
     * @param partitions of every topic
     */
    LiveStream(BatchLog log, int partitions) {
        this.log = log;
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            all.add(log.partition(i));
        }
        consumer = log.consumer(all);
        try {
            Map<TopicPartition, Long> begins = consumer.beginningOffsets(all);
            ends = new HashMap<>(consumer.endOffsets(all));
            for (TopicPartition each : all) {
                long begin = begins.getOrDefault(each, 0L);
                indexes.add(new BatchIndex(begin));
                consumer.seek(each, begin);
            }
        } catch (RuntimeException e) {
            consumer.close(KafkaAccess.AT_ONCE);
            throw e;
        }
    }

    /** Where the batches of each partition are. */
    List<BatchIndex> indexes() {
        return indexes;
    }

    /** Whether all that was there at the start is counted. */
    boolean isCaughtUp() {
        ends.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
        return ends.isEmpty();
    }

    /** Takes what has come; the batches that are new go to {@code sink}. */
    void advance(BooleanSupplier going, Consumer<Numbered> sink) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (log.counts(record, going)) {
                int partition = record.partition();
                long seq = indexes.get(partition).add(record.offset());
                if (record.offset() >= ends.getOrDefault(new TopicPartition(record.topic(), partition), 0L)) {
                    sink.accept(new Numbered(partition, seq, log.batch(record)));
                }
            }
        }
        records.nextOffsets().forEach((where, next) -> indexes.get(where.partition()).counted(next.offset()));
    }

    @Override
    public void close() {
        consumer.close(KafkaAccess.AT_ONCE);
    }
}
