/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.probe.PromotionRequests;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.PromotionRequested;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Appends to the events topic what is to be promoted: plain and idempotent, one record after the other, numbered per node with the checksum of the
 * one before. Safe for use by several threads.
 *
 * <p>A record without acknowledgement may or may not be in the log, so the next one starts another count under another sender name: an auditor
 * sees no gap, and what is promoted twice is promoted once. Trade-off: each request waits for its acknowledgement. Of several sent at once a later
 * one may arrive though an earlier one is lost, and that would be a gap.
 */
public final class LogPromotions implements PromotionRequests, AutoCloseable {
    private static final int DELIVERY_MS = 5_000;
    private static final int MAX_BLOCK_MS = 2_000;

    private final Log log;
    private final Runnable before;
    private final Producer<byte[], byte[]> producer;
    private final Map<String, RecordStamp> stamps = new HashMap<>();
    private String sender = newSender();

    /**
     * Where it is put.
     *
     * @param kafka the cluster
     * @param topics names of the topics
     * @param codec frames records
     * @param partitions of the events topic
     */
    public record Log(KafkaAccess kafka, Topics topics, Codec codec, int partitions) {}

    /**
     * Connects; sends no request to the cluster yet.
     *
     * @param before runs before each request, so that its reply is read; returns at once
     */
    public static LogPromotions connect(Log log, Runnable before) {
        return new LogPromotions(log, before, new KafkaProducer<>(
                log.kafka().signed(RecordSigner.Writer.of(KeyNames.DIRECTORY), log.kafka().client(Map.of(
                        "acks", "all",
                        "enable.idempotence", "true",
                        "linger.ms", 0,
                        "max.block.ms", MAX_BLOCK_MS,
                        "delivery.timeout.ms", DELIVERY_MS,
                        "request.timeout.ms", DELIVERY_MS / 2))),
                new ByteArraySerializer(),
                new ByteArraySerializer()));
    }

    LogPromotions(Log log, Runnable before, Producer<byte[], byte[]> producer) {
        this.log = log;
        this.before = before;
        this.producer = producer;
    }

    private static String newSender() {
        return "directory/" + UUID.randomUUID();
    }

    @Override
    public synchronized void request(String node, String namespace, List<Wanted> blocks) {
        before.run();
        String aggregate = "node/" + node;
        String topic = log.topics().events();
        RecordStamp stamp = stamps.getOrDefault(aggregate, RecordStamp.NONE);
        Envelope blank = new Envelope(aggregate, sender, 0, 0, 0, System.currentTimeMillis(), null, null, null);
        Envelope envelope = stamp.onto(blank);
        // The holder of a block has its prefix on record: the key alone names it here.
        List<Block> named = blocks.stream().map(wanted -> new Block(wanted.index(), wanted.key(), Bytes.EMPTY)).toList();
        PromotionRequested event = new PromotionRequested(envelope, sender + "/" + envelope.sequence(), namespace, named);
        byte[] avro = Codec.avro(event);
        byte[] value = log.codec().frame(topic, event.schema(), avro);
        int partition = Partitions.of(aggregate, log.partitions());
        try {
            producer.send(new ProducerRecord<>(topic, partition, Partitions.key(aggregate), value))
                    .get(DELIVERY_MS + MAX_BLOCK_MS, TimeUnit.MILLISECONDS);
            stamps.put(aggregate, stamp.after(avro));
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            beginAgain();
            throw new IllegalStateException("the request to node " + node + " was not acknowledged: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            beginAgain();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the directory stops", e);
        }
    }

    private void beginAgain() {
        sender = newSender();
        stamps.clear();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(2));
    }
}
