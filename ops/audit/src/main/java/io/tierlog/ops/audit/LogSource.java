/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.List;
import java.util.Optional;

/**
 * Where the bytes of a log come from: a running cluster, the data directory of a stopped broker, or an archive. Safe for use by several threads; a
 * {@link Stream} belongs to one.
 */
public interface LogSource extends AutoCloseable {
    /**
     * Number of partitions of a topic.
     *
     * @throws AuditException when there is no such topic, or the cluster does not answer
     */
    int partitions(String topic);

    /**
     * The committed records of a partition, from its beginning to its present end.
     *
     * @throws AuditException when it cannot be read
     */
    Stream open(String topic, int partition);

    /**
     * The committed records of a partition from an offset on, to its present end.
     *
     * @throws AuditException when it cannot be read, or begins after that offset
     */
    Stream open(String topic, int partition, long from);

    /**
     * The committed records of all partitions of a topic; order holds within a partition.
     *
     * @throws AuditException when it cannot be read
     */
    Stream openAll(String topic);

    /** The id that the cluster gave a topic when it was made; empty when this source knows none. */
    default Optional<String> topicId(String topic) {
        return Optional.empty();
    }

    /** First offset of each file of a partition, ascending; none where no files show. */
    default List<Long> fileOffsets(String topic, int partition) {
        return List.of();
    }

    /**
     * A checksum over the headers of the batches that begin between two offsets. A header has the checksum of its batch's records, so it changes with
     * every record, and no record is read.
     *
     * @return in hexadecimal digits; empty where no batches show
     * @throws AuditException when the headers cannot be read
     */
    default Optional<String> batchChecksum(String topic, int partition, long from, long to) {
        return Optional.empty();
    }

    /** Whether records may be appended while it is read. */
    boolean isLive();

    /** Whether all topics end at the same moment, so that each has what follows from the records of another. */
    default boolean endsAtOnce() {
        return !isLive();
    }

    /** Whether it has what directories read: an archive has not, since decisions say the same. */
    default boolean hasPlacements() {
        return true;
    }

    /**
     * Whether there is a topic.
     *
     * @throws AuditException when the cluster does not answer
     */
    boolean hasTopic(String topic);

    @Override
    void close();

    /** The entries of one partition, ascending. */
    interface Stream extends AutoCloseable {
        /**
         * The next entries, none at the end.
         *
         * @throws AuditException when it cannot be read
         */
        List<LogEntry> next();

        /** First offset. */
        long begin();

        /** The offset after the last one that {@link #next} returns. */
        long end();

        /** Whether every offset shows, so that a gap is a missing record. */
        boolean showsAll();

        @Override
        void close();
    }
}
