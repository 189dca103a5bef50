/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.BytesTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.state.OperationRow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A controller whose tables are looked over while it decides; then one row of its store is spoiled. */
class SamplerTest {
    private static final int ROWS = 1_000;

    private final Topics topics = Topics.DEFAULT;
    private final Codec codec = new Codec(Schemas.bundled());
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final Health health = new Health();
    private long timeMs = 1_000_000;

    @Test
    void aSpoiledRowIsCountedAndShownAndDecidingGoesOn(@TempDir Path state) {
        try (TopologyTestDriver driver = driver(state, 1)) {
            TestInputTopic<byte[], byte[]> input = driver.createInputTopic(topics.events(), new ByteArraySerializer(), new ByteArraySerializer());
            for (Event event : Scenario.play().events) {
                pipe(input, event);
            }
            ticks(input, 4);
            assertEquals(0, violations(), "nothing is wrong yet");
            assertTrue(sampled() > 60, "rows looked at: " + sampled());
            assertFalse(health.detail().contains("last:"), health.detail());

            spoil(((RowStore) driver.getStateStore(ControllerTopology.STORE)).wrapped());
            driver.createOutputTopic(topics.decisions(), new ByteArrayDeserializer(), new ByteArrayDeserializer()).readRecordsToList();
            ticks(input, 5);

            assertTrue(violations() > 0, "it was found");
            assertTrue(health.detail().contains("last: I12"), health.detail());
            assertFalse(driver.createOutputTopic(topics.decisions(), new ByteArrayDeserializer(), new ByteArrayDeserializer()).isEmpty(),
                    "it decides on");
        }
    }

    /** Six rows at a time, every second tick. */
    @Test
    void aSampleIsBounded(@TempDir Path state) {
        try (TopologyTestDriver driver = driver(state, 2, 6)) {
            TestInputTopic<byte[], byte[]> input = driver.createInputTopic(topics.events(), new ByteArraySerializer(), new ByteArraySerializer());
            for (Event event : Scenario.play().events) {
                pipe(input, event);
            }
            double before = sampled();
            ticks(input, 8);
            assertTrue(sampled() > before && sampled() - before <= 4 * 6, "rows looked at: " + before + " and " + sampled());
        }
    }

    @Test
    void withoutSamplesNothingIsLookedAt(@TempDir Path state) {
        try (TopologyTestDriver driver = driver(state, 0)) {
            TestInputTopic<byte[], byte[]> input = driver.createInputTopic(topics.events(), new ByteArraySerializer(), new ByteArraySerializer());
            for (Event event : Scenario.play().events) {
                pipe(input, event);
            }
            assertEquals(0, sampled());
        }
    }

    private void pipe(TestInputTopic<byte[], byte[]> input, Event event) {
        input.pipeInput(Partitions.key(event.envelope().aggregate()), codec.encode(topics.events(), event));
    }

    private void ticks(TestInputTopic<byte[], byte[]> input, int count) {
        for (int i = 0; i < count; i++) {
            // Few of them: a node that is silent for ten is lost.
            pipe(input, Script.tick(0, 1_000 + timeMs, timeMs++));
        }
    }

    /** An operation that has ended has blocks. The placements of a task are in its memory, and not read again. */
    private static void spoil(KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]> store) {
        BytesTables tables = new BytesTables(new StoreBytes(store));
        for (String node : Set.of("node/a", "node/b", "node/c", "node/d")) {
            RowKey.Text found = null;
            OperationRow row = null;
            try (Scan<RowKey.Text, OperationRow> scan = tables.range(Rows.OPERATIONS, new RowKey.Text(node, ""), null)) {
                if (scan.next()) {
                    found = scan.key();
                    row = scan.value();
                }
            }
            if (found != null && row != null) {
                Bytes block = Bytes.wrapUnshared(new byte[16]);
                tables.put(Rows.OPERATIONS, found, new OperationRow(row.incarnation(), row.kind(), OperationState.DONE, row.from(), row.to(),
                        row.request(), row.attempt(), row.lease(), row.namespace(), row.root(), row.blockCount(),
                        List.of(new Block(0, block, Bytes.EMPTY)), row.deadlineMs(), row.cancels(), row.endedMs(), row.settled(), row.move()));
            }
        }
    }

    private double sampled() {
        return sum("tierlog_invariant_rows_checked");
    }

    private double violations() {
        return sum("tierlog_invariant_violations");
    }

    private double sum(String name) {
        double sum = 0;
        for (MetricSnapshot snapshot : metrics.registry().scrape(name::equals)) {
            for (var point : ((CounterSnapshot) snapshot).getDataPoints()) {
                sum += point.getValue();
            }
        }
        return sum;
    }

    private TopologyTestDriver driver(Path state, int everyTicks) {
        return driver(state, everyTicks, ROWS);
    }

    private TopologyTestDriver driver(Path state, int everyTicks, int rows) {
        PlainProducer producer = new PlainProducer("test", new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()));
        EventProcessor.Parts parts = new EventProcessor.Parts(
                new Core(Limits.of(1)),
                new EventDecoder(codec.reader(Event.class), new EventDecoder.Rules(topics.events(), 1, 1 << 20, Set.of()), health, metrics),
                new PartitionClock.Shared(codec, topics, producer, metrics, 1_000, new ClockEnds()),
                new ResultSender.Shared(codec, topics, 1, Optional.of(producer), metrics),
                new Sampler.Shared(everyTicks, rows, metrics, health),
                metrics,
                (partition, decided) -> -1,
                Duration.ofDays(1));
        ControllerConfig config = ControllerConfig.of(KafkaAccess.of("none:1"), state).with().build();
        DamagedState damaged = new DamagedState(config.stateDir(), what -> {});
        return new TopologyTestDriver(ControllerTopology.build(topics, parts, false, damaged), StreamsSettings.of(config, "test"));
    }
}
