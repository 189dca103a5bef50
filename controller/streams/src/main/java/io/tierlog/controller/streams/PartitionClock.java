/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Tick;
import io.tierlog.threads.RareWarning;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends ticks to one partition while this instance owns it. Used on the stream thread; only the acknowledgement comes from another.
 *
 * <p>Ticks go outside of the transaction, as every event must. At most one is under way: when the broker is slow, time in the log goes in
 * larger steps. A clock is a sender of its own, with a random id, that counts from 1, and a tick of unknown outcome ends it: the next one
 * begins a new sender. So no number is used twice, also when transactions abort or another instance takes over while this one still runs.
 * Trade-off: a name in the log per start and per lost tick.
 */
final class PartitionClock {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionClock.class);

    /** A quiet partition has every fifth tick, so that its log time is not far behind. */
    private static final int MOST_LEFT_OUT = 5;

    /** Well below the time after which a partition without inputs counts as stuck. */
    private static final int MOST_QUIET_MS = 10_000;

    private final Shared shared;
    private final int partition;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private final AtomicBoolean lost = new AtomicBoolean();
    private final RareWarning warning = new RareWarning(LOG);
    private final TickTime time = new TickTime();
    private int leftOut;
    private String sender;
    private RecordStamp last = RecordStamp.NONE;

    /**
     * What the clocks of all partitions share.
     *
     * @param intervalMs distance between two ticks, in milliseconds
     */
    record Shared(Codec codec, Topics topics, PlainProducer producer, ControllerMetrics metrics, int intervalMs, ClockEnds ends) {}

    PartitionClock(Shared shared, int partition) {
        this.shared = shared;
        this.partition = partition;
        this.sender = newSender(partition);
    }

    /** Whether it ticks only where that is needed. */
    boolean isEnding() {
        return shared.ends().hasBegun();
    }

    /** No tick is needed now. */
    void rest() {
        if (!underWay.get()) {
            shared.ends().rests(partition);
        }
    }

    private static String newSender(int partition) {
        return Partitions.clock(partition) + "/" + UUID.randomUUID();
    }

    /**
     * The time that a tick of now should have.
     *
     * @param wallMs the wall clock, milliseconds since 1970
     * @param logMs log time of the partition
     */
    long timeMs(long wallMs, long logMs) {
        return time.next(wallMs, System.nanoTime(), logMs);
    }

    /**
     * Appends a tick, unless one is under way, or it may be left out.
     *
     * @param nowMs its time
     * @param isQuiet whether a tick of now would do nothing but move log time on
     */
    void tick(long nowMs, boolean isQuiet) {
        if (isQuiet && ++leftOut * shared.intervalMs() < Math.min(MOST_LEFT_OUT * shared.intervalMs(), MOST_QUIET_MS)) {
            return;
        }
        leftOut = 0;
        if (!underWay.compareAndSet(false, true)) {
            return;
        }
        if (lost.getAndSet(false)) {
            sender = newSender(partition);
            last = RecordStamp.NONE;
        }
        String clock = Partitions.clock(partition);
        Tick tick = new Tick(last.onto(new Envelope(clock, sender, 0, 0, 0, nowMs, null, null, null)), nowMs, shared.intervalMs());
        byte[] avro = Codec.avro(tick);
        last = last.after(avro);
        String topic = shared.topics().events();
        byte[] value = shared.codec().frame(topic, tick.schema(), avro);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, Partitions.key(clock), value);
        shared.producer().send(record, this::lost, () -> underWay.set(false));
    }

    private void lost(Throwable failure) {
        lost.set(true);
        underWay.set(false);
        shared.metrics().tickLost();
        warning.warn("a tick of partition {} could not be appended, the next one follows: {}", partition, Causes.of(failure));
    }
}
