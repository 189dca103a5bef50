/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.decision.InputApplied;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.threads.LoggedLines;
import io.tierlog.threads.ThreadFaults;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replies are read from the decisions topic of a real broker, among other records and before their commit. */
class PromotionAnswersTest {
    private static final Bytes KEY = PlacementLog.key(1);

    private final BlockingQueue<PromotionAnswered> received = new LinkedBlockingQueue<>();
    private final Codec codec = new Codec(Schemas.bundled());
    private final AtomicInteger number = new AtomicInteger();

    @TempDir
    Path dir;

    @Test
    void answersAreReceivedBeforeTheirCommitWhileTheyAreExpected() throws Exception {
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(dir.resolve("broker")));
                PlacementLog log = new PlacementLog(broker, 2);
                KafkaProducer<byte[], byte[]> controller = controller(log);
                LoggedLines lines = new LoggedLines(ThreadFaults.class);
                PromotionAnswers answers = new PromotionAnswers(new LogPromotions.Log(log.access, log.topics, codec, 2))) {
            ThreadFaults.ofProcess().forget(); // Of tests before, in this process.
            AtomicInteger replies = new AtomicInteger();
            answers.listen(reply -> {
                received.add(reply);
                if (replies.incrementAndGet() == 1) {
                    throw new StackOverflowError();
                }
            });
            controller.initTransactions();
            controller.beginTransaction();
            // Without a request nothing is read.
            say(log, controller, 0);
            controller.flush();
            int before = number.get();
            // The first expected reply may be missed; later ones are read, in every partition.
            PlacementLog.await("an answer in each partition", () -> {
                answers.expect();
                say(log, controller, 0);
                say(log, controller, 1);
                return received.stream().anyMatch(one -> one.probe().startsWith("0/"))
                        && received.stream().anyMatch(one -> one.probe().startsWith("1/"));
            });
            assertTrue(received.stream().allMatch(one -> Integer.parseInt(one.probe().substring(2)) > before), "earlier replies are not read");
            assertEquals(Map.of("tierlog-directory-answers", 1L), ThreadFaults.ofProcess().counts(), "the first ended a round and no more");
            assertEquals(HealthParts.State.WELL, answers.state());
            HealthParts parts = new HealthParts(new PrometheusRegistry());
            assertTrue(parts.detail().contains("the thread tierlog-directory-answers met a fault"), parts::detail);
            assertEquals(1, lines.with("the thread tierlog-directory-answers met a fault"), lines::toString);
            ThreadFaults.ofProcess().forget();
            PromotionAnswered one = received.take();
            PromotionAnswer answer = one.answers().getFirst();
            assertEquals(List.of(PromotionReply.COOLDOWN, 4_321L, KEY),
                    List.of(answer.reply(), answer.retryMs(), answer.blocks().getFirst().key()));
        }
    }

    private static KafkaProducer<byte[], byte[]> controller(PlacementLog log) {
        return new KafkaProducer<>(log.access.client(Map.of("transactional.id", log.topics.prefix() + "-decisions", "linger.ms", 0)),
                new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** An answer, with bytes of no record and another decision before it. */
    private void say(PlacementLog log, KafkaProducer<byte[], byte[]> controller, int partition) {
        String topic = log.topics.decisions();
        Envelope envelope = new Envelope("node/a", "controller/0", 1, 1, 0, 1_000, "0@1", null, null);
        String probe = partition + "/" + number.incrementAndGet();
        PromotionAnswered answer = new PromotionAnswered(envelope, probe, "model/a",
                List.of(new PromotionAnswer(PromotionReply.COOLDOWN, List.of(new Block(1, KEY, Bytes.EMPTY)), 4_321)), 1);
        try {
            for (byte[] value : List.of(new byte[] {1, 2}, codec.encode(topic, new InputApplied(envelope)), codec.encode(topic, answer))) {
                controller.send(new ProducerRecord<>(topic, partition, new byte[] {1}, value)).get(30, TimeUnit.SECONDS);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
