/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.streams.api.LogLoop;
import io.tierlog.events.Causes;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PromotionAnswered;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the replies to probes: it follows the decisions topic from its end, in all partitions, and passes the replies on as soon as they are written
 * and
 * whether or not their transaction is committed, since a wrong one costs work alone. Of all other records it looks at the id of the schema and no
 * further.
 *
 * <p>It reads only while answers are expected: for {@value #LISTEN_S} s after each request. Trade-off: the first answers after a pause may be
 * missed, and
 * what they were about is asked for once more. One thread of its own, which starts again after any fault; safe for use by several threads.
 */
public final class PromotionAnswers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PromotionAnswers.class);
    private static final int LISTEN_S = 10;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long AGAIN_MS = 1_000;

    private final LogPromotions.Log log;
    private final RecordReader<Fact> reader;
    private final List<TopicPartition> partitions;
    private final LogLoop loop = new LogLoop("tierlog-directory-answers", new Follow());
    private volatile Consumer<PromotionAnswered> listener = _ -> {};
    private boolean expected;
    private long untilNanos;

    /** Nothing is read until an answer is expected. */
    public PromotionAnswers(LogPromotions.Log log) {
        this.log = log;
        reader = log.codec().reader(Fact.class);
        partitions = IntStream.range(0, log.partitions()).mapToObj(p -> new TopicPartition(log.topics().decisions(), p)).toList();
    }

    /** Starts to pass replies on; once. */
    public void listen(Consumer<PromotionAnswered> to) {
        listener = to;
        loop.start();
    }

    /** A request is about to be sent: reads its reply, if possible. Returns at once. */
    public synchronized void expect() {
        expected = true;
        untilNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LISTEN_S);
        notifyAll();
    }

    /** DEGRADED while replies cannot be read: blocks that a node refuses are asked for again and again. */
    public HealthParts.State state() {
        return loop.state("replies to probes are not read");
    }

    /** With a consumer of its own. */
    private final class Follow implements LogLoop.Round {
        @Override
        public void run(LogLoop its) {
            try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
                its.reads(consumer);
                consumer.assign(partitions);
                while (its.isOpen()) {
                    if (awaitExpected(its)) {
                        consumer.seekToEnd(partitions);
                    }
                    read(its, consumer);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** A reply that was missed costs work alone. */
        @Override
        public void failed(Throwable why) {}
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        return new KafkaConsumer<>(
                log.kafka().client(Map.of(
                        "isolation.level", "read_uncommitted",
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "latest",
                        "max.poll.records", "5000")),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    /** Waits until a reply is expected; returns whether it paused. */
    private synchronized boolean awaitExpected(LogLoop its) throws InterruptedException {
        expected = expected && System.nanoTime() - untilNanos < 0;
        boolean waited = !expected;
        while (!expected && its.isOpen()) {
            wait(POLL.toMillis());
            its.progressed();
        }
        return waited;
    }

    private void read(LogLoop its, KafkaConsumer<byte[], byte[]> consumer) {
        try {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                if (reader.is(record.value(), WireType.of(PromotionAnswered.class))
                        && reader.read(record.value()) instanceof Reading.Decoded<Fact>(PromotionAnswered answered)) {
                    listener.accept(answered);
                }
            }
            its.progressed();
        } catch (RegistryUnavailableException | UnknownTypeException e) {
            LOG.warn("replies to probes cannot be read: {}", Causes.of(e));
            its.failing(Causes.of(e));
            its.pause(AGAIN_MS);
        }
    }

    @Override
    public void close() {
        loop.close();
    }
}
