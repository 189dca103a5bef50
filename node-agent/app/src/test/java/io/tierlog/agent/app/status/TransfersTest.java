/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks of 100 bytes; the port is a list of the units it was given. */
class TransfersTest {
    private static final Labels WRITE = Labels.of("tier", "store", "direction", "from_host");

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Transfers transfers = new Transfers(registry, 100);
    private final List<AgentInput> loop = new ArrayList<>();
    private final Consumer<AgentInput> ends = transfers.ends(loop::add);
    private final List<Long> written = new ArrayList<>();
    private final StoreTransfers store = transfers.measured(new StoreTransfers() {
        @Override
        public void probe(long unit, String namespace, List<Bytes> keys) {}

        @Override
        public void cancelProbe(long unit) {}

        @Override
        public void read(long unit, String namespace, List<PageObject> objects) {}

        @Override
        public void write(long unit, String namespace, List<PageObject> objects) {
            written.add(unit);
        }

        @Override
        public void delete(long unit, String namespace, List<StoredObject> objects) {}
    });

    private MetricSnapshot metric(String name) {
        return registry.scrape().stream().filter(one -> one.getMetadata().getName().equals(name)).findFirst().orElseThrow();
    }

    private double counted(String name, Labels labels) {
        return ((CounterSnapshot) metric(name)).getDataPoints().stream().filter(one -> one.getLabels().equals(labels))
                .mapToDouble(CounterSnapshot.CounterDataPointSnapshot::getValue).sum();
    }

    private double queued() {
        return ((GaugeSnapshot) metric("tierlog_agent_transfer_queue_blocks")).getDataPoints().stream()
                .filter(one -> one.getLabels().equals(WRITE)).mapToDouble(GaugeSnapshot.GaugeDataPointSnapshot::getValue).sum();
    }

    private void write(long unit, UnitResult... results) {
        store.write(unit, "n", List.of(results).stream().map(_ -> new StoreTransfers.PageObject(Bytes.EMPTY, 0, 0)).toList());
        assertEquals(results.length, queued());
        ends.accept(new StoreUnitEnded(unit, List.of(results)));
    }

    private static UnitResult result(BlockStatus status, OperationReason reason) {
        return new UnitResult(status, reason, 0);
    }

    @Test
    void bytesBlocksAndTimeAreCountedOnce() {
        write(1, result(BlockStatus.ARRIVED, OperationReason.COMPLETED), result(BlockStatus.ARRIVED, OperationReason.COMPLETED),
                result(BlockStatus.FAILED, OperationReason.CHECKSUM));
        ends.accept(new StoreUnitEnded(1, List.of(result(BlockStatus.ARRIVED, OperationReason.COMPLETED)))); // once more, of a unit in doubt

        assertEquals(List.of(1L), written);
        assertEquals(2, loop.size(), "all ends come to the loop");
        assertEquals(200, counted("tierlog_agent_transfer_bytes", WRITE));
        assertEquals(2, counted("tierlog_agent_transfer_blocks", WRITE.add("outcome", "arrived")));
        assertEquals(1, counted("tierlog_agent_transfer_blocks", WRITE.add("outcome", "failed")));
        assertEquals(1, counted("tierlog_agent_transfer_failures", WRITE.add("reason", "CHECKSUM")));
        assertEquals(0, queued());
        HistogramSnapshot times = (HistogramSnapshot) metric("tierlog_agent_transfer_duration_seconds");
        var time = times.getDataPoints().stream().filter(one -> one.getLabels().equals(WRITE)).findFirst().orElseThrow();
        assertEquals(1, time.getCount());
        assertTrue(time.hasNativeHistogramData() && time.hasClassicHistogramData());
    }

    @Test
    void aStoreThatFailsThreeTimesInARowIsReportedUntilABlockArrives() {
        UnitResult io = result(BlockStatus.FAILED, OperationReason.IO);
        write(1, io);
        write(2, io);
        assertEquals(HealthParts.State.WELL, transfers.store());
        write(3, io);
        assertEquals(HealthParts.State.degraded("the last 3 transfers from or to the store failed: an input/output error, or it is away"),
                transfers.store());
        assertEquals(HealthParts.State.WELL, transfers.disk());
        assertEquals(3, counted("tierlog_agent_transfer_failures", WRITE.add("reason", "IO")));
        write(4, result(BlockStatus.ARRIVED, OperationReason.COMPLETED));
        assertEquals(HealthParts.State.WELL, transfers.store());
    }

    /** After a repair nothing may be left to arrive: what is there already, and what is not there, are answers too. */
    @ParameterizedTest
    @CsvSource({"ALREADY_THERE, COMPLETED", "FAILED, NOT_FOUND"})
    void aStoreThatIsAwayIsReportedUntilItAnswers(BlockStatus status, OperationReason reason) {
        for (int i = 0; i < 3; i++) {
            assertEquals(HealthParts.State.WELL, transfers.store());
            write(i, result(BlockStatus.FAILED, OperationReason.STORE_UNAVAILABLE));
        }
        write(3, result(BlockStatus.FAILED, OperationReason.CANCELLED));
        assertTrue(transfers.store().detail().contains("the last 3 transfers"), transfers.store().detail());
        write(4, result(status, reason));
        assertEquals(HealthParts.State.WELL, transfers.store());
    }
}
