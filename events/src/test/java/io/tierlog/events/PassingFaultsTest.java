/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PassingFaultsTest {
    private final PassingFaults faults = new PassingFaults();

    private static Throwable commitFailedBy(RuntimeException cause) {
        return new KafkaException("Error encountered trying to commit a transaction", cause);
    }

    @Test
    void whatBrokersDoAndStopDoingIsSurvived() {
        // A broker that received nothing for the transaction's time-out has ended it.
        assertTrue(faults.survives(commitFailedBy(new InvalidTxnStateException("ended")), 0));
        assertTrue(faults.survives(commitFailedBy(new TimeoutException("no answer in five minutes")), 1));
        assertTrue(faults.survives(new ProducerFencedException("another epoch"), 2));
        assertTrue(faults.survives(new InvalidProducerEpochException("another epoch"), 3));
    }

    /** What a producer throws at Streams, which begins a commit again that took longer than {@code max.block.ms}. */
    @Test
    void aCommitThatIsTriedAgainIsSurvived(@TempDir Path data) throws Exception {
        EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data));
        Map<String, Object> settings = KafkaAccess.of(broker.bootstrapServers()).client(Map.of("transactional.id", "t", "max.block.ms", 4_000));
        try (broker; KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            try (Admin admin = Admin.create(KafkaAccess.of(broker.bootstrapServers()).client(Map.of()))) {
                admin.createTopics(List.of(new NewTopic("t", 1, (short) 1))).all().get();
            }
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("t", new byte[1])).get();
            broker.close();
            assertThrows(TimeoutException.class, producer::commitTransaction);
            Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(new TopicPartition("t", 0), new OffsetAndMetadata(1));
            IllegalStateException again = assertThrows(IllegalStateException.class,
                    () -> producer.sendOffsetsToTransaction(offsets, new MockConsumer<byte[], byte[]>("earliest").groupMetadata()));
            assertTrue(faults.survives(new KafkaException(again), 0), again::toString);
            producer.close(Duration.ZERO);
        }
    }

    @Test
    void faultsOfOursAndOfTheSetUpAreNot() {
        assertFalse(faults.survives(new IllegalStateException("a decision"), 0));
        assertFalse(faults.survives(commitFailedBy(new TopicAuthorizationException("tierlog.decisions")), 0));
        assertFalse(faults.survives(commitFailedBy(new RecordTooLargeException("2 MB")), 0));
        assertFalse(faults.survives(new OutOfMemoryError(), 0));
    }

    /** 64 threads fail by one fault, within 20 s. */
    @Test
    void manyThreadsMeetOneFault() {
        long second = TimeUnit.SECONDS.toNanos(1);
        for (int i = 0; i < 64; i++) {
            assertTrue(faults.survives(new TimeoutException("one fault"), i * second / 3));
        }
        for (int i = 1; i < PassingFaults.MOST; i++) {
            assertTrue(faults.survives(new TimeoutException("another"), i * 31 * second));
        }
        assertFalse(faults.survives(new TimeoutException("the sixth"), PassingFaults.MOST * 31 * second));
    }

    /** Five within ten minutes; the sixth ends the process, unless the first is ten minutes old. */
    @Test
    void tooManyAreNot() {
        long minute = TimeUnit.MINUTES.toNanos(1);
        int survived = 0;
        for (int i = 0; i < 8; i++) {
            survived += faults.survives(new TimeoutException("again"), i * minute) ? 1 : 0;
        }
        assertEquals(PassingFaults.MOST, survived);
        assertTrue(faults.survives(new TimeoutException("again"), 10 * minute + 1), "the one at 0 min no longer counts");
        assertFalse(faults.survives(new TimeoutException("again"), 10 * minute + TimeUnit.SECONDS.toNanos(31)), "those of 1 to 4 min do");
    }
}
