/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.Statistics;
import org.rocksdb.StatsLevel;
import org.rocksdb.TickerType;
import org.rocksdb.WriteBufferManager;

/**
 * Bounds what all RocksDB instances of this process hold outside of the heap: one block cache, in which indexes, filters and the memory of
 * write buffers are counted too. Made by Streams, once per store and partition.
 *
 * <p>The first bound that is requested in a process applies, since the cache is shared and never closed. Trade-off: a store that is written heavily
 * takes cache from one that is read.
 */
public final class RocksDbSettings implements RocksDBConfigSetter {
    /** Name of the property with the bound in bytes. */
    public static final String BYTES = "tierlog.rocksdb.bytes";

    private static final int BLOCK_BYTES = 16 * 1024;
    private static final long WRITE_BUFFER_BYTES = 16L << 20;
    private static final double BLOOM_BITS_PER_KEY = 10;

    /** Part of a write buffer that a filter of its keys gets: most reads are of blocks that are new on their tier, so there is no row. */
    private static final double BLOOM_OF_WRITE_BUFFER = 0.1;
    private static final Object LOCK = new Object();

    private static @Nullable Shared shared;

    /** What all stores of the process share. */
    private record Shared(Cache cache, WriteBufferManager writeBuffers, Statistics statistics) {
        static Shared of(long bytes) {
            RocksDB.loadLibrary();
            Cache cache = new LRUCache(bytes, -1, false, 0.1);
            Statistics statistics = new Statistics();
            statistics.setStatsLevel(StatsLevel.EXCEPT_DETAILED_TIMERS);
            return new Shared(cache, new WriteBufferManager(bytes / 2, cache), statistics);
        }
    }

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        Shared common;
        synchronized (LOCK) {
            if (shared == null) {
                shared = Shared.of(Long.parseLong(String.valueOf(configs.get(BYTES))));
            }
            common = shared;
        }
        // Streams insists on its own table configuration object.
        if (!(options.tableFormatConfig() instanceof BlockBasedTableConfig table)) {
            throw new IllegalStateException("Kafka Streams gave no block based table for store " + storeName);
        }
        table.setBlockCache(common.cache());
        table.setBlockSize(BLOCK_BYTES);
        table.setCacheIndexAndFilterBlocks(true);
        table.setCacheIndexAndFilterBlocksWithHighPriority(true);
        table.setPinTopLevelIndexAndFilter(true);
        table.setFilterPolicy(new BloomFilter(BLOOM_BITS_PER_KEY));
        options.setMemtablePrefixBloomSizeRatio(BLOOM_OF_WRITE_BUFFER);
        options.setMemtableWholeKeyFiltering(true);
        options.setWriteBufferManager(common.writeBuffers());
        options.setStatistics(common.statistics());
        options.setWriteBufferSize(WRITE_BUFFER_BYTES);
        options.setMaxWriteBufferNumber(3);
    }

    /** Blocks whose checksum was wrong, in all stores of the process, count: Streams' iterators just end at such a block. */
    static long damagedBlocks() {
        synchronized (LOCK) {
            return shared == null ? 0 : shared.statistics().getTickerCount(TickerType.BLOCK_CHECKSUM_MISMATCH_COUNT);
        }
    }

    /** Bytes in the block cache of the process, write buffers included; 0 before the first store. */
    static long cacheUsedBytes() {
        synchronized (LOCK) {
            return shared == null ? 0 : shared.cache().getUsage();
        }
    }

    @Override
    public void close(String storeName, Options options) {
        // The filter belongs to the table's configuration, which Streams closes; cache and manager are everybody's.
    }
}
