/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.streams.RocksDbSettings;
import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.CompressionType;
import org.rocksdb.Options;

/**
 * The bounds that the controller's stores have, and Zstandard: neighbouring records are much alike, and what is read from here is read in one go
 * or in need. Made by Streams, once per store and partition.
 */
public final class DirectoryRocksDb implements RocksDBConfigSetter {
    private final RocksDbSettings bounds = new RocksDbSettings();

    /** Made by Streams. */
    public DirectoryRocksDb() {}

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        bounds.setConfig(storeName, options, configs);
        options.setCompressionType(CompressionType.ZSTD_COMPRESSION);
    }

    @Override
    public void close(String storeName, Options options) {
        bounds.close(storeName, options);
    }
}
