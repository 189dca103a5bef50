/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.events.KafkaAccess;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;

final class StreamsSettingsTest {
    private static final String COMPRESSION = "producer.compression.type";

    @Test
    void theProducerOfTheTransactionCompresses() {
        assertEquals("lz4", settings(KafkaAccess.of("a:1")).get(COMPRESSION));
        assertEquals("none", settings(KafkaAccess.of("a:1").withCompression("none")).get(COMPRESSION), "as the operator says");
    }

    private static Properties settings(KafkaAccess access) {
        return StreamsSettings.of(ControllerConfig.of(access, Path.of("state")), "instance");
    }
}
