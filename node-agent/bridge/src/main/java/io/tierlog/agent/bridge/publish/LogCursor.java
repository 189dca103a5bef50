/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.agent.bridge.publish.BatchLog.Numbered;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/**
 * Reads the batches of one partition from a number on, straight from the log: a slow subscriber holds nothing up and loses nothing. Confined to one
 * thread.
 */
final class LogCursor implements AutoCloseable {
    private final BatchLog log;
    private final BatchIndex index;
    private final int partition;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final ArrayDeque<ConsumerRecord<byte[], byte[]>> read = new ArrayDeque<>();
    private long next;
    private long wanted;
    private volatile boolean closing;

    /** Stands nowhere before the first {@link #seek}. */
    LogCursor(BatchLog log, BatchIndex index, int partition) {
        this.log = log;
        this.index = index;
        this.partition = partition;
        consumer = log.consumer(List.of(log.partition(partition)));
    }

    /** Partition of the log. */
    int partition() {
        return partition;
    }

    /** Goes to the batch with that number; to the first that the log has when it is gone. */
    void seek(long seq) {
        BatchIndex.Mark mark = index.before(seq);
        read.clear();
        next = mark.seq();
        wanted = Math.max(seq, mark.seq());
        consumer.seek(log.partition(partition), mark.offset());
    }

    /** Number of the batch after the last one that was read. */
    long position() {
        return next;
    }

    /**
     * The next batch.
     *
     * @return empty when there is none within {@code patience}
     * @throws org.apache.kafka.clients.consumer.OffsetOutOfRangeException when the log has lost it meanwhile
     */
    Optional<Numbered> next(Duration patience) {
        long deadlineNs = System.nanoTime() + patience.toNanos();
        while (!closing) {
            ConsumerRecord<byte[], byte[]> record = read.poll();
            if (record == null) {
                long leftNs = deadlineNs - System.nanoTime();
                if (leftNs < 0) {
                    return Optional.empty();
                }
                consumer.poll(Duration.ofMillis(Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs)))).forEach(read::add);
            } else if (log.counts(record, () -> !closing)) {
                long seq = next++;
                if (seq >= wanted) {
                    return Optional.of(new Numbered(partition, seq, log.batch(record)));
                }
            }
        }
        return Optional.empty();
    }

    /** Makes {@link #next} return soon. Safe to call from any thread. */
    void stop() {
        closing = true;
    }

    @Override
    public void close() {
        closing = true;
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
    }
}
