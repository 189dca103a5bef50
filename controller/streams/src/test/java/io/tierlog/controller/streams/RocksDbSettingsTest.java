/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

final class RocksDbSettingsTest {
    /** Most reads are of rows that are not there: no write buffer is searched for them. */
    @Test
    void writeBuffersHaveAFilterOfTheirKeys() {
        RocksDB.loadLibrary();
        try (Options options = new Options().setTableFormatConfig(new BlockBasedTableConfig())) {
            new RocksDbSettings().setConfig("state", options, Map.of(RocksDbSettings.BYTES, String.valueOf(StreamsTuning.DEFAULTS.rocksDbBytes())));

            assertTrue(options.memtableWholeKeyFiltering());
            assertTrue(options.memtablePrefixBloomSizeRatio() > 0);
        }
    }
}
