/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.agent.bridge.publish.BatchLog.Numbered;
import io.tierlog.events.registry.RegistryUnavailableException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the batches of one partition from a number on, straight from the log: a slow subscriber holds nothing up and loses nothing. Where the start
 * of the log was deleted it goes on at the first batch that is there, under the number that it had. Confined to one thread.
 */
final class LogCursor implements AutoCloseable {
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final long PAUSE_NS = 50_000_000;

    private final BatchLog log;
    private final BatchIndex index;
    private final TopicPartition partition;
    private final BooleanSupplier going;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final ArrayDeque<ConsumerRecord<byte[], byte[]>> read = new ArrayDeque<>();
    private long next;
    private long wanted;
    /** What is fetched next. */
    private long offset;
    private @Nullable Recount recount;

    /** Batches are counted from an offset to a number that is known. */
    private static final class Recount {
        private final long from;
        private final BatchIndex.Mark to;
        private long batches;

        Recount(long from, BatchIndex.Mark to) {
            this.from = from;
            this.to = to;
        }
    }

    /**
     * Stands nowhere before the first {@link #seek}.
     *
     * @param going false when {@link #next} shall return soon; read by the thread that waits there
     */
    LogCursor(BatchLog log, BatchIndex index, int partition, BooleanSupplier going) {
        this.log = log;
        this.index = index;
        this.partition = log.partition(partition);
        this.going = going;
        consumer = log.consumer(List.of(this.partition));
    }

    /** Partition of the log. */
    int partition() {
        return partition.partition();
    }

    /** Goes to the batch with that number; to the first that the log has when it is gone. */
    void seek(long seq) {
        recount = null;
        wanted = seq;
        stand(index.before(seq));
    }

    private void stand(BatchIndex.Mark mark) {
        read.clear();
        next = mark.seq();
        wanted = Math.max(wanted, mark.seq());
        go(mark.offset());
    }

    /** Number of the batch after the last one that was read. */
    long position() {
        return next;
    }

    /**
     * The next batch; its number is higher than that of the last one by more than 1 when the log has lost those between.
     *
     * @return empty when there is none within {@code patience}
     * @throws OffsetOutOfRangeException when the log has lost its end
     */
    Optional<Numbered> next(Duration patience) {
        long deadlineNs = System.nanoTime() + patience.toNanos();
        while (going.getAsBoolean()) {
            ConsumerRecord<byte[], byte[]> record = read.poll();
            if (recount != null && (record == null ? offset : record.offset()) >= recount.to.offset()) {
                found(recount);
            } else if (record == null) {
                long leftNs = deadlineNs - System.nanoTime();
                if (leftNs < 0) {
                    return Optional.empty();
                }
                fetch(leftNs);
            } else if (counts(record)) {
                if (recount != null) {
                    recount.batches++;
                    continue;
                }
                long seq = next++;
                if (seq >= wanted) {
                    return Optional.of(new Numbered(partition(), seq, log.batch(record)));
                }
            }
        }
        return Optional.empty();
    }

    private boolean counts(ConsumerRecord<byte[], byte[]> record) {
        try {
            return log.counts(record, going);
        } catch (RegistryUnavailableException e) {
            if (going.getAsBoolean()) {
                throw e;
            }
            return false;
        }
    }

    private void fetch(long leftNs) {
        try {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs))));
            records.forEach(read::add);
            records.nextOffsets().forEach((_, reached) -> offset = reached.offset());
        } catch (OffsetOutOfRangeException e) {
            if (!goOnAtTheStart(e)) {
                LockSupport.parkNanos(Math.min(leftNs, PAUSE_NS));
            }
        }
    }

    /** False when it is not known yet what to count: the next fetch fails again, and so it comes back to here. */
    private boolean goOnAtTheStart(OffsetOutOfRangeException lost) {
        recount = null;
        long from;
        try {
            from = consumer.beginningOffsets(List.of(partition), LOOK).getOrDefault(partition, 0L);
        } catch (TimeoutException e) {
            return false;
        }
        if (from <= offset) {
            throw lost;
        }
        recount = index.after(from).map(to -> new Recount(from, to)).orElse(null);
        if (recount == null) {
            return false;
        }
        go(from);
        return true;
    }

    private void go(long to) {
        offset = to;
        consumer.seek(partition, to);
    }

    private void found(Recount done) {
        BatchIndex.Mark begin = new BatchIndex.Mark(done.to.seq() - done.batches, done.from);
        recount = null;
        index.cut(begin);
        stand(begin);
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
    }
}
