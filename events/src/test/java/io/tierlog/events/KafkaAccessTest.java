/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class KafkaAccessTest {
    private static final String COMPRESSION = "compression.type";
    private static final String CONNECTING = "socket.connection.setup.timeout.ms";
    private static final String CONNECTING_AT_MOST = "socket.connection.setup.timeout.max.ms";

    @Test
    void producersCompressUnlessTheOperatorSaysOtherwise() {
        KafkaAccess plain = KafkaAccess.of("a:1");
        KafkaAccess chosen = new KafkaAccess("a:1", Map.of(COMPRESSION, "zstd"), Duration.ofSeconds(1));

        assertEquals("lz4", plain.compression());
        assertEquals("lz4", plain.producer(Map.of("acks", "all")).get(COMPRESSION));
        assertEquals("zstd", chosen.compression());
        assertEquals("zstd", chosen.producer(Map.of("acks", "all")).get(COMPRESSION));
        assertEquals("none", plain.withCompression("none").compression());
    }

    /** Kafka's own 10 s to 30 s kept decisions from going on for 31 s after the death of a broker's machine, and for 101 s after its freeze. */
    @Test
    void aSilentBrokerIsAbandonedSoonUnlessTheOperatorSaysOtherwise() {
        KafkaAccess chosen = new KafkaAccess("a:1", Map.of(CONNECTING, "9000", CONNECTING_AT_MOST, "9000"), Duration.ofSeconds(1));

        assertEquals("1500", KafkaAccess.of("a:1").client(Map.of()).get(CONNECTING));
        assertEquals("3000", KafkaAccess.of("a:1").producer(Map.of()).get(CONNECTING_AT_MOST));
        assertEquals("10000", KafkaAccess.of("a:1").client(Map.of()).get("request.timeout.ms"));
        assertEquals("9000", chosen.client(Map.of()).get(CONNECTING));
        assertEquals("9000", chosen.producer(Map.of()).get(CONNECTING_AT_MOST));
    }

    @Test
    void aNameThatResolvesIsEnough() {
        assertFalse(KafkaAccess.of("no-such-broker.invalid:9092").resolves());
        assertTrue(KafkaAccess.of("no-such-broker.invalid:9092,127.0.0.1:9092").resolves());
        AtomicInteger looks = new AtomicInteger();
        KafkaAccess.of("no-such-broker.invalid:9092").awaitName(() -> looks.incrementAndGet() == 2);
        assertEquals(2, looks.get());
    }

    @Test
    void otherClientsHaveNoCompression() {
        assertFalse(KafkaAccess.of("a:1").client(Map.of()).containsKey(COMPRESSION));
    }
}
