/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** One broker for all tests of a class, in a directory of its own: {@code @RegisterExtension private static final TestBroker BROKER}. */
public final class TestBroker implements BeforeAllCallback, AfterAllCallback {
    private @Nullable Path directory;
    private @Nullable EmbeddedKafka broker;

    /** The broker, once the tests of the class run. */
    public EmbeddedKafka kafka() {
        return Objects.requireNonNull(broker, "no test runs");
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        directory = Files.createTempDirectory("tierlog-broker-");
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        kafka().close();
        try (Stream<Path> files = Files.walk(Objects.requireNonNull(directory))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
