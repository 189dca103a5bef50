/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.time.InstantSource;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Stamps, encodes and sends the events of one agent process in order. Every part of the benchmark sends through one, so that sending costs the same
 * in all. Safe for use by several threads.
 */
final class Sender {
    private final Outbox outbox;
    private final String topic;
    private final String aggregate;
    private final String sender;
    private final byte[] key;
    private final InstantSource clock = InstantSource.system();
    private RecordStamp stamp = RecordStamp.NONE;
    private long incarnation;

    Sender(Outbox outbox, String topic, String node, String processId) {
        this.outbox = outbox;
        this.topic = topic;
        this.aggregate = Workload.aggregate(node);
        this.sender = "agent/" + node + "/" + processId;
        this.key = Partitions.key(aggregate);
    }

    /** The incarnation in the events from now on. */
    synchronized void incarnation(long accepted) {
        incarnation = accepted;
    }

    /** Sends without waiting for the broker; returns the bytes of the record. */
    synchronized int send(Event blank) {
        Envelope envelope = new Envelope(aggregate, sender, incarnation, 0, 0, clock.millis(), null, null, null);
        Event event = blank.withEnvelope(stamp.onto(envelope));
        byte[] avro = Codec.avro(event);
        stamp = stamp.after(avro);
        byte[] value = outbox.codec().frame(topic, event.schema(), avro);
        outbox.send(new ProducerRecord<>(topic, key, value));
        return value.length;
    }
}
