/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.sign.RecordSigner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** The stream thread's producer, with Kafka's own client and no broker. */
class PlainProducerTest {
    @Test
    void theStreamThreadDoesNotWaitForABroker() {
        AtomicInteger failures = new AtomicInteger();
        try (PlainProducer producer = new PlainProducer("test", KafkaAccess.of("localhost:1"), RecordSigner.Writer.CONTROLLER)) {
            long startNs = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                producer.send(new ProducerRecord<>("commands", 0, null, new byte[1]), why -> failures.incrementAndGet(), () -> {});
            }
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            assertTrue(tookMs < 8_000, () -> "20 calls took " + tookMs + " ms");
        }
        assertTrue(failures.get() > 0, "the caller receives the failures");
    }
}
