/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.internals.WrappedStateStore;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/**
 * A store on RocksDB whose damaged files are set aside and restored, where Streams alone would end and find them again at each start.
 *
 * <p>Only for the task's stream thread. Trade-off: it extends an internal class of Streams, which delegates what a store must say of its offsets.
 */
public final class RestorableStore extends WrappedStateStore<KeyValueStore<Bytes, byte[]>, Bytes, byte[]> implements KeyValueStore<Bytes, byte[]> {
    private static final int LOOKS = 3;

    private final DamagedState damaged;
    private @Nullable StateStoreContext context;

    private RestorableStore(KeyValueStore<Bytes, byte[]> rows, DamagedState damaged) {
        super(rows);
        this.damaged = damaged;
    }

    /** Stores on RocksDB with that name. */
    public static KeyValueBytesStoreSupplier supplier(String name, DamagedState damaged) {
        KeyValueBytesStoreSupplier files = Stores.persistentKeyValueStore(name);
        return new KeyValueBytesStoreSupplier() {
            @Override
            public String name() {
                return files.name();
            }

            @Override
            public KeyValueStore<Bytes, byte[]> get() {
                return new RestorableStore(files.get(), damaged);
            }

            @Override
            public String metricsScope() {
                return files.metricsScope();
            }
        };
    }

    @Override
    public void init(StateStoreContext in, StateStore root) {
        context = in;
        damaged.beforeOpening(in.taskId(), files(in));
        try {
            super.init(in, root);
        } catch (ProcessorStateException e) {
            damaged.whileOpening(in.taskId(), files(in), e);
            super.init(in, root);
        }
    }

    private Path files(StateStoreContext in) {
        return in.stateDir().toPath().resolve("rocksdb").resolve(name());
    }

    private <T> T use(Supplier<T> use) {
        try {
            return use.get();
        } catch (ProcessorStateException e) {
            throw failed(e);
        }
    }

    private RuntimeException failed(ProcessorStateException e) {
        StateStoreContext in = Objects.requireNonNull(context, "init() comes first");
        return damaged.whileRunning(in.taskId(), files(in), e);
    }

    @Override
    public @Nullable Long committedOffset(TopicPartition partition) {
        return use(() -> super.committedOffset(partition));
    }

    @Override
    public void commit(Map<TopicPartition, Long> offsets) {
        try {
            super.commit(offsets);
        } catch (ProcessorStateException e) {
            throw failed(e);
        }
    }

    @Override
    public byte @Nullable [] get(Bytes key) {
        try {
            return wrapped().get(key);
        } catch (ProcessorStateException e) {
            throw failed(e);
        }
    }

    @Override
    public void put(Bytes key, byte @Nullable [] value) {
        try {
            wrapped().put(key, value);
        } catch (ProcessorStateException e) {
            throw failed(e);
        }
    }

    @Override
    public byte @Nullable [] putIfAbsent(Bytes key, byte[] value) {
        return use(() -> wrapped().putIfAbsent(key, value));
    }

    @Override
    public void putAll(List<KeyValue<Bytes, byte[]>> rows) {
        try {
            wrapped().putAll(rows);
        } catch (ProcessorStateException e) {
            throw failed(e);
        }
    }

    @Override
    public byte @Nullable [] delete(Bytes key) {
        return use(() -> wrapped().delete(key));
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
        return new Rows(() -> wrapped().range(from, to));
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> reverseRange(Bytes from, Bytes to) {
        return new Rows(() -> wrapped().reverseRange(from, to));
    }

    @Override
    public <S extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(P prefix, S serializer) {
        return new Rows(() -> wrapped().prefixScan(prefix, serializer));
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> all() {
        return new Rows(() -> wrapped().all());
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> reverseAll() {
        return new Rows(() -> wrapped().reverseAll());
    }

    @Override
    public long approximateNumEntries() {
        return wrapped().approximateNumEntries();
    }

    /**
     * Rows in order. Streams takes a damaged block for the end of the rows: RocksDB's count of such blocks tells the two apart. It counts those of
     * all stores of the process, so rows that end while it grows are read again, up to three times on the caller's thread. When each of these looks
     * coincides with damage elsewhere, or rows came into the range meanwhile, healthy files are restored too: that costs time, and nothing else.
     */
    private final class Rows implements KeyValueIterator<Bytes, byte[]> {
        private final Supplier<KeyValueIterator<Bytes, byte[]>> open;
        private final KeyValueIterator<Bytes, byte[]> rows;
        private long damagedBefore;
        private long delivered;

        Rows(Supplier<KeyValueIterator<Bytes, byte[]>> open) {
            this.open = open;
            damagedBefore = RocksDbSettings.damagedBlocks();
            rows = use(open);
        }

        @Override
        public boolean hasNext() {
            boolean more = use(rows::hasNext);
            if (!more && RocksDbSettings.damagedBlocks() != damagedBefore && areCutShort()) {
                throw failed(new ProcessorStateException("rows of " + name() + " end at a damaged block",
                        new RocksDBException("block checksum mismatch", new Status(Status.Code.Corruption, Status.SubCode.None, ""))));
            }
            return more;
        }

        /** Whether each of a few looks meets a damaged block, or one that meets none finds more rows. */
        private boolean areCutShort() {
            for (int look = 0; look < LOOKS; look++) {
                long before = RocksDbSettings.damagedBlocks();
                long count = 0;
                try (KeyValueIterator<Bytes, byte[]> again = use(open)) {
                    for (; use(again::hasNext); count++) {
                        use(again::next);
                    }
                }
                if (RocksDbSettings.damagedBlocks() == before) {
                    damagedBefore = before;
                    return count > delivered;
                }
            }
            return true;
        }

        @Override
        public KeyValue<Bytes, byte[]> next() {
            KeyValue<Bytes, byte[]> row = use(rows::next);
            delivered++;
            return row;
        }

        @Override
        public Bytes peekNextKey() {
            return rows.peekNextKey();
        }

        @Override
        public void close() {
            rows.close();
        }
    }
}
