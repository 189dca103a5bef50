/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static io.tierlog.agent.bridge.Batches.cleared;
import static io.tierlog.agent.bridge.Batches.removed;
import static io.tierlog.agent.bridge.Batches.stored;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.Batches;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which process a batch is of, what its answers leave out, and of which instances nothing is known. */
class ProcessTest {
    private static final Publisher.Rules WITHOUT_REPLAY = new Publisher.Rules(false, 5_000, 2_000, 3, 600_000, 1_000, 1 << 20, 8);
    private static final String TOPIC = "kv@pod-1@m";
    private static final String OTHER = "kv@pod-2@m";

    private double time;

    private byte[] batch(Batches.Event... events) {
        return Batches.batch(Batches.Form.MAPS, time++, 0, events);
    }

    private static Set<String> devices(long... hashes) {
        Set<String> all = new TreeSet<>();
        for (long hash : hashes) {
            all.add("%016x DEVICE".formatted(hash));
        }
        return all;
    }

    private static String placed(String topic, long hash) {
        return topic + " %016x DEVICE".formatted(hash);
    }

    /** Batches from {@code first} on that store one block each, its number more than {@code base}; whether they reach the subscriber. */
    private List<Frame> publish(FakeRing r, int first, int count, long base, boolean reaches) {
        List<Frame> frames = new ArrayList<>();
        for (int seq = first; seq < first + count; seq++) {
            frames.add(r.publish(seq, batch(stored("GPU", null, base + seq)), reaches));
        }
        return frames;
    }

    @Test
    void anAnswerWithoutATopicIsOfTheTopicThatComesLive() {
        record Case(String topic, boolean liveFirst, List<String> closed) {}
        for (Case each : List.of(new Case(TOPIC, true, List.of()), new Case(TOPIC, false, List.of("")), new Case("", false, List.of()))) {
            FakeRing r = new FakeRing(FakeRing.RULES, 10);
            r.topic = each.topic();
            r.topicInAnswers = false;
            publish(r, 0, 2, 1, false);
            if (!each.liveFirst()) {
                r.publisher.connected(r.nowMs, false);
                r.answer();
                assertEquals(Set.of(placed("", 1), placed("", 2)), r.placed, "nothing tells the topic yet");
            }
            r.publish(2, batch(removed("GPU", 1)), true);
            r.answer();
            assertEquals(Set.of(placed(each.topic(), 2)), r.placed, each.toString());
            assertEquals(each.closed(), r.closed, each.toString());
            assertEquals(0, r.counts.of(BridgeCounter.RESTARTS));
        }
    }

    @Test
    void aBatchThatAnAnswerHasOvertakenIsNoNewProcess() {
        int many = Checksums.MOST + 100;
        FakeRing r = new FakeRing(FakeRing.RULES, many);
        List<Frame> queue = new ArrayList<>();
        for (int seq = 0; seq < many; seq++) {
            queue.add(r.publish(seq, batch(stored("GPU", null, 1)), false));
        }
        r.publisher.connected(r.nowMs, false);
        r.answer();
        for (int seq : List.of(50, 51, 200, many - 1)) {
            r.deliver(queue.get(seq));
        }
        assertEquals(devices(1), r.present);
        assertEquals(0, r.counts.of(BridgeCounter.RESTARTS));
        assertEquals(4, r.counts.of(BridgeCounter.REPEATS));
    }

    @Test
    void aNewProcessWhoseNumbersAreForgottenIsAskedForAfterSilence() {
        int many = Checksums.MOST + 100;
        FakeRing r = new FakeRing(FakeRing.RULES, many);
        for (int seq = 0; seq < many; seq++) {
            r.publish(seq, batch(stored("GPU", null, 1)), false);
        }
        r.publisher.connected(r.nowMs, false);
        r.answer();
        r.restart();
        for (int seq = 0; seq < 6; seq++) {
            r.publish(seq, batch(stored("GPU", null, 10 + seq)), true);
            r.pass(1_000);
        }
        r.answer();
        assertEquals(devices(10, 11, 12, 13, 14, 15), r.present);
        assertEquals(1, r.counts.of(BridgeCounter.RESTARTS));
    }

