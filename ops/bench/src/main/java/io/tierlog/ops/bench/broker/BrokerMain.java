/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.broker;

import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.ops.kafka.EmbeddedKafkaException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The process behind {@link BrokerProcess}: prints the address of the broker, and ends with its standard input, so that it never outlives the
 * benchmark, however that ended.
 */
public final class BrokerMain {
    static final String READY = "ready ";

    private BrokerMain() {}

    /** The one argument is the data directory. */
    public static void main(String[] arguments) throws IOException {
        try (EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(Path.of(arguments[0])))) {
            System.out.println(READY + kafka.bootstrapServers());
            System.out.flush();
            while (System.in.read() >= 0) {
                // No input ever comes: this waits for the end of the stream.
            }
        } catch (EmbeddedKafkaException refused) {
            System.err.println(refused.getMessage());
            Runtime.getRuntime().halt(1);
        }
        // Threads of the broker may still run; its data are about to be removed.
        Runtime.getRuntime().halt(0);
    }
}
