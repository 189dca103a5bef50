/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** Ticks of one partition, with a lost one and an aborted transaction. */
class PartitionClockTest {
    private final Codec codec = new Codec(Schemas.bundled());
    private final MockProducer<byte[], byte[]> log = new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());

    private final PlainProducer producer = new PlainProducer("test", log);

    /** A tick of unknown outcome may be in the log: its number is not used again, and the next clock counts from 1. */
    @Test
    void everyNumberOfEverySenderIsUsedOnce() throws InterruptedException {
        PartitionClock.Shared shared = new PartitionClock.Shared(codec, Topics.DEFAULT, producer, new ControllerMetrics(), 1_000, new ClockEnds());
        PartitionClock clock = new PartitionClock(shared, 0);

        tick(clock, 1_000);
        assertTrue(log.completeNext());
        tick(clock, 2_000);
        assertTrue(log.errorNext(new TimeoutException("no broker")));
        tick(clock, 3_000);
        assertTrue(log.completeNext());
        // The transaction was aborted: the task begins again with the rows of its last commit.
        clock = new PartitionClock(shared, 0);
        tick(clock, 4_000);
        assertTrue(log.completeNext());
        tick(clock, 5_000);
        assertTrue(log.completeNext());

        Map<String, RecordStamp> last = new HashMap<>();
        for (int i = 0; i < 5; i++) {
            Tick tick = sent(i);
            String sender = tick.envelope().sender();
            assertTrue(sender.startsWith("clock/0/"), sender);
            RecordStamp before = last.getOrDefault(sender, RecordStamp.NONE);
            assertTrue(before.precedes(tick.envelope()), () -> before + " before " + tick);
            last.put(sender, before.after(Codec.avro(tick)));
        }
        assertEquals(3, last.size());
    }

    /** Four of five ticks that would only move log time on are left out; one that is needed comes at once. */
    @Test
    void aQuietPartitionHasEveryFifthTick() throws InterruptedException {
        PartitionClock clock = new PartitionClock(
                new PartitionClock.Shared(codec, Topics.DEFAULT, producer, new ControllerMetrics(), 1_000, new ClockEnds()), 0);
        for (int i = 1; i <= 10; i++) {
            clock.tick(i * 1_000L, true);
            assertTrue(producer.awaitHandedOver(Duration.ofSeconds(30)));
            while (log.completeNext()) {
                // each is stored
            }
        }
        assertEquals(2, log.history().size());
        assertEquals(5_000, sent(0).timeMs());
        tick(clock, 11_000);
        assertEquals(11_000, sent(2).timeMs());
    }

    /** With ticks that are far apart, fewer are left out: a partition without inputs for long counts as stuck. */
    @Test
    void noQuietTimeIsLong() throws InterruptedException {
        PartitionClock clock = new PartitionClock(
                new PartitionClock.Shared(codec, Topics.DEFAULT, producer, new ControllerMetrics(), 20_000, new ClockEnds()), 0);
        clock.tick(20_000, true);
        assertTrue(producer.awaitHandedOver(Duration.ofSeconds(30)));
        assertEquals(1, log.history().size());
    }

    private void tick(PartitionClock clock, long nowMs) throws InterruptedException {
        clock.tick(nowMs, false);
        assertTrue(producer.awaitHandedOver(Duration.ofSeconds(30)));
    }

    private Tick sent(int index) {
        return switch (codec.reader(Event.class).read(log.history().get(index).value())) {
            case Reading.Decoded<Event>(Tick tick) -> tick;
            case Reading<Event> other -> throw new AssertionError("no tick: " + other);
        };
    }
}