    @Test
    void batchesOfTheOldProcessInTheQueueAreNotAppliedToTheNewOne() {
        FakeRing r = new FakeRing(FakeRing.RULES, 100);
        publish(r, 0, 3, 1, true);
        List<Frame> queue = publish(r, 3, 3, 1, false);
        r.restart();
        publish(r, 0, 1, 50, false);
        r.publisher.connected(r.nowMs, true);
        r.deliver(queue.get(0));
        r.answer();
        assertEquals(devices(50), r.present);
        r.deliver(queue.get(1));
        r.deliver(queue.get(2));
        r.answer();
        assertEquals(devices(50), r.present, "what waited in the queue is of the old process");
        publish(r, 1, 1, 50, true);
        assertEquals(devices(50, 51), r.present);
        publish(r, 2, 1, 50, false);
        publish(r, 3, 1, 50, true);
        r.answer();
        assertEquals(devices(50, 51, 52, 53), r.present);
        assertEquals(1, r.counts.of(BridgeCounter.RESTARTS));
        assertEquals(List.of(), r.views);
    }

    @Test
    void aNewProcessThatHasNothingYetIsSeenByItsEmptyAnswer() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        publish(r, 0, 2, 1, true);
        r.pass(5_000);
        r.answer();
        assertEquals(devices(1, 2), r.present);
        r.restart();
        r.pass(5_000);
        r.answer();
        assertEquals(Set.of(), r.present);
        assertEquals(1, r.counts.of(BridgeCounter.RESTARTS));
        assertEquals(List.of(), r.views);
    }

    @Test
    void anotherConnectionProvesNothingUntilAnAnswerDoes() {
        record Case(Publisher.Rules rules, boolean again, boolean answers, Set<String> present, List<String> views) {}
        List<Case> cases = List.of(
                new Case(WITHOUT_REPLAY, false, false, devices(1, 2), List.of()),
                new Case(WITHOUT_REPLAY, true, false, Set.of(), List.of("unknown -1..-1")),
                new Case(FakeRing.RULES, true, true, devices(1, 2), List.of()),
                new Case(FakeRing.RULES, true, false, Set.of(), List.of("unknown -1..-1")));
        for (Case each : cases) {
            FakeRing r = new FakeRing(each.rules(), 10);
            publish(r, 0, 2, 1, true);
            r.publisher.connected(r.nowMs, each.again());
            if (each.answers()) {
                r.answer();
            }
            while (r.isAsked()) {
                r.pass(2_000);
            }
            assertEquals(each.present(), r.present, each.toString());
            assertEquals(each.views(), r.views, each.toString());
        }
    }

    @Test
    void aNewProcessThatIsAheadByOneIsFoundByOlderBatches() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        publish(r, 0, 3, 1, true);
        r.restart();
        publish(r, 0, 3, 50, false);
        publish(r, 3, 1, 50, true);
        r.publisher.connected(r.nowMs, true);
        r.answer();
        assertEquals(devices(50, 51, 52, 53), r.present);
        assertEquals(1, r.counts.of(BridgeCounter.RESTARTS));
    }

    @Test
    void whatWasStoredBeforeTheFirstBatchIsUnknownInTheNamespaceOfTheSource() {
        FakeRing r = new FakeRing(WITHOUT_REPLAY, 10);
        r.publish(5, batch(removed("GPU", 1)), true);
        View view = r.viewed.get("");
        assertEquals(new View(List.of("m"), "batches 0 to 4 are lost", 0, 4), view);
    }

    @Test
    void anAnswerThatBreaksOffLeavesTheViewUnknownUntilOneIsComplete() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        publish(r, 0, 2, 1, false);
        r.publisher.connected(r.nowMs, false);
        r.answerWithoutEnd();
        for (int i = 0; i < 4; i++) {
            r.pass(2_000);
        }
        assertFalse(r.isAsked());
        assertEquals(devices(1, 2), r.present);
        assertTrue(r.publisher.isUnknown());
        r.pass(5_000);
        r.answer();
        assertEquals(devices(1, 2), r.present);
        assertEquals(List.of("unknown -1..-1", "whole"), r.views);
    }

    @Test
    void aHoleInAnAnswerIsAskedForAgain() {
        record Case(List<Long> dropped, boolean published, Set<String> present, List<String> views) {}
        List<Case> cases = List.of(
                new Case(List.of(3L), true, devices(1, 2, 3, 4, 5, 6), List.of()),
                new Case(List.of(3L, 3L), true, devices(1, 2, 3, 4, 5, 6), List.of()),
                new Case(List.of(), false, devices(5, 6), List.of("unknown 3..3")));
        for (Case each : cases) {
            FakeRing r = new FakeRing(FakeRing.RULES, 10);
            publish(r, 0, each.published() ? 6 : 3, 1, false);
            publish(r, each.published() ? 6 : 4, each.published() ? 0 : 2, 1, false);
            r.dropped.addAll(each.dropped());
            r.publisher.connected(r.nowMs, false);
            r.answer();
            assertEquals(each.present(), r.present, each.toString());
            assertEquals(each.views(), r.views, each.toString());
        }
    }

    @Test
    void anAnswerWithoutTheLastBatchIsNoNewProcess() {
        for (int times : List.of(2, 20)) {
            FakeRing r = new FakeRing(FakeRing.RULES, 10);
            publish(r, 0, 4, 1, true);
            r.dropped.addAll(Collections.nCopies(times, 3L));
            r.pass(5_000);
            r.answer();
            assertEquals(devices(1, 2, 3, 4), r.present);
            assertEquals(0, r.counts.of(BridgeCounter.RESTARTS));
            assertEquals(List.of(), r.views);
        }
    }

    @Test
    void aPublisherWithoutARingIsNoNewProcess() {
        FakeRing r = new FakeRing(FakeRing.RULES, 0);
        publish(r, 0, 2, 1, true);
        r.pass(5_000);
        r.answer();
        assertEquals(devices(1, 2), r.present);
        assertEquals(0, r.counts.of(BridgeCounter.RESTARTS));
    }

    @Test
    void whatTheNewProcessPublishesAfterItsAnswerIsAskedForAtOnce() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        publish(r, 0, 3, 1, true);
        r.restart();
        publish(r, 0, 1, 50, false);
        r.publisher.connected(r.nowMs, true);
        r.answerWithoutEnd();
        r.answerWithoutEnd();
        assertEquals(devices(50), r.present);
        publish(r, 1, 1, 50, false);
        publish(r, 2, 1, 50, true);
        r.publisher.replayEnded(r.nowMs);
        r.answer();
        assertEquals(devices(50, 51, 52), r.present);
        assertEquals(List.of(), r.views);
    }

    @Test
    void aClearedDeviceIsUnknownBelowItForItsOwnInstance() {
        FakeRing r = new FakeRing(FakeRing.RULES, 10);
        r.topic = TOPIC;
        r.publish(0, batch(stored("CPU", null, 1)), true);
        r.topic = OTHER;
        r.publish(1, batch(stored("GPU", null, 2)), true);
        r.topic = TOPIC;
        r.publish(2, batch(cleared()), true);
        assertEquals(Set.of(placed(OTHER, 2)), r.placed);
        assertEquals(Set.of(TOPIC), r.viewed.keySet());
    }

    @Test
    void aCacheServerClearsAllThatAnInstanceHad() {
        for (boolean lost : List.of(true, false)) {
            FakeRing r = new FakeRing(WITHOUT_REPLAY, 10);
            r.publish(0, batch(stored("lmcache-l1", null, 1), stored("lmcache-l2-fs", null, 1)), true);
            r.publish(lost ? 2 : 1, batch(cleared()), true);
            assertEquals(Set.of(), r.present);
            assertEquals(lost ? List.of("unknown 1..1", "whole") : List.of(), r.views);
        }
    }
}
