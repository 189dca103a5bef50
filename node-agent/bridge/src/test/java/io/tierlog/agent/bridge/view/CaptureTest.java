/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.agent.bridge.Fixtures;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Captures of real publishers: two ranks, a restart, lost batches inside and beyond the ring, and what a follower must know at the end. */
class CaptureTest {
    private static final int RING = 6;

    @ParameterizedTest
    @ValueSource(strings = {"live-vllm-C3", "live-sglang-E"})
    void theEndIsWhatThePublisherHas(String capture) {
        Map<Integer, FakeRing> ranks = new LinkedHashMap<>();
        Map<Integer, Integer> lives = new LinkedHashMap<>();
        for (JsonNode frame : Fixtures.frames(capture)) {
            int rank = frame.get("rank").intValue();
            FakeRing ring = ranks.computeIfAbsent(rank, _ -> new FakeRing(FakeRing.RULES, RING));
            Integer life = lives.put(rank, frame.get("life").intValue());
            if (life != null && life != frame.get("life").intValue()) {
                ring.restart();
            }
            ring.publish(frame.get("seq").longValue(), HexFormat.of().parseHex(frame.get("payload").textValue()), !frame.get("lost").booleanValue());
            ring.answer();
        }
        ranks.values().forEach(ring -> {
            ring.pass(5_000);
            ring.answer();
        });
        for (JsonNode truth : Fixtures.truth(capture).get("ranks")) {
            FakeRing ring = Objects.requireNonNull(ranks.get(truth.get("rank").intValue()));
            Set<String> must = blocks(truth.get("must"));
            Set<String> missing = new TreeSet<>(must);
            missing.removeAll(ring.present);
            assertEquals(Set.of(), missing, "missing of rank " + truth.get("rank"));
            Set<String> more = new TreeSet<>(ring.present);
            more.removeAll(must);
            more.removeAll(blocks(truth.get("may")));
            assertEquals(Set.of(), more, "more than there is at rank " + truth.get("rank"));
            Set<String> wrong = blocks(truth.get("mustnot"));
            wrong.retainAll(ring.present);
            assertEquals(Set.of(), wrong, "gone at rank " + truth.get("rank"));
            boolean lost = false;
            for (JsonNode gap : truth.get("gaps")) {
                lost |= !gap.get("recoverable").booleanValue();
            }
            assertEquals(lost, ring.publisher.isUnknown(), "the view of rank " + truth.get("rank"));
        }
        assertEquals(1, Objects.requireNonNull(ranks.get(1)).counts.of(BridgeCounter.RESTARTS), "rank 1 has begun again once");
    }

    private static Set<String> blocks(JsonNode named) {
        Set<String> blocks = new TreeSet<>();
        for (JsonNode block : named) {
            blocks.add(block.get(1).textValue() + " " + FakeRing.tier(block.get(2).textValue()));
        }
        return blocks;
    }
}
