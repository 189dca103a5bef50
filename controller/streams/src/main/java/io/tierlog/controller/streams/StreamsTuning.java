/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

/**
 * The settings of Kafka Streams and RocksDB that an operator may want to change; checked once, here.
 *
 * @param commitIntervalMs time between two transactions; decisions are seen by read_committed readers after it. Every commit makes the
 *     stream thread stand still for some milliseconds, so few commits mean short tails
 * @param transactionTimeoutMs after this the broker aborts what a vanished instance left open; longer than the commit interval
 * @param sessionTimeoutMs after this a silent instance is replaced
 * @param stuckMs after this, and then the session time-out, a stream thread that does not come back from one piece of work loses its partitions to
 *     other instances; longer than the load of all placements of the instance
 * @param standbyReplicas copies of the state kept warm on other instances; 0 when there is one instance
 * @param recordCacheBytes Streams' record cache, beneath the rows that each task keeps anyway; 0 for none
 * @param rocksDbBytes memory of RocksDB in this process outside of the heap: block cache, indexes, filters and write buffers together
 * @param threads stream threads; partitions are spread over them
 * @param sampleTicks ticks between two samples of a partition's tables; 0 for no samples
 * @param sampleRows most rows of one sample
 */
public record StreamsTuning(
        int commitIntervalMs,
        int transactionTimeoutMs,
        int sessionTimeoutMs,
        int stuckMs,
        int standbyReplicas,
        long recordCacheBytes,
        long rocksDbBytes,
        int threads,
        int sampleTicks,
        int sampleRows) {
    /**
     * Commit every 500 ms, 10 s for transactions and sessions, 5 minutes for a stuck thread, no standby, no record cache, 128 MiB for RocksDB, one
     * thread, 200 rows looked over every 5 ticks.
     */
    public static final StreamsTuning DEFAULTS = new StreamsTuning(500, 10_000, 10_000, 300_000, 0, 0, 128L << 20, 1, 5, 200);

    /** Refuses settings that bound nothing or cannot work together. */
    public StreamsTuning {
        within("commit interval", commitIntervalMs, 5, 60_000);
        within("transaction time-out", transactionTimeoutMs, 1_000, 900_000);
        within("session time-out", sessionTimeoutMs, 1_000, 300_000);
        within("time of a stuck thread", stuckMs, 1_000, 3_600_000);
        within("standby replicas", standbyReplicas, 0, 4);
        within("record cache bytes", recordCacheBytes, 0, 8L << 30);
        within("RocksDB bytes", rocksDbBytes, 16L << 20, 256L << 30);
        within("threads", threads, 1, 64);
        within("sample ticks", sampleTicks, 0, 86_400);
        within("sample rows", sampleRows, 1, 10_000);
        if (transactionTimeoutMs <= commitIntervalMs) {
            throw new IllegalArgumentException("the transaction time-out (" + transactionTimeoutMs
                    + " ms) must be longer than the commit interval (" + commitIntervalMs + " ms)");
        }
    }

    /** The same with another commit interval. */
    public StreamsTuning withCommitIntervalMs(int value) {
        return new StreamsTuning(
                value, transactionTimeoutMs, sessionTimeoutMs, stuckMs, standbyReplicas, recordCacheBytes, rocksDbBytes, threads, sampleTicks,
                sampleRows);
    }

    /** The same with another time of a stuck thread. */
    public StreamsTuning withStuckMs(int value) {
        return new StreamsTuning(commitIntervalMs, transactionTimeoutMs, sessionTimeoutMs, value, standbyReplicas, recordCacheBytes, rocksDbBytes,
                threads, sampleTicks, sampleRows);
    }

    /** The same with another record cache. */
    public StreamsTuning withRecordCacheBytes(long value) {
        return new StreamsTuning(
                commitIntervalMs, transactionTimeoutMs, sessionTimeoutMs, stuckMs, standbyReplicas, value, rocksDbBytes, threads, sampleTicks,
                sampleRows);
    }

    /** The same with standbys. */
    public StreamsTuning withStandbyReplicas(int value) {
        return new StreamsTuning(
                commitIntervalMs, transactionTimeoutMs, sessionTimeoutMs, stuckMs, value, recordCacheBytes, rocksDbBytes, threads, sampleTicks,
                sampleRows);
    }

    static void within(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " = " + value + " is outside " + least + " to " + most);
        }
    }
}
