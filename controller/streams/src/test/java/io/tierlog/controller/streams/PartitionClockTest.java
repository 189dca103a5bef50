/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.OrderedBytes;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.Topics;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Ticks of one partition, one of which does not get into the log. */
class PartitionClockTest {
    private final Codec codec = new Codec(Schemas.bundled());
    private final MockProducer<byte[], byte[]> log = new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());

    private final PlainProducer producer = new PlainProducer("test", log);

    /** The number of the tick that was lost is given again: no gap is left for an audit to find. */
    @Test
    void aLostTickLeavesNoGap() throws InterruptedException {
        PartitionClock.Shared shared =
                new PartitionClock.Shared(codec, Topics.DEFAULT, producer, new ControllerMetrics());
        PartitionClock clock = new PartitionClock(shared, 0, new NoRows());
        List<Tick> appended = new ArrayList<>();

        tick(clock, 1_000);
        assertTrue(log.completeNext());
        appended.add(sent(0));
        tick(clock, 2_000);
        assertTrue(log.errorNext(new TimeoutException("no broker")));
        tick(clock, 3_000);
        assertTrue(log.completeNext());
        appended.add(sent(2));
        tick(clock, 4_000);
        assertTrue(log.completeNext());
        appended.add(sent(3));

        RecordStamp last = RecordStamp.NONE;
        for (Tick tick : appended) {
            assertTrue(last.precedes(tick.envelope()), () -> appended.toString());
            last = last.after(Codec.avro(tick));
        }
        assertEquals(3, last.sequence());
    }

    private void tick(PartitionClock clock, long nowMs) throws InterruptedException {
        clock.tick(nowMs);
        assertTrue(producer.awaitHandedOver(Duration.ofSeconds(30)));
    }

    private Tick sent(int index) {
        return switch (codec.reader(Event.class).read(log.history().get(index).value())) {
            case Reading.Decoded<Event>(Tick tick) -> tick;
            case Reading<Event> other -> throw new AssertionError("no tick: " + other);
        };
    }

    /** A store in which nothing is yet, and which a clock only asks for its last tick. */
    private static final class NoRows implements OrderedBytes {
        @Override
        public byte @Nullable [] get(byte[] key) {
            return null;
        }

        @Override
        public void put(byte[] key, byte[] value) {
            throw new AssertionError("a clock writes only when it sees a tick");
        }

        @Override
        public void delete(byte[] key) {
            throw new AssertionError("a clock deletes nothing");
        }

        @Override
        public Cursor range(byte[] fromInclusive, byte[] toExclusive) {
            throw new AssertionError("a clock reads no range");
        }
    }
}
