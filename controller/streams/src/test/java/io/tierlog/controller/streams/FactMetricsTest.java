/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The counters of promotions and of reads across nodes, by decisions. */
class FactMetricsTest {
    private static final Envelope ENVELOPE = new Envelope("node/a", "controller/0", 1, 1, 0, 0, null, null, null);
    private static final String OPERATION = "node/a@7.0";
    private static final String NAMESPACE = "t1/model";

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final FactMetrics metrics = new FactMetrics(registry);

    private static List<Block> blocks(int count) {
        return IntStream.range(0, count).mapToObj(i -> new Block(i, Bytes.ofHex("%032x".formatted(i + 1)), Bytes.EMPTY)).toList();
    }

    private double counted(String name, String... labels) {
        return registry.scrape().stream()
                .filter(family -> family.getMetadata().getName().equals(name))
                .map(CounterSnapshot.class::cast)
                .flatMap(family -> family.getDataPoints().stream())
                .filter(point -> point.getLabels().equals(Labels.of(labels)))
                .mapToDouble(CounterDataPointSnapshot::getValue)
                .findFirst()
                .orElseThrow(() -> new AssertionError("not there: " + name + " " + List.of(labels)));
    }

    private void issue(OperationKind kind, int blocks) {
        metrics.observe(new OperationIssued(
                ENVELOPE, OPERATION, kind, Tier.DISK, Tier.HOST, null, 0, NAMESPACE, Bytes.EMPTY, blocks(blocks), 1, 1, null, null, Tier.UNKNOWN));
    }

    private void end(OperationKind kind, int done, int failed) {
        OperationState state = done == 0 ? OperationState.FAILED : OperationState.DONE;
        metrics.observe(new OperationEnded(ENVELOPE, OPERATION, kind, state, OperationReason.PARTIAL, done, failed, 4_096));
    }

    private List<Double> promotionBlocks() {
        return List.of(
                counted("tierlog_promotion_blocks", "state", "ISSUED"),
                counted("tierlog_promotion_blocks", "state", "DONE"),
                counted("tierlog_promotion_blocks", "state", "FAILED"));
    }

    /** cases/exist-promote.md, After: 10 promotions that succeed: started 10, done 10, in flight 0. What other operations bring is not counted. */
    @Test
    void whatIsInFlightIsWhatIsIssuedLessWhatHasEnded() {
        assertEquals(List.of(0.0, 0.0, 0.0), promotionBlocks());
        issue(OperationKind.PREFETCH, 7);
        issue(OperationKind.PROMOTE, 10);
        assertEquals(List.of(10.0, 0.0, 0.0), promotionBlocks());
        end(OperationKind.PREFETCH, 6, 1);
        end(OperationKind.PROMOTE, 10, 0);
        assertEquals(List.of(10.0, 10.0, 0.0), promotionBlocks());
        issue(OperationKind.PROMOTE, 4);
        end(OperationKind.PROMOTE, 1, 3);
        assertEquals(List.of(14.0, 11.0, 3.0), promotionBlocks());
    }

    @Test
    void outcomesAndRepliesAreCountedInBlocksWithTheirReasons() {
        assertEquals(0, counted("tierlog_promotions", "outcome", "FAILED", "reason", "NO_ROOM"));
        settle(PromotionOutcome.PROMOTED_HIT, OperationReason.COMPLETED, 5);
        settle(PromotionOutcome.PROMOTED_EVICTED_BEFORE_USE, OperationReason.COMPLETED, 3);
        settle(PromotionOutcome.FAILED, OperationReason.CHECKSUM, 2);
        settle(PromotionOutcome.FAILED, OperationReason.NOT_FOUND, 1);
        assertEquals(5, counted("tierlog_promotions", "outcome", "PROMOTED_HIT", "reason", "COMPLETED"));
        assertEquals(3, counted("tierlog_promotions", "outcome", "PROMOTED_EVICTED_BEFORE_USE", "reason", "COMPLETED"));
        assertEquals(2, counted("tierlog_promotions", "outcome", "FAILED", "reason", "CHECKSUM"));
        assertEquals(1, counted("tierlog_promotions", "outcome", "FAILED", "reason", "NOT_FOUND"));
        assertEquals(0, counted("tierlog_promotions", "outcome", "MISSED_RACE", "reason", "COMPLETED"));

        metrics.observe(new PromotionAnswered(ENVELOPE, "e1", NAMESPACE, List.of(
                new PromotionAnswer(PromotionReply.RESIDENT, blocks(6), 0),
                new PromotionAnswer(PromotionReply.DISABLED, blocks(2), 0)), 1));
        assertEquals(6, counted("tierlog_promotion_replies", "reply", "RESIDENT"));
        assertEquals(2, counted("tierlog_promotion_replies", "reply", "DISABLED"));
        metrics.observe(new PromotionsPaused(ENVELOPE, "", 5_000, 9));
        assertEquals(9, counted("tierlog_promotions_dropped"));
    }

    private void settle(PromotionOutcome outcome, OperationReason reason, int blocks) {
        metrics.observe(new PromotionSettled(ENVELOPE, NAMESPACE, outcome, reason, blocks(blocks)));
    }

    @Test
    void readsAcrossNodesAreCountedWithTheirReasonsAndBytes() {
        metrics.observe(new PeerReadRefused(ENVELOPE, "node/b@7.0", "b", PeerReadReason.BUSY, "", 1));
        metrics.observe(new PeerReadClosed(ENVELOPE, "node/b@8.0", PeerReadReason.CANCELLED, 3, 12_288));
        assertEquals(1, counted("tierlog_peer_reads_refused", "reason", "BUSY"));
        assertEquals(1, counted("tierlog_peer_reads_closed", "reason", "CANCELLED"));
        assertEquals(12_288, counted("tierlog_peer_sent_bytes"));
        assertEquals(0, counted("tierlog_peer_reads_granted"));
    }
}
