/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Stamps, encodes and sends the events of one agent process in order. Every part of the benchmark sends through one, so that sending costs the same
 * in all. Safe for use by several threads.
 */
final class Sender {
    private final Sink sink;
    private final String aggregate;
    private final String sender;
    private final InstantSource clock = InstantSource.system();
    private final Map<String, RecordStamp> stamps = new HashMap<>();
    private long incarnation;

    /** Where stamped events go. */
    interface Sink {
        /** Takes an event and its Avro binary; returns the bytes of the record. */
        int take(Event event, byte[] avro);
    }

    Sender(Sink sink, String node, String processId) {
        this.sink = sink;
        this.aggregate = Workload.aggregate(node);
        this.sender = "agent/" + node + "/" + processId;
    }

    /** To a topic, without waiting for the broker. */
    static Sink to(Outbox outbox, String topic) {
        return (event, avro) -> {
            byte[] value = outbox.codec().frame(topic, event.schema(), avro);
            outbox.send(new ProducerRecord<>(topic, Partitions.key(event.envelope().aggregate()), value));
            return value.length;
        };
    }

    /** The incarnation in the events from now on. */
    synchronized void incarnation(long accepted) {
        incarnation = accepted;
    }

    /** Sends an event about the node; returns the bytes of the record. */
    int send(Event blank) {
        return send(aggregate, blank);
    }

    /** Sends an event about another aggregate. */
    synchronized int send(String about, Event blank) {
        RecordStamp last = stamps.getOrDefault(about, RecordStamp.NONE);
        Event event = blank.withEnvelope(last.onto(new Envelope(about, sender, incarnation, 0, 0, clock.millis(), null, null, null)));
        byte[] avro = Codec.avro(event);
        stamps.put(about, last.after(avro));
        return sink.take(event, avro);
    }
}
