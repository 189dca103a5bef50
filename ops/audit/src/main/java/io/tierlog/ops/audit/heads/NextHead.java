/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.ops.audit.LogEntry;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.head.LogHead;
import io.tierlog.schemas.head.Stretch;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * What the next head will say of the records that were read since the one before. Without I/O, confined to one thread. Memory: a digest for each
 * partition.
 */
final class NextHead {
    private final String log;
    private final Map<TopicPartition, Open> partitions = new LinkedHashMap<>();
    private long number;
    private Bytes previous;

    private static final class Open {
        private final StretchDigest digest = new StretchDigest();
        private long begin;
        private long end;
    }

    /**
     * @param log what the names of the topics begin with
     * @param number of the head before, 0 when there is none
     * @param previous hash of the head before, empty when there is none
     * @param begins where the next stretch of each partition begins
     */
    NextHead(String log, long number, Bytes previous, Map<TopicPartition, Long> begins) {
        this.log = log;
        this.number = number;
        this.previous = previous;
        begins.forEach((partition, begin) -> {
            Open open = new Open();
            open.begin = begin;
            open.end = begin;
            partitions.put(partition, open);
        });
    }

    private Open of(TopicPartition partition) {
        Open open = partitions.get(partition);
        if (open == null) {
            throw new IllegalArgumentException(partition + " is no partition of the log");
        }
        return open;
    }

    /** A committed record. */
    void take(TopicPartition partition, LogEntry.Data record) {
        of(partition).digest.add(record);
    }

    /** All committed records before an offset were taken. */
    void reached(TopicPartition partition, long offset) {
        of(partition).end = offset;
    }

    /** Whether a partition has more than the head before says. */
    boolean isNew() {
        return partitions.values().stream().anyMatch(open -> open.end > open.begin);
    }

    /** The head; the next stretches begin where it ends. */
    LogHead at(long timeMs) {
        List<Stretch> stretches = new ArrayList<>();
        partitions.forEach((partition, open) -> {
            long records = open.digest.records();
            stretches.add(new Stretch(partition.topic(), partition.partition(), open.begin, open.end, records, open.digest.take()));
            open.begin = open.end;
        });
        return new LogHead(number + 1, previous, timeMs, log, stretches);
    }

    /** The head was signed, with that value. */
    void signed(byte[] value) {
        number++;
        previous = HeadRecords.hash(value);
    }
}
