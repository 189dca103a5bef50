/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class KafkaAccessTest {
    private static final String COMPRESSION = "compression.type";

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

    @Test
    void otherClientsHaveNoCompression() {
        assertFalse(KafkaAccess.of("a:1").client(Map.of()).containsKey(COMPRESSION));
    }
}
