/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores of two tasks in one process, on real files. */
class RestorableStoreTest {
    private static final int ROWS = 100;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final List<String> reported = new ArrayList<>();

    private KeyValueStore<Bytes, byte[]> open(int partition) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, RocksDbSettings.class);
        settings.put(RocksDbSettings.BYTES, Long.toString(16L << 20));
        MockProcessorContext<Void, Void> context =
                new MockProcessorContext<>(settings, new TaskId(0, partition), directory.resolve("0_" + partition).toFile());
        KeyValueStore<Bytes, byte[]> store =
                RestorableStore.supplier("rows", new DamagedState(directory, reported::add)).get();
        store.init(context.getStateStoreContext(), store);
        return store;
    }

    private void fill(int partition) {
        KeyValueStore<Bytes, byte[]> store = open(partition);
        for (int i = 0; i < ROWS; i++) {
            store.put(Bytes.wrap(("key " + (1_000 + i)).getBytes(StandardCharsets.UTF_8)), new byte[100]);
        }
        store.close(); // to files
    }

    /** Of the rows, which are the largest file; RocksDB reads others when it opens the store. */
    private void damage(int partition) throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("0_" + partition))) {
            Path file = files.filter(one -> one.toString().endsWith(".sst"))
                    .max(Comparator.comparingLong(one -> one.toFile().length())).orElseThrow();
            byte[] bytes = Files.readAllBytes(file);
            bytes[0] ^= 0x55;
            Files.write(file, bytes);
        }
    }

    private static int rows(KeyValueIterator<Bytes, byte[]> rows) {
        int count = 0;
        for (; rows.hasNext(); rows.next()) {
            count++;
        }
        return count;
    }

    /** RocksDB counts damaged blocks of the whole process; while the rows of one task are read, another task meets one. */
    @Test
    void damageOfOneTaskIsNoneOfAnother() throws IOException {
        fill(0);
        fill(1);
        damage(1);
        KeyValueStore<Bytes, byte[]> healthy = open(0);
        KeyValueStore<Bytes, byte[]> damaged = open(1);
        try (KeyValueIterator<Bytes, byte[]> before = healthy.all();
                KeyValueIterator<Bytes, byte[]> wrong = damaged.all()) {
            TaskCorruptedException found = assertThrows(TaskCorruptedException.class, () -> rows(wrong));
            assertEquals(Set.of(new TaskId(0, 1)), found.corruptedTasks());
            assertEquals(ROWS, rows(before));
        } finally {
            healthy.close();
            damaged.close();
        }
        assertEquals(1, reported.size(), reported::toString);
    }
}
