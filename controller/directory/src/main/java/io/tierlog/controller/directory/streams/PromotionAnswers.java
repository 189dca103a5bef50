/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
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
 * what they were about is asked for once more. One thread of its own; safe for use by several threads.
 */
public final class PromotionAnswers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PromotionAnswers.class);
    private static final int LISTEN_S = 10;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long AGAIN_MS = 1_000;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final RecordReader<Fact> reader;
    private final List<TopicPartition> partitions;
    private final Thread thread;
    private volatile Consumer<PromotionAnswered> listener = _ -> {};
    private final CountDownLatch closing = new CountDownLatch(1);
    private boolean expected;
    private long untilNanos;

    private PromotionAnswers(LogPromotions.Log log) {
        consumer = new KafkaConsumer<>(
                log.kafka().client(Map.of(
                        "isolation.level", "read_uncommitted",
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "latest",
                        "max.poll.records", "5000")),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        reader = log.codec().reader(Fact.class);
        partitions = IntStream.range(0, log.partitions()).mapToObj(p -> new TopicPartition(log.topics().decisions(), p)).toList();
        thread = Thread.ofPlatform().name("tierlog-directory-answers").daemon().unstarted(this::run);
    }

    /** Connects; nothing is read until an answer is expected. */
    public static PromotionAnswers connect(LogPromotions.Log log) {
        return new PromotionAnswers(log);
    }

    /** Starts to pass replies on; once. */
    public void listen(Consumer<PromotionAnswered> to) {
        listener = to;
        thread.start();
    }

    /** A request is about to be sent: reads its reply, if possible. Returns at once. */
    public synchronized void expect() {
        expected = true;
        untilNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LISTEN_S);
        notifyAll();
    }

    private void run() {
        try (consumer) {
            consumer.assign(partitions);
            while (closing.getCount() > 0) {
                if (awaitExpected()) {
                    consumer.seekToEnd(partitions);
                }
                read();
            }
        } catch (WakeupException e) {
            if (closing.getCount() > 0) {
                throw e;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until a reply is expected; returns whether it paused. */
    private synchronized boolean awaitExpected() throws InterruptedException {
        expected = expected && System.nanoTime() - untilNanos < 0;
        boolean waited = !expected;
        while (!expected && closing.getCount() > 0) {
            wait();
        }
        return waited;
    }

    private void read() throws InterruptedException {
        try {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                if (reader.is(record.value(), WireType.of(PromotionAnswered.class))
                        && reader.read(record.value()) instanceof Reading.Decoded<Fact>(PromotionAnswered answered)) {
                    listener.accept(answered);
                }
            }
        } catch (WakeupException e) {
            throw e;
        } catch (KafkaException | RegistryUnavailableException | UnknownTypeException e) {
            LOG.warn("replies to probes cannot be read: {}", Causes.of(e));
            boolean _ = closing.await(AGAIN_MS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void close() {
        closing.countDown();
        synchronized (this) {
            notifyAll();
        }
        consumer.wakeup();
        try {
            if (thread.getState() == Thread.State.NEW) {
                consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
            } else {
                thread.join(Duration.ofSeconds(5));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
