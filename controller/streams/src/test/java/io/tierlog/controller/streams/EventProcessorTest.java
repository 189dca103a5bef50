/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.KeyWriter;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.event.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedPunctuator;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A task that Streams closes dirty and revives: it initialises the same processor again, and keeps the old schedules. */
class EventProcessorTest {
    private final Topics topics = Topics.DEFAULT;
    private final Codec codec = new Codec(Schemas.bundled());
    private final MockProducer<byte[], byte[]> log = new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer());
    private final PlainProducer producer = new PlainProducer("test", log);
    private final ClockEnds ends = new ClockEnds();
    private final KeyValueStore<Bytes, byte[]> rows = Stores.inMemoryKeyValueStore(ControllerTopology.STORE).get();
    private final EventProcessor processor = new EventProcessor(parts());

    @AfterEach
    void close() {
        producer.close();
    }

    @Test
    void aRevivedTaskDoesNotRunItsOldSchedules(@TempDir Path state) {
        oldSchedulesEnd(state, true);
    }

    @Test
    void aSecondInitialisationAloneEndsTheOldSchedules(@TempDir Path state) {
        oldSchedulesEnd(state, false);
    }

    private void oldSchedulesEnd(Path state, boolean closed) {
        MockProcessorContext<RecordTarget, byte[]> context = new MockProcessorContext<>(new Properties(), new TaskId(0, 0), state.toFile());
        RowStore store = new RowStore(rows);
        store.init(context.getStateStoreContext(), store);
        context.addStateStore(store);
        processor.init(context);
        Event event = new FakeAgent("a", "p1").registering();
        context.setCurrentSystemTimeMs(0);
        context.setRecordMetadata(topics.events(), 0, 0);
        processor.process(new Record<>(Partitions.key(event.envelope().aggregate()), codec.encode(topics.events(), event), 0));
        List<CapturedPunctuator> before = context.scheduledPunctuators();
        assertEquals(2, before.size(), "the clock and the rows");
        assertFalse(before.stream().anyMatch(CapturedPunctuator::cancelled));
        if (closed) {
            processor.close();
        }
        processor.init(context);
        assertTrue(before.stream().allMatch(CapturedPunctuator::cancelled));
        long had = rows.approximateNumEntries();
        for (int i = 0; i < 20; i++) {
            before.getLast().getPunctuator().punctuate(i);
        }
        store.flushCache();
        assertEquals(had, rows.approximateNumEntries(), "rows of the aborted transaction");
        List<CapturedPunctuator> after = context.scheduledPunctuators();
        assertEquals(1, after.stream().filter(schedule -> !schedule.cancelled()).count(), "one clock");
    }

    private static MockProcessorContext<RecordTarget, byte[]> context(Path state, KeyValueStore<Bytes, byte[]> rows) {
        MockProcessorContext<RecordTarget, byte[]> context = new MockProcessorContext<>(new Properties(), new TaskId(0, 0), state.toFile());
        RowStore store = new RowStore(rows);
        store.init(context.getStateStoreContext(), store);
        context.addStateStore(store);
        context.setCurrentSystemTimeMs(0);
        return context;
    }

    private void process(MockProcessorContext<RecordTarget, byte[]> context, long offset, Event event) {
        context.setRecordMetadata(topics.events(), 0, offset);
        processor.process(new Record<>(Partitions.key(event.envelope().aggregate()), codec.encode(topics.events(), event), 0));
    }

    private long ticks() throws InterruptedException {
        assertTrue(producer.awaitHandedOver(TestLog.PATIENCE));
        return log.history().stream().filter(record -> record.topic().equals(topics.events())).count();
    }

    /** Before an instance is closed: a node that lives needs each tick, and a partition without one has none and reports that. */
    @Test
    void aClockThatEndsTicksOnlyWhereANodeLives(@TempDir Path state) throws InterruptedException {
        MockProcessorContext<RecordTarget, byte[]> context = context(state, rows);
        processor.init(context);
        CapturedPunctuator clock = context.scheduledPunctuators().getFirst();
        FakeAgent agent = new FakeAgent("a", "p1");
        process(context, 0, Script.tick(0, 1, 1_000));
        process(context, 1, agent.registering());
        agent.accepted(1);
        long startNs = System.nanoTime() - 1;
        ends.begin();
        clock.getPunctuator().punctuate(2_000);
        assertEquals(1, ticks());
        assertEquals(0, ends.restedSince(startNs));
        process(context, 2, agent.stopping());
        for (int i = 3; i < 20; i++) {
            clock.getPunctuator().punctuate(i * 1_000L);
        }
        assertEquals(1, ticks());
        assertEquals(1, ends.restedSince(startNs));
        assertEquals(0, ends.restedSince(System.nanoTime()));
    }

    /** The row of a node is damaged after the task began: the failure is about the state, not about the record that needs the row. */
    @Test
    void aRowThatCannotBeReadIsNoFaultOfTheRecord(@TempDir Path state) {
        MockProcessorContext<RecordTarget, byte[]> context = context(state, rows);
        processor.init(context);
        FakeAgent agent = new FakeAgent("a", "p1");
        Bytes node = Bytes.wrap(Rows.NODES.encodeKey(new KeyWriter(), new RowKey.Aggregate("node/a")));
        rows.put(node, new byte[] {1, 2, 3});

        Event event = agent.registering();
        context.setRecordMetadata(topics.events(), 0, 0);
        Record<byte[], byte[]> record = new Record<>(Partitions.key(event.envelope().aggregate()), codec.encode(topics.events(), event), 0);
        Table.Unreadable damaged = assertThrows(Table.Unreadable.class, () -> processor.process(record));
        assertTrue(String.valueOf(damaged.getMessage()).startsWith("a row of nodes of 3 bytes cannot be read"), damaged.getMessage());
    }

    private EventProcessor.Parts parts() {
        ControllerMetrics metrics = new ControllerMetrics();
        return new EventProcessor.Parts(
                new Core(Limits.of(1)),
                new EventDecoder(codec.reader(Event.class), new EventDecoder.Rules(topics.events(), 1, 1 << 20, Set.of()), new Health(), metrics),
                new PartitionClock.Shared(codec, topics, producer, metrics, 1_000, ends),
                new ResultSender.Shared(codec, topics, 1, Optional.of(producer), metrics),
                new Sampler.Shared(1, 20, metrics, new Health()),
                metrics,
                (partition, decided) -> -1,
                Duration.ofDays(1));
    }
}
