/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.tierlog.agent.bridge.Fixtures;
import io.tierlog.agent.bridge.decode.BatchDecoder;
import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.decode.EngineEvent;
import io.tierlog.agent.bridge.decode.EngineEvent.Dialect;
import io.tierlog.agent.bridge.decode.EngineEvent.Place;
import io.tierlog.agent.bridge.decode.EngineEvent.Removed;
import io.tierlog.agent.bridge.decode.EngineEvent.Stored;
import io.tierlog.schemas.Bytes;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What a book has after the events of a dialect, after time, and at its bounds. */
class BlockBookTest {
    private static final long HINT_MS = 1_000;
    private static final Dialect POOL = new Dialect("qwen", true, true);
    private static final Dialect STORAGE = new Dialect("", true, false);

    private final BridgeCounts counts = new BridgeCounts();
    private final Set<String> present = new TreeSet<>();

    private BlockBook book(String model) {
        return new BlockBook(new BlockBook.Rules(NamespaceRule.MODEL, true, 3, HINT_MS), new NamespaceRule.Source(model, "vllm"), false, counts);
    }

    private static Bytes key(long hash) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(Long.BYTES).putLong(hash).array());
    }

    private static Stored stored(String medium, Dialect dialect, String salt, long hash) {
        return new Stored(new Place(medium, "", 0), List.of(key(hash)), null, -1, true, 0, "", salt, dialect);
    }

    private static Removed removed(String medium, long hash) {
        return new Removed(new Place(medium, "", 0), List.of(key(hash)));
    }

    private void changed(BlockBook.Change change) {
        String block = change.block().block().key().unshared()[Long.BYTES - 1] + " " + change.tier() + " " + change.namespace();
        if (change.stored()) {
            present.add(block);
        } else {
            present.remove(block);
        }
    }

    private void apply(BlockBook book, EngineEvent... events) {
        for (EngineEvent event : events) {
            book.apply(0, 0, event, this::changed);
        }
    }

    @Test
    void blocksWhoseRemovalNoEventNamesEndByTimeAndNoOthers() {
        BlockBook book = book("m");
        apply(book, stored("cpu", POOL, "", 1), stored("disk", POOL, "", 1), stored("EXTERNAL", STORAGE, "", 2));
        apply(book, stored("STORAGE", Dialect.PLAIN, "", 3));
        book.expire(HINT_MS - 1, this::changed);
        assertEquals(Set.of("1 HOST m", "1 DISK m", "2 STORE m", "3 STORE m"), present);
        book.expire(HINT_MS, this::changed);
        assertEquals(Set.of("3 STORE m"), present);
        assertEquals(3, counts.of(BridgeCounter.EXPIRED_HINTS));
    }

    @Test
    void ofAPublisherWhoseLossesDoNotShowAllEndByTime() {
        BlockBook book = book("m");
        book.expiring();
        apply(book, stored("GPU", Dialect.PLAIN, "", 1));
        book.expire(HINT_MS, this::changed);
        assertEquals(Set.of(), present);
    }

    @Test
    void aPoolNamesAnObjectAgainWithoutACopy() {
        BlockBook book = book("");
        apply(book, stored("cpu", POOL, "", 1), stored("cpu", POOL, "", 1));
        assertEquals(Set.of("1 HOST qwen"), present, "the event names the model");
        apply(book, removed("cpu", 1));
        assertEquals(Set.of(), present);
    }

    @Test
    void aPoolsBlockWithoutAParentMayBeAtAnyPosition() {
        Decoded.Batch batch = assertInstanceOf(Decoded.Batch.class, BatchDecoder.decode(Fixtures.payload("G_mooncake_stored")));
        Stored stored = assertInstanceOf(Stored.class, batch.events().getFirst());
        book("m").apply(0, 0, stored, change -> assertEquals(-1, change.block().block().index()));
        assertEquals("default", NamespaceRule.MODEL.of(new NamespaceRule.Source("", "x").orOf(stored.dialect().model()), NamespaceRule.Block.PLAIN));
    }

    @Test
    void whatABoundLeavesOutIsUnknownUntilAllIsCleared() {
        BlockBook book = book("m");
        for (int i = 1; i <= 3; i++) {
            apply(book, stored("GPU", Dialect.PLAIN, "", i));
        }
        assertEquals(List.of(), book.incomplete());
        apply(book, stored("GPU", Dialect.PLAIN, "s", 4), removed("GPU", 1));
        assertEquals(List.of("m;salt=s"), book.incomplete());
        assertEquals(1, counts.of(BridgeCounter.OVER_LIMIT));
        apply(book, new EngineEvent.Cleared("CPU"));
        assertEquals(List.of("m;salt=s"), book.incomplete());
        apply(book, new EngineEvent.Cleared(""));
        assertEquals(List.of(), book.incomplete());
    }

    @Test
    void namespacesBeyondTheBoundAreUnknown() {
        BlockBook book = book("m");
        // The source's own is one of the 64.
        for (int i = 1; i < 65; i++) {
            apply(book, stored("GPU", Dialect.PLAIN, "s" + i, i), removed("GPU", i));
        }
        assertEquals(List.of("m;salt=s64"), book.incomplete());
    }
}
