/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.List;

/**
 * Where the bytes of a log come from: a running cluster, or the directory of a broker that is not running. Safe for use by several threads;
 * a {@link Stream} belongs to one.
 */
public interface LogSource extends AutoCloseable {
    /**
     * Number of partitions of a topic.
     *
     * @throws AuditException when there is no such topic, or nobody can say
     */
    int partitions(String topic);

    /**
     * The committed records of a partition from its beginning to its end as it is now.
     *
     * @throws AuditException when it cannot be read
     */
    Stream open(String topic, int partition);

    /**
     * The committed records of all partitions of a topic, each in its order, as one reader gets them that does not care about partitions.
     *
     * @throws AuditException when it cannot be read
     */
    Stream openAll(String topic);

    /** Whether others may append while it is read. */
    boolean isLive();

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

        /** The offset after the last one that will be given. */
        long end();

        /** Whether every offset is accounted for, so that a hole is a record that is missing. */
        boolean showsAll();

        @Override
        void close();
    }
}
