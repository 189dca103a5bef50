/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.table.OrderedBytes;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.RareWarning;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Topics;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Tick;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends ticks to one partition while this instance owns it. Used on the stream thread; only the acknowledgement comes from another.
 *
 * <p>Ticks go outside of the transaction, as every event must. They are numbered on from the last tick that was seen in the log, which is
 * remembered in the task's store. At most one is under way: when the broker is slow, time in the log goes in larger steps. Trade-off: an
 * instance that starts far behind numbers its first ticks again, and the core refuses those as repeats.
 */
final class PartitionClock {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionClock.class);
    private static final byte[] ROW = {SequenceStamper.TAG, 't'};

    private final Shared shared;
    private final int partition;
    private final OrderedBytes rows;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private final AtomicBoolean lost = new AtomicBoolean();
    private final RareWarning warning = new RareWarning(LOG);
    private RecordStamp last;
    /** Before the tick that was sent last. */
    private RecordStamp before = RecordStamp.NONE;
    private RecordStamp sent = RecordStamp.NONE;

    /** What the clocks of all partitions share. */
    record Shared(Codec codec, Topics topics, PlainProducer producer, ControllerMetrics metrics) {}

    PartitionClock(Shared shared, int partition, OrderedBytes rows) {
        this.shared = shared;
        this.partition = partition;
        this.rows = rows;
        byte[] row = rows.get(ROW);
        last = row == null ? RecordStamp.NONE : RecordStamp.fromBytes(row);
    }

    /** Appends a tick, unless one is under way. */
    void tick(long nowMs) {
        if (!underWay.compareAndSet(false, true)) {
            return;
        }
        if (lost.getAndSet(false) && last.equals(sent)) {
            // Its number is given again, so that no gap stays. If it is in the log after all, both follow the one before.
            last = before;
        }
        String clock = Partitions.clock(partition);
        Tick tick = new Tick(last.onto(new Envelope(clock, clock, 0, 0, 0, nowMs, null, null, null)), nowMs);
        byte[] avro = Codec.avro(tick);
        before = last;
        last = last.after(avro);
        sent = last;
        String topic = shared.topics().events();
        byte[] value = shared.codec().frame(topic, tick.schema(), avro);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, nowMs, Partitions.key(clock), value);
        shared.producer().send(record, this::lost, () -> underWay.set(false));
    }

    /** A tick was read from the log: its bytes with the frame. */
    void seen(Tick tick, byte[] framed) {
        long sequence = tick.envelope().sequence();
        int crc = RecordStamp.crc32c(Arrays.copyOfRange(framed, WireFormat.HEADER_BYTES, framed.length));
        RecordStamp stamp = new RecordStamp(sequence, crc);
        rows.put(ROW, stamp.toBytes());
        if (sequence > last.sequence()) {
            last = stamp;
        }
    }

    private void lost(Throwable failure) {
        lost.set(true);
        underWay.set(false);
        shared.metrics().tickLost();
        warning.warn("a tick of partition {} could not be appended, the next one follows: {}", partition, failure.toString());
    }
}
