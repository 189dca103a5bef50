/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.stats.LogSummary.Part;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Two requests of one conversation, 70 s apart, in intervals of a minute; blocks of 1,000 bytes. */
class LogDetailTest {
    private static final String NODE = "node/a";
    private static final Bytes ROOT = Bytes.ofHex("00000000000000a0");
    private static final Bytes NEXT = Bytes.ofHex("00000000000000a1");
    private static final Bytes LAST = Bytes.ofHex("00000000000000a2");

    private static Envelope envelope() {
        return new Envelope(NODE, "controller/0", 0, 1, 0, 5, null, null, null, null);
    }

    private static RequestSubmitted submitted(String request, Bytes... keys) {
        return new RequestSubmitted(envelope(), request, 1, "chat", List.of(keys), 16 * keys.length + 1, 16, 0, List.of(), List.of(), 0, 0, true,
                true, false, List.of(), null, null);
    }

    @Test
    void numbersStandInTheirIntervals() {
        LogDetail detail = new LogDetail(60_000);
        LogStatistics statistics = new LogStatistics(Optional.of(detail), LogStatistics.FROM_THE_BEGINNING);
        Policy policy = Policies.INITIAL;
        statistics.fact(new AgentAccepted(envelope(), "a", "p", 1, List.of(new TierCapacity(Tier.HOST, 9, 1_000)), Bytes.EMPTY, Bytes.EMPTY, 0,
                policy, null, false), 60_000);
        statistics.event(submitted("r-1", ROOT, NEXT), 61_000);
        statistics.event(new RequestPrefilled(envelope(), "r-1", 1, 0, 0, 3), 62_000);
        statistics.fact(new OperationIssued(envelope(), "o", OperationKind.WRITE_BACK, Tier.DEVICE, Tier.HOST, "r-1", 1, "chat", ROOT,
                List.of(new Block(0, ROOT, Bytes.EMPTY)), 1, 9, null, null, Tier.UNKNOWN), 119_999);
        statistics.fact(new OperationEnded(envelope(), "o", OperationKind.WRITE_BACK, OperationState.DONE, OperationReason.COMPLETED, 1, 0, 700),
                120_000);
        statistics.event(submitted("r-2", ROOT, NEXT, LAST), 131_000);
        statistics.event(new RequestPrefilled(envelope(), "r-2", 1, 2, 0, 2), 132_000);
        statistics.fact(new BlocksRemoved(envelope(), Tier.HOST, "chat", RemovalReason.QUOTA, List.of(new Block(0, ROOT, Bytes.EMPTY)), 1), 140_000);

        LogDetail.Summary found = detail.summary();

        Part part = new Part(NODE, "chat");
        assertEquals(List.of(
                new LogDetail.Interval(60_000, part, new HitCounts(1, 0, 0, 0, 0, 0, 3), Map.of(), Map.of()),
                new LogDetail.Interval(120_000, part, new HitCounts(1, 2, 0, 0, 0, 0, 2), Map.of(Tier.HOST, 700L),
                        Map.of(new LogSummary.Eviction(Tier.HOST, RemovalReason.QUOTA), new LogSummary.Evicted(1, 1)))),
                found.intervals());
        assertEquals(3, found.firstUses());
        // ROOT again after NEXT, NEXT again after ROOT: one other block each.
        assertEquals(List.of(new PowerHistogram.Bucket(0, 0, 0), new PowerHistogram.Bucket(1, 1, 2)), found.reuseDistance());
        assertEquals(new PowerHistogram.Bucket(65_536, 131_071, 2), found.idleMs().getLast());
        assertEquals(List.of(new LogDetail.Prefix("chat", ROOT.hex(), 1, 2, 2_000)), found.topPrefixes());
    }

    @Test
    void tooManyIntervalsSayWhatToDo() {
        LogDetail detail = new LogDetail(1);
        AuditException refused = assertThrows(AuditException.class, () -> {
            for (int i = 0; i <= LogDetail.MAX_CELLS; i++) {
                detail.hits(i, new Part(NODE, "chat"), Bytes.EMPTY, HitCounts.NONE);
            }
        });
        assertEquals("give a longer --every, or a stretch with --from and --to", refused.hint());
    }

    /** Against a list in the order of use, where the distance is the position from its end; with so few places that marks often move. */
    @Test
    void distancesAreThoseOfAStack() {
        Random random = new Random(7);
        ReuseDistances<Integer> distances = new ReuseDistances<>(1_000, 8);
        List<Integer> stack = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            Integer key = random.nextInt(1 + random.nextInt(60));
            int last = stack.indexOf(key);
            assertEquals(last < 0 ? ReuseDistances.FIRST : stack.size() - 1L - last, distances.access(key));
            stack.remove(key);
            stack.add(key);
        }
    }

    @Test
    void whatWasNotUsedForLongIsForgotten() {
        ReuseDistances<Integer> distances = new ReuseDistances<>(4, 8);
        for (int key = 0; key < 9; key++) {
            assertEquals(ReuseDistances.FIRST, distances.access(key)); // the ninth finds 8 keys, and forgets 0 to 3
        }
        assertEquals(ReuseDistances.FIRST, distances.access(0));
        assertEquals(2, distances.access(7));
    }
}
