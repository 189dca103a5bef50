/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import io.tierlog.controller.core.table.OrderedBytes;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteOptions;

/**
 * RocksDB with the settings of Kafka Streams: without a write-ahead log, blocks of 16 KiB, a Bloom filter. Without the changelog and the record cache
 * of Streams; {@code bench control} measures them. Confined to one thread.
 */
final class RocksBytes implements OrderedBytes, AutoCloseable {
    private static final int BLOCK_BYTES = 16 * 1024;
    private static final long WRITE_BUFFER_BYTES = 16L << 20;
    private static final long CACHE_BYTES = 64L << 20;
    private static final double BLOOM_BITS_PER_KEY = 10;

    static {
        RocksDB.loadLibrary();
    }

    private final BloomFilter filter = new BloomFilter(BLOOM_BITS_PER_KEY);
    private final LRUCache cache = new LRUCache(CACHE_BYTES);
    private final Options options = new Options();
    private final WriteOptions unlogged = new WriteOptions();
    private final RocksDB db;

    RocksBytes(Path directory) throws RocksDBException {
        BlockBasedTableConfig table = new BlockBasedTableConfig();
        table.setBlockSize(BLOCK_BYTES);
        table.setBlockCache(cache);
        table.setFilterPolicy(filter);
        options.setCreateIfMissing(true).setWriteBufferSize(WRITE_BUFFER_BYTES).setMaxWriteBufferNumber(3).setTableFormatConfig(table);
        unlogged.setDisableWAL(true);
        db = RocksDB.open(options, directory.toString());
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        try {
            return db.get(key);
        } catch (RocksDBException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void put(byte[] key, byte[] value) {
        try {
            db.put(unlogged, key, value);
        } catch (RocksDBException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void delete(byte[] key) {
        try {
            db.delete(unlogged, key);
        } catch (RocksDBException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Cursor range(byte[] fromInclusive, byte[] toExclusive) {
        return new RocksCursor(fromInclusive, toExclusive);
    }

    @Override
    public void close() {
        db.close();
        unlogged.close();
        options.close();
        cache.close();
        filter.close();
    }

    private final class RocksCursor implements Cursor {
        private final Slice end;
        private final ReadOptions read;
        private final RocksIterator rows;
        private boolean begun;

        RocksCursor(byte[] from, byte[] to) {
            end = new Slice(to);
            read = new ReadOptions().setIterateUpperBound(end);
            rows = db.newIterator(read);
            rows.seek(from);
        }

        @Override
        public boolean next() {
            if (begun) {
                rows.next();
            }
            begun = true;
            return rows.isValid();
        }

        @Override
        public byte[] key() {
            return rows.key();
        }

        @Override
        public byte[] value() {
            return rows.value();
        }

        @Override
        public void close() {
            rows.close();
            read.close();
            end.close();
        }
    }
}
