/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which of the blocks 1 to 5 of one namespace no shard of the store has on record. */
class StoreRecordsTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final Bytes MODEL = Namespaces.digest("model");

    private final List<LogEntry> records = new ArrayList<>();

    private static Bytes key(int block) {
        return Bytes.ofHex("aabbccddeeff000" + block);
    }

    private static Bytes name(int block) {
        return Bytes.ofHex(MODEL.hex() + key(block).hex());
    }

    private StoreRecordsTest placed(Bytes namespace, int block, String location) {
        return record(namespace, block, location, new byte[] {1});
    }

    private StoreRecordsTest withdrawn(Bytes namespace, int block, String location) {
        return record(namespace, block, location, null);
    }

    private StoreRecordsTest record(Bytes namespace, int block, String location, byte @Nullable [] value) {
        byte[] key = new PlacementFeed.Publication(namespace, key(block), location, null).key().toArray();
        records.add(new LogEntry.Data(records.size(), 0, key, value));
        return this;
    }

    private Set<Bytes> unknown() {
        return StoreRecords.unknown(new MemoryLog().with(TOPICS.placements(), records), TOPICS,
                List.of(name(1), name(2), name(3), name(4), name(5)));
    }

    private static Set<Bytes> names(int... blocks) {
        Set<Bytes> names = new LinkedHashSet<>();
        for (int block : blocks) {
            names.add(name(block));
        }
        return names;
    }

    @Test
    void whatAShardHasOnRecordIsKnownAndWhatOnlyANodeHasIsNot() {
        placed(MODEL, 1, "store/0/STORE").placed(MODEL, 2, "node/a/HOST").placed(MODEL, 3, "store/7/STORE");
        placed(Namespaces.digest("other"), 4, "store/0/STORE");
        assertEquals(names(2, 4, 5), unknown());
    }

    /** A block that was copied without its prompt may be on record in two shards: one that no longer has it does not make it unknown. */
    @Test
    void aBlockIsUnknownWhenTheLastShardHasWithdrawnIt() {
        placed(MODEL, 1, "store/0/STORE").placed(MODEL, 1, "store/1/STORE").withdrawn(MODEL, 1, "store/0/STORE");
        placed(MODEL, 2, "store/0/STORE").withdrawn(MODEL, 2, "store/0/STORE");
        placed(MODEL, 3, "store/0/STORE").withdrawn(MODEL, 3, "store/0/STORE").placed(MODEL, 3, "store/0/STORE");
        withdrawn(MODEL, 4, "store/0/STORE").placed(MODEL, 5, "store/0/STORE").withdrawn(MODEL, 5, "node/a/HOST");
        assertEquals(names(2, 4), unknown());
    }

    @Test
    void withoutTheTopicNothingIsUnknown() {
        assertThrows(AuditException.class, () -> StoreRecords.unknown(new MemoryLog(), TOPICS, List.of(name(1))));
    }
}
