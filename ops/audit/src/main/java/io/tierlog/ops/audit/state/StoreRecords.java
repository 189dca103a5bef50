/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Which objects of the store no log knows, by the topic of placements: its last record of a key has a placement while the block is on record in that
 * shard. Without state. Trade-off: reads the whole topic; memory is that of the names asked about.
 */
public final class StoreRecords {
    private static final byte[] SHARD = "store/".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TIER = ("/" + Tier.STORE).getBytes(StandardCharsets.US_ASCII);

    private StoreRecords() {}

    /**
     * Those of {@code names} that no shard of the store has on record.
     *
     * @param names digest of the namespace ({@link Namespaces}) and key of the block, one behind the other
     * @return in the order of {@code names}
     * @throws AuditException when the topic is not there or cannot be read
     */
    public static Set<Bytes> unknown(LogSource source, Topics topics, Collection<Bytes> names) {
        Map<Bytes, Set<Bytes>> shards = new LinkedHashMap<>();
        names.forEach(name -> shards.put(name, Set.of()));
        String topic = topics.placements();
        for (int partition = 0; partition < source.partitions(topic); partition++) {
            try (RecordCursor records = new RecordCursor(source, topic, partition)) {
                for (LogEntry.Data record = records.next(); record != null; record = records.next()) {
                    byte[] key = record.key();
                    if (key != null) {
                        take(shards, key, record.value() != null);
                    }
                }
            }
        }
        shards.values().removeIf(holding -> !holding.isEmpty());
        return new LinkedHashSet<>(shards.keySet());
    }

    /** The key is digest, block and location; the location of an object is its shard and the tier. */
    private static void take(Map<Bytes, Set<Bytes>> shards, byte[] key, boolean placed) {
        int shard = key.length - TIER.length;
        if (shard < 0 || !Arrays.equals(key, shard, key.length, TIER, 0, TIER.length)) {
            return;
        }
        while (shard >= Namespaces.DIGEST_BYTES && !Arrays.equals(key, shard, Math.min(key.length, shard + SHARD.length), SHARD, 0, SHARD.length)) {
            shard--;
        }
        Bytes name = shard < Namespaces.DIGEST_BYTES ? Bytes.EMPTY : Bytes.wrapUnshared(Arrays.copyOf(key, shard));
        Set<Bytes> holding = shards.get(name);
        if (holding == null) {
            return;
        }
        Set<Bytes> now = new LinkedHashSet<>(holding);
        Bytes of = Bytes.wrapUnshared(Arrays.copyOfRange(key, shard, key.length));
        if (placed ? now.add(of) : now.remove(of)) {
            shards.put(name, now);
        }
    }
}
