/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.internals.WrappedStateStore;

/**
 * The task's store, with rows kept back on top of it: {@link #beforeCommit} runs whenever Streams writes out the caches of the task, which it does
 * before it sends the last records of a transaction. Only for the task's stream thread.
 *
 * <p>It is deliberately not a key-value store itself: no interactive query can read around the rows that are kept back. Trade-off: it extends an
 * internal class of Streams, the only one that Streams asks to write out a cache.
 */
public final class RowStore extends WrappedStateStore<KeyValueStore<Bytes, byte[]>, Bytes, byte[]> {
    private Runnable writeOut = RowStore::nothing;

    RowStore(KeyValueStore<Bytes, byte[]> rows) {
        super(rows);
    }

    /** Registers what writes the rows that are kept back; it replaces an earlier one. */
    public void beforeCommit(Runnable action) {
        writeOut = action;
    }

    /** A task that begins again, after an abort too, finds nothing kept back. */
    @Override
    public void init(StateStoreContext context, StateStore root) {
        writeOut = RowStore::nothing;
        super.init(context, root);
    }

    @Override
    public void flushCache() {
        writeOut.run();
        super.flushCache();
    }

    /** The task becomes a standby: others write the rows from here on. */
    @Override
    public void clearCache() {
        writeOut = RowStore::nothing;
        super.clearCache();
    }

    @Override
    public void close() {
        writeOut = RowStore::nothing;
        super.close();
    }

    /** Builds one over the store of another builder. */
    public record Builder(StoreBuilder<KeyValueStore<Bytes, byte[]>> rows) implements StoreBuilder<RowStore> {
        @Override
        public StoreBuilder<RowStore> withCachingEnabled() {
            return new Builder(rows.withCachingEnabled());
        }

        @Override
        public StoreBuilder<RowStore> withCachingDisabled() {
            return new Builder(rows.withCachingDisabled());
        }

        @Override
        public StoreBuilder<RowStore> withLoggingEnabled(Map<String, String> config) {
            return new Builder(rows.withLoggingEnabled(config));
        }

        @Override
        public StoreBuilder<RowStore> withLoggingDisabled() {
            return new Builder(rows.withLoggingDisabled());
        }

        @Override
        public RowStore build() {
            return new RowStore(rows.build());
        }

        @Override
        public Map<String, String> logConfig() {
            return rows.logConfig();
        }

        @Override
        public boolean loggingEnabled() {
            return rows.loggingEnabled();
        }

        @Override
        public String name() {
            return rows.name();
        }
    }

    private static void nothing() {}
}
