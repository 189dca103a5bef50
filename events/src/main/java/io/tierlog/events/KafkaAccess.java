/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.sign.RecordSigning;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.common.utils.Utils;

/**
 * How to reach the cluster: what every client of this process is made with. Immutable.
 *
 * @param bootstrapServers HOST:PORT, several with commas
 * @param properties further client properties, security for one; they are given to every client
 * @param timeout how long a cluster that does not answer is waited for when something starts
 * @param signing signs and checks records; empty when that is off
 */
public record KafkaAccess(String bootstrapServers, Map<String, String> properties, Duration timeout, Optional<RecordSigning> signing) {
    /** How producers compress by default. */
    public static final String DEFAULT_COMPRESSION = "lz4";

    /** For consumers without a group: a close does not wait for the fetch under way. The broker drops the fetch session later. */
    public static final CloseOptions AT_ONCE = CloseOptions.timeout(Duration.ZERO);

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(15);
    private static final String INTERCEPTORS = "interceptor.classes";
    private static final String COMPRESSION = "compression.type";
    private static final String REQUEST = "max.request.size";
    private static final int DEFAULT_REQUEST_BYTES = 1 << 20;
    /**
     * How long a connection may take to be made, how long after it has failed again and again, and how long an answer may take. A machine that is
     * gone does not refuse, it is silent, and one that stands still keeps its connections; a producer waits for its coordinator's machine until
     * then and sends nothing else, and several such waits follow each other. Kafka's own values are 10 s, 30 s and 30 s.
     */
    private static final Map<String, String> PATIENCE = Map.of(
            "socket.connection.setup.timeout.ms", "1500",
            "socket.connection.setup.timeout.max.ms", "3000",
            "request.timeout.ms", "10000");

    /** Copies the properties. */
    public KafkaAccess {
        if (bootstrapServers.isBlank()) {
            throw new IllegalArgumentException("bootstrap servers are missing: give HOST:PORT");
        }
        if (timeout.compareTo(Duration.ofMillis(100)) < 0 || timeout.compareTo(Duration.ofMinutes(10)) > 0) {
            throw new IllegalArgumentException("the time to wait for a cluster is 100 ms to 10 min, not " + timeout);
        }
        properties = Map.copyOf(properties);
    }

    /** Records are neither signed nor checked. */
    public KafkaAccess(String bootstrapServers, Map<String, String> properties, Duration timeout) {
        this(bootstrapServers, properties, timeout, Optional.empty());
    }

    /** A cluster without security, waited for 15 s. */
    public static KafkaAccess of(String bootstrapServers) {
        return new KafkaAccess(bootstrapServers, Map.of(), DEFAULT_TIMEOUT);
    }

    /** Whether the name of a broker resolves: without one no client of Kafka can be made. */
    public boolean resolves() {
        return Arrays.stream(bootstrapServers.split(",", -1)).anyMatch(KafkaAccess::resolves);
    }

    private static boolean resolves(String server) {
        try {
            String host = Utils.getHost(server.strip());
            return host != null && InetAddress.getByName(host).getAddress().length > 0;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /**
     * Waits until the name of a broker resolves. Streams makes the clients of the thread that replaces another one in the failed thread, once: when
     * they cannot be made, it is left without a thread.
     *
     * @param abandoned whether to wait no longer
     */
    public void awaitName(BooleanSupplier abandoned) {
        while (!resolves() && !abandoned.getAsBoolean() && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
        }
    }

    /** How producers compress their batches: as the properties say, or the default. */
    public String compression() {
        return properties.getOrDefault(COMPRESSION, DEFAULT_COMPRESSION);
    }

    /**
     * Longest record that a producer sends, in bytes: as the properties say, or Kafka's default.
     *
     * @throws IllegalArgumentException when the property is no number of bytes, 1 or more
     */
    public int requestBytes() {
        String text = properties.getOrDefault(REQUEST, String.valueOf(DEFAULT_REQUEST_BYTES));
        try {
            int bytes = Integer.parseInt(text.strip());
            if (bytes >= 1) {
                return bytes;
            }
        } catch (NumberFormatException e) {
            // Answered below, as for a number that is too small.
        }
        throw new IllegalArgumentException(REQUEST + " is '" + text + "': give a number of bytes, 1 or more");
    }

    /** The same with another compression, as Kafka names it. */
    public KafkaAccess withCompression(String type) {
        Map<String, String> all = new HashMap<>(properties);
        all.put(COMPRESSION, type);
        return new KafkaAccess(bootstrapServers, all, timeout, signing);
    }

    /** The same, with records signed and checked. */
    public KafkaAccess withSigning(RecordSigning value) {
        return new KafkaAccess(bootstrapServers, properties, timeout, Optional.of(value));
    }

    /** {@code settings} of a producer that signs as {@code writer} where that is on. */
    public Map<String, Object> signed(RecordSigner.Writer writer, Map<String, Object> settings) {
        signing.ifPresent(on -> {
            settings.merge(INTERCEPTORS, RecordSigner.class.getName(), (those, ours) -> those + "," + ours);
            settings.put(RecordSigner.SIGNING, on);
            settings.put(RecordSigner.WRITER, writer);
        });
        return settings;
    }

    /** Properties of a producer with {@code more}, which win. */
    public Map<String, Object> producer(Map<String, Object> more) {
        Map<String, Object> all = client(more);
        all.putIfAbsent(COMPRESSION, DEFAULT_COMPRESSION);
        return all;
    }

    /** Client properties with {@code more}, which win. A broker that is gone is abandoned soon, unless the properties say otherwise. */
    public Map<String, Object> client(Map<String, Object> more) {
        Map<String, Object> all = new HashMap<>(PATIENCE);
        all.putAll(properties);
        all.put("bootstrap.servers", bootstrapServers);
        all.putAll(more);
        return all;
    }
}
