/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * What an {@link EmbeddedKafka} is started with. Immutable.
 *
 * @param dataDirectory where the log lives; created when absent, used again when an earlier {@link EmbeddedKafka} wrote it
 * @param host the address of the listener, advertised to clients
 * @param port 1 to 65535, or 0 for any free one
 * @param properties further broker properties; they win over the defaults, but may not touch what the other fields say
 */
public record EmbeddedKafkaConfig(Path dataDirectory, String host, int port, Map<String, String> properties) {
    /** Loopback: the broker knows no authentication, so no other host may reach it. */
    public static final String DEFAULT_HOST = "127.0.0.1";

    /** Kafka's usual port. */
    public static final int DEFAULT_PORT = 9092;

    /** @throws IllegalArgumentException when the port or a property is out of range */
    public EmbeddedKafkaConfig {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port " + port + " is not between 0 and 65535");
        }
        if (host.isBlank()) {
            throw new IllegalArgumentException("host is empty");
        }
        for (String name : properties.keySet()) {
            if (BrokerProperties.RESERVED.contains(name)) {
                throw new IllegalArgumentException("property " + name + " is set by the embedded broker itself");
            }
        }
        dataDirectory = dataDirectory.toAbsolutePath().normalize();
        properties = Map.copyOf(properties);
    }

    /** Any free port on loopback. */
    public static EmbeddedKafkaConfig of(Path dataDirectory) {
        return new EmbeddedKafkaConfig(dataDirectory, DEFAULT_HOST, 0, Map.of());
    }

    /** The same with another port; 0 takes any free one. */
    public EmbeddedKafkaConfig withPort(int newPort) {
        return new EmbeddedKafkaConfig(dataDirectory, host, newPort, properties);
    }

    /** The same with one more broker property. */
    public EmbeddedKafkaConfig withProperty(String name, String value) {
        Map<String, String> more = new TreeMap<>(properties);
        more.put(name, value);
        return new EmbeddedKafkaConfig(dataDirectory, host, port, more);
    }
}
