/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static io.tierlog.agent.bridge.Batches.cleared;
import static io.tierlog.agent.bridge.Batches.removed;
import static io.tierlog.agent.bridge.Batches.stored;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.Batches;
import io.tierlog.agent.bridge.Fixtures;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** How batches are followed: gaps, repeats, new processes, what a replay can give and what it cannot. */
class PublisherTest {
    private static final Publisher.Rules WITHOUT_REPLAY = new Publisher.Rules(false, 5_000, 2_000, 3, 600_000, 1_000, 1 << 20, 8);

    private double time;

    private byte[] batch(Batches.Event... events) {
        return Batches.batch(Batches.Form.MAPS, time++, 0, events);
    }

    private static String device(long hash) {
        return "%016x DEVICE".formatted(hash);
    }

    private static Set<String> devices(long... hashes) {
        Set<String> all = new TreeSet<>();
        for (long hash : hashes) {
            all.add(device(hash));
        }
        return all;
    }

    @Test
    void batchesInOrderNeedNoReplay() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1, 2)), true);
        r.publish(1, batch(stored("GPU", 2L, 3), removed("GPU", 1)), true);
        assertFalse(r.isAsked());
        assertEquals(devices(2, 3), r.present);
        assertEquals(List.of(), r.views);
    }

    @Test
    void whatIsMissingInsideTheRingIsReplayedBeforeWhatCameSince() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.publish(1, batch(stored("GPU", 1L, 2)), false);
        r.publish(2, batch(removed("GPU", 2)), true);
        assertEquals(devices(1), r.present, "the removal waits for the store that it follows");
        r.publish(3, batch(stored("GPU", 1L, 3)), true);
        r.answer();
        assertEquals(devices(1, 3), r.present);
        assertEquals(List.of(), r.views);
    }

    @Test
    void whatIsBeyondTheRingMakesTheViewUnknownForATime() {
        FakeRing r = new FakeRing(FakeRing.RULES, 2);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        for (int seq = 1; seq < 5; seq++) {
            r.publish(seq, batch(stored("GPU", null, 10 + seq)), false);
        }
        r.publish(5, batch(stored("GPU", null, 2)), true);
        r.answer();
        assertEquals(devices(14, 2), r.present, "batches 4 and 5 are in the ring");
        assertEquals(List.of("unknown 1..3"), r.views);
        r.pass(599_000);
        r.answer();
        assertTrue(r.publisher.isUnknown());
        r.pass(1_000);
        assertEquals(List.of("unknown 1..3", "whole"), r.views);
    }

    @Test
    void withoutReplaysAGapIsForEver() {
        FakeRing r = new FakeRing(WITHOUT_REPLAY, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.publish(2, batch(stored("GPU", null, 3)), true);
        assertEquals(devices(3), r.present);
        assertEquals(List.of("unknown 1..1"), r.views);
        assertEquals(1, r.counts.of(BridgeCounter.LOST_BATCHES));
    }

    @Test
    void aPublisherThatDoesNotAnswerIsAskedThreeTimes() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.publish(2, batch(stored("GPU", null, 3)), true);
        for (int i = 0; i < 2; i++) {
            r.pass(2_000);
            assertEquals(devices(1), r.present);
        }
        r.pass(2_000);
        assertEquals(devices(3), r.present);
        assertEquals(3, r.counts.of(BridgeCounter.REPLAYS));
        assertEquals(List.of("unknown 1..1"), r.views);
    }

    @Test
    void lostLastBatchesAreFoundAfterSilence() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.publish(1, batch(removed("GPU", 1)), false);
        r.pass(4_999);
        assertFalse(r.isAsked());
        r.pass(1);
        r.answer();
        assertEquals(Set.of(), r.present);
        assertEquals(List.of(), r.views);
    }

    @Test
    void aRunningEngineIsWholeOnlyFromItsFirstBatchOn() {
        FakeRing whole = new FakeRing(FakeRing.RULES, 10);
        FakeRing late = new FakeRing(FakeRing.RULES, 2);
        for (FakeRing r : List.of(whole, late)) {
            for (int seq = 0; seq < 5; seq++) {
                r.publish(seq, batch(stored("GPU", null, seq + 1)), false);
            }
            r.publisher.connected(r.nowMs, false);
            r.answer();
        }
        assertEquals(devices(1, 2, 3, 4, 5), whole.present);
        assertEquals(List.of(), whole.views);
        assertEquals(devices(4, 5), late.present);
        assertEquals(List.of("unknown 0..2"), late.views);
    }

    @Test
    void aNewProcessBeginsWithNothing() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.publish(1, batch(stored("GPU", null, 2)), true);
        r.restart();
        r.publish(0, batch(stored("GPU", null, 7)), true);
        assertEquals(devices(7), r.present);
        r.publish(1, batch(stored("GPU", null, 8)), true);
        r.restart();
        // The same number as the last one, with another content.
        r.publish(0, batch(stored("GPU", null, 9)), false);
        r.publish(1, batch(stored("GPU", null, 10)), true);
        r.answer();
        assertEquals(devices(9, 10), r.present);
        assertEquals(2, r.counts.of(BridgeCounter.RESTARTS));
        assertEquals(List.of(), r.views);
    }

    @Test
    void aNewProcessThatHasOvertakenTheOldOneIsFoundByItsAnswer() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.restart();
        r.publish(0, batch(stored("GPU", null, 5)), false);
        r.publish(1, batch(stored("GPU", null, 6)), false);
        r.publish(2, batch(stored("GPU", null, 7)), true);
        r.answer();
        assertEquals(devices(5, 6, 7), r.present);
        assertEquals(1, r.counts.of(BridgeCounter.RESTARTS));
        assertEquals(List.of(), r.views);
    }

    @Test
    void whatWaitedForAnOldProcessIsNotTakenForTheNewOnes() {
        FakeRing r = new FakeRing(FakeRing.RULES, 200);
        for (int seq = 0; seq < 100; seq++) {
            r.publish(seq, batch(stored("GPU", null, 1_000 + seq)), true);
        }
        r.publish(101, batch(stored("GPU", null, 1)), true);
        r.restart();
        // Far from what is remembered of the old process.
        r.publish(0, batch(stored("GPU", null, 2)), false);
        r.publish(1, batch(stored("GPU", null, 3)), false);
        r.answer();
        assertEquals(devices(2, 3), r.present);
        assertEquals(1, r.counts.of(BridgeCounter.RESTARTS));
        assertEquals(0, r.counts.of(BridgeCounter.LOST_BATCHES));
    }

    @Test
    void aPublisherOfStorageCountsFromOne() {
        for (String fixture : List.of("J_llmd_storage_bin_events", "G_mooncake_stored", "B_vllm_array_stored")) {
            FakeRing r = new FakeRing(WITHOUT_REPLAY, 10);
            r.publish(1, Fixtures.payload(fixture), true);
            assertEquals(fixture.startsWith("B") ? List.of("unknown 0..0") : List.of(), r.views, fixture);
        }
    }

    @Test
    void aRepeatChangesNothing() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        byte[] first = batch(stored("GPU", null, 1));
        r.publish(0, first, true);
        r.publish(0, first, true);
        r.publish(1, batch(removed("GPU", 1)), true);
        assertEquals(Set.of(), r.present);
        assertEquals(1, r.counts.of(BridgeCounter.REPEATS));
        assertEquals(0, r.counts.of(BridgeCounter.RESTARTS));
    }

    @Test
    void twoCopiesNeedTwoRemovalsUnlessTheSourceIsASet() {
        for (boolean counting : List.of(true, false)) {
            FakeRing r = new FakeRing(FakeRing.RULES, 10, counting);
            r.publish(0, batch(stored("GPU", null, 1), stored("GPU", null, 1), removed("GPU", 1)), true);
            assertEquals(counting ? devices(1) : Set.of(), r.present);
        }
    }

    @Test
    void aClearedDeviceSaysNothingOfTheTiersBelow() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1), cleared()), true);
        assertEquals(Set.of(), r.present);
        assertEquals(List.of(), r.views, "the device was all it had");
        r.publish(1, batch(stored("GPU", null, 2), stored("CPU", null, 2), cleared()), true);
        assertEquals(Set.of(), r.present);
        assertEquals(List.of("unknown -1..-1"), r.views);
    }

    @Test
    void aClearedDeviceMakesNoLostViewWholeSinceALostBatchMayHaveStoredBelowIt() {
        FakeRing r = new FakeRing(WITHOUT_REPLAY, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.publish(2, batch(stored("GPU", null, 2)), true);
        r.publish(3, batch(cleared()), true);
        assertEquals(List.of("unknown 1..1"), r.views);
        assertEquals(Set.of(), r.present);
    }

    @Test
    void aBatchThatCannotBeReadIsAGapOfOne() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        r.publish(1, new byte[] {1, 2, 3}, true);
        r.publish(2, batch(stored("GPU", null, 2)), true);
        assertEquals(devices(2), r.present);
        assertEquals(List.of("unknown 1..1"), r.views);
    }

    @Test
    void groupsAndAdaptersAreNamespacesOfTheirOwn() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.publish(0, batch(stored("GPU", null, 1), stored("GPU", 1, null, null, 1), stored("GPU", 0, "a1", null, 2)), true);
        assertEquals(Set.of(device(1), device(1) + " m;g=1", device(2) + " m;lora=a1"), r.present);
        r.publish(1, batch(removed("GPU", 1, 2)), true);
        assertEquals(Set.of(device(1) + " m;g=1"), r.present, "a removal is of one group");
    }

    @Test
    void tooManyWaitingBatchesEndTheReplay() {
        Publisher.Rules rules = new Publisher.Rules(true, 5_000, 2_000, 3, 600_000, 3, 1 << 20, 8);
        FakeRing r = new FakeRing(rules, 10);
        r.publish(0, batch(stored("GPU", null, 1)), true);
        for (int seq = 2; seq < 6; seq++) {
            r.publish(seq, batch(stored("GPU", null, seq + 1)), true);
        }
        assertEquals(devices(3, 4, 5, 6), r.present);
        assertEquals(List.of("unknown 1..1"), r.views);
        assertFalse(r.isAsked());
    }
}
