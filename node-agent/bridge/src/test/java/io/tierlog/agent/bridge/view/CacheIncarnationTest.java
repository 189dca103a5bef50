/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.decode.EngineEvent;
import io.tierlog.schemas.Bytes;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How a publisher is followed that names its process by a number: repeats, gaps, processes that have ended, what its media hold. */
class CacheIncarnationTest {
    private static final EngineEvent.Scope SCOPE = new EngineEvent.Scope("m", "", "");
    private static final String UNKNOWN = "unknown ";

    private final FakeRing r = new FakeRing(new Publisher.Rules(false, 5_000, 2_000, 3, 600_000, 1_000, 1 << 20, 8), 10);

    private static EngineEvent.Place place(String medium) {
        return new EngineEvent.Place("lmcache-" + medium, medium.equals("l2-s3") ? "REMOTE" : "", 0, SCOPE);
    }

    private static Bytes key(long hash) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(Long.BYTES).putLong(hash).array());
    }

    private static EngineEvent stored(String medium, long hash) {
        return new EngineEvent.Stored(place(medium), List.of(key(hash)), null, -1, true, 0, "", "",
                new EngineEvent.Dialect("m", medium.equals("l2-s3"), true));
    }

    private static EngineEvent.Removed removed(String medium, long hash) {
        return new EngineEvent.Removed(place(medium), List.of(key(hash)));
    }

    private static Frame frame(long seq, EngineEvent... events) {
        return new Frame(seq, "", 0, 0, new Decoded.Batch(List.of(events), OptionalInt.empty(), "", true, 0, 0));
    }

    private boolean batch(long incarnation, long seq, EngineEvent... events) {
        return r.publisher.numbered(r.nowMs, new Publisher.Incarnation(incarnation, 0), frame(seq, events));
    }

    private static String host(long hash) {
        return "%016x HOST".formatted(hash);
    }

    private static String disk(long hash) {
        return "%016x DISK".formatted(hash);
    }

    private static String store(long hash) {
        return "%016x STORE".formatted(hash);
    }

    @Test
    void batchesCountFromOneAndNothingIsLost() {
        assertTrue(batch(5, 1, stored("l1-dram", 1)));
        assertTrue(batch(5, 2, stored("l2-fs", 1), stored("l2-s3", 2)));
        assertEquals(Set.of(host(1), disk(1), store(2)), r.present);
        assertTrue(batch(5, 3, removed("l1-dram", 1)));
        assertEquals(Set.of(disk(1), store(2)), r.present);
        assertEquals(List.of(), r.views);
        assertEquals(0, r.counts.of(BridgeCounter.RESTARTS));
    }

    @Test
    void aRepeatChangesNothingWhateverItSays() {
        batch(5, 1, stored("l1-dram", 1));
        batch(5, 2, removed("l1-dram", 1));
        assertFalse(batch(5, 1, stored("l1-dram", 1)));
        assertFalse(batch(5, 2, stored("l1-dram", 7)));
        assertEquals(Set.of(), r.present);
        assertEquals(2, r.counts.of(BridgeCounter.REPEATS));
        assertEquals(0, r.counts.of(BridgeCounter.RESTARTS));
    }

    @Test
    void anotherProcessHasNothingInItsMemoryAndAllBelow() {
        batch(5, 1, stored("l1-dram", 1), stored("l1-devdax", 2), stored("l2-fs", 1), stored("l2-s3", 3));
        assertTrue(batch(6, 1, stored("l1-dram", 9)));
        assertEquals(Set.of(disk(1), store(3), host(9)), r.present);
        assertEquals(List.of(), r.views, "nothing of it is lost");
        assertEquals(1, r.counts.of(BridgeCounter.RESTARTS));
    }

    @Test
    void batchesOfAProcessThatHasEndedAreStale() {
        batch(6, 1, stored("l1-dram", 1));
        assertFalse(batch(5, 1, stored("l1-dram", 2)));
        assertFalse(batch(5, 99, removed("l1-dram", 1)));
        assertEquals(Set.of(host(1)), r.present);
        assertEquals(2, r.counts.of(BridgeCounter.STALE));
        assertEquals(0, r.counts.of(BridgeCounter.GAPS));
        assertTrue(batch(6, 2, stored("l1-dram", 3)));
    }

    @Test
    void whatAGapHasHiddenIsUnknownUntilItIsTooOldAlsoForANewProcess() {
        batch(5, 1, stored("l1-dram", 1), stored("l2-fs", 2));
        assertTrue(batch(5, 4, stored("l1-dram", 3)));
        assertEquals(Set.of(host(3)), r.present);
        assertEquals(List.of(UNKNOWN + "2..3"), r.views);
        assertEquals(2, r.counts.of(BridgeCounter.LOST_BATCHES));
        // What it has on its disk since before the gap is not known to the new process's view either.
        batch(6, 1, stored("l1-dram", 4));
        assertTrue(r.publisher.isUnknown());
        r.pass(600_000);
        assertFalse(r.publisher.isUnknown());
        assertEquals(List.of(UNKNOWN + "2..3", "whole"), r.views);
    }

    @Test
    void aNewProcessWhoseFirstBatchesAreLostIsUnknown() {
        batch(5, 1, stored("l1-dram", 1));
        batch(6, 3, stored("l1-dram", 2));
        assertEquals(Set.of(host(2)), r.present);
        assertEquals(List.of(UNKNOWN + "1..2"), r.views);
    }

    @Test
    void eventsThatGotIntoNoBatchAreLostToo() {
        batch(5, 1, stored("l1-dram", 1));
        r.publisher.numbered(r.nowMs, new Publisher.Incarnation(5, 40), frame(2, stored("l1-dram", 2)));
        assertEquals(Set.of(host(2)), r.present);
        assertEquals(List.of(UNKNOWN + "-1..-1"), r.views);
        r.publisher.numbered(r.nowMs, new Publisher.Incarnation(5, 40), frame(3, stored("l1-dram", 3)));
        assertEquals(Set.of(host(2), host(3)), r.present, "they are lost once");
        // Each process counts its lost events from 0.
        r.publisher.numbered(r.nowMs, new Publisher.Incarnation(6, 0), frame(1, stored("l1-dram", 4)));
        assertEquals(1, r.views.size());
    }

    @Test
    void aBatchThatCannotBeReadIsLost() {
        batch(5, 1, stored("l1-dram", 1));
        r.publisher.numbered(r.nowMs, new Publisher.Incarnation(5, 0), new Frame(2, "", 0, 0, new Decoded.Malformed("bad")));
        assertEquals(Set.of(), r.present);
        assertEquals(List.of(UNKNOWN + "2..2"), r.views);
        assertTrue(batch(5, 3, stored("l1-dram", 3)));
        r.publisher.unreadable(r.nowMs, "no JSON");
        assertEquals(Set.of(), r.present);
        assertTrue(batch(5, 4, stored("l1-dram", 4)), "its number was not taken");
        assertEquals(Set.of(host(4)), r.present);
    }

    @Test
    void aBlockOnTwoMediaOfATierLeavesWithTheSecond() {
        batch(5, 1, stored("l1-dram", 1), stored("l1-dram", 1), stored("l1-devdax", 1));
        batch(5, 2, removed("l1-dram", 1));
        assertEquals(Set.of(host(1)), r.present);
        batch(5, 3, removed("l1-gds", 1), removed("l1-dram", 1));
        assertEquals(Set.of(host(1)), r.present, "those media have it no longer, or never had");
        batch(5, 4, removed("l1-devdax", 1));
        assertEquals(Set.of(), r.present);
    }

    @Test
    void blocksOfOneHashDifferByModelRankAndSalt() {
        EngineEvent.Scope other = new EngineEvent.Scope("m", "33685761", "alice");
        EngineEvent.Place there = new EngineEvent.Place("lmcache-l1-dram", "", 3, other);
        batch(5, 1, stored("l1-dram", 1), new EngineEvent.Stored(there, List.of(key(1)), null, -1, true, 0, "", "alice",
                new EngineEvent.Dialect("m", false, true)));
        assertEquals(Set.of(host(1), host(1) + " m;g=3;salt=alice;kv_rank=33685761"), r.present);
        batch(5, 2, removed("l1-dram", 1));
        assertEquals(Set.of(host(1) + " m;g=3;salt=alice;kv_rank=33685761"), r.present);
    }

    @Test
    void whatAnotherInstanceReportsRemovedFromAPoolIsGone() {
        batch(5, 1, stored("l2-s3", 1), stored("l2-s3", 2), stored("l2-fs", 1));
        r.publisher.removedElsewhere(r.nowMs, removed("l2-s3", 1));
        assertEquals(Set.of(disk(1), store(2)), r.present);
    }

    @Test
    void aBlockInAPoolEndsByTimeUnlessItIsUsed() {
        batch(5, 1, stored("l2-s3", 1), stored("l2-s3", 2), stored("l2-fs", 3));
        r.pass(400_000);
        batch(5, 2, new EngineEvent.Accessed(place("l1-"), List.of(key(2))), new EngineEvent.Accessed(place("l2-"), List.of(key(1))));
        r.pass(300_000);
        assertEquals(Set.of(store(1), disk(3)), r.present);
        assertEquals(2, r.counts.of(BridgeCounter.ACCESSED));
        r.pass(400_000);
        assertEquals(Set.of(disk(3)), r.present);
    }

    @Test
    void anInstanceWhosePastIsNotKnownIsUnknownForAWhile() {
        r.publisher.unknownPast(r.nowMs);
        batch(5, 1, stored("l1-dram", 1));
        assertTrue(r.publisher.isUnknown());
        assertEquals(Set.of(host(1)), r.present);
        r.pass(600_000);
        assertFalse(r.publisher.isUnknown());
    }

    @Test
    void aNamespaceOfWhichOnlyRemovalsAreSeenIsUnknownToo() {
        r.publisher.unknownPast(r.nowMs);
        EngineEvent.Place place = new EngineEvent.Place("lmcache-l1-dram", "", 0, new EngineEvent.Scope("m", "", "bob"));
        batch(5, 1, new EngineEvent.Removed(place, List.of(key(1))));
        assertTrue(r.viewed.get("").unknown().contains("m;salt=bob"), () -> r.viewed.toString());
    }
}
