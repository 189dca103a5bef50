/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;
import org.apache.kafka.streams.KafkaStreams;

/**
 * Notices that Kafka Streams stands still while the brokers answer. Streams is left without a thread when the one that replaces a failed one
 * cannot be made, and with tasks that no one restores when its state updater fails; it reports its last state from then on. A process that
 * starts again works. For one thread.
 */
public final class Standstill {
    /** Twice as long as a rebalance may wait for a member that does not poll. */
    public static final Duration PATIENCE = Duration.ofMinutes(10);
    /** The brokers did not answer in between: nothing is known about longer gaps between two looks. */
    static final Duration GAP = Duration.ofMinutes(1);

    /** A thread of Streams polls many times a second. */
    private static final double AT_WORK_S = 60;
    private static final String RESTORES = "-restore-consumer";

    private final Supplier<Seen> streams;
    private final LongSupplier nanos;
    private Seen last = new Seen(true, true, 0);
    private long sinceNs;
    private long lookedNs;

    /**
     * What Streams does.
     *
     * @param hasThread whether one of its threads is alive
     * @param works whether it runs, or one of its threads is at work and does not poll: it may load a large state, or wait for the registry
     * @param restored records that its restore consumers have read since they were made
     */
    public record Seen(boolean hasThread, boolean works, double restored) {}

    /** Of what is seen, by the nanoseconds of a monotonic clock. */
    public Standstill(Supplier<Seen> streams, LongSupplier nanos) {
        this.streams = streams;
        this.nanos = nanos;
        sinceNs = nanos.getAsLong();
        lookedNs = sinceNs;
    }

    /** Of {@code streams}; until they are started they do not stand still. */
    public static Standstill of(KafkaStreams streams) {
        return new Standstill(() -> see(streams, AT_WORK_S), System::nanoTime);
    }

    /** What they do; {@code atWorkS}: after how many seconds a thread that does not poll counts as at work. */
    static Seen see(KafkaStreams streams, double atWorkS) {
        KafkaStreams.State state = streams.state();
        if (state != KafkaStreams.State.RUNNING && state != KafkaStreams.State.REBALANCING) {
            return new Seen(true, true, 0); // not started, or it ends: its owner knows
        }
        boolean hasThread = !streams.metadataForLocalThreads().isEmpty(); // it has none that failed
        boolean atWork = values(streams, "last-poll-seconds-ago", client -> !client.endsWith(RESTORES)).anyMatch(idle -> idle > atWorkS);
        double restored = values(streams, "records-consumed-total", client -> client.endsWith(RESTORES)).sum();
        return new Seen(hasThread, state == KafkaStreams.State.RUNNING || atWork, restored);
    }

    /** The values of a metric of the consumers, as a whole, whose client id is wanted. */
    private static DoubleStream values(KafkaStreams streams, String name, Predicate<String> wanted) {
        return streams.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals(name) && !metric.getKey().tags().containsKey("topic")
                        && wanted.test(String.valueOf(metric.getKey().tags().get("client-id"))))
                .mapToDouble(metric -> metric.getValue().metricValue() instanceof Number number ? number.doubleValue() : 0);
    }

    /**
     * Looks at Streams; to be called when the brokers have answered.
     *
     * @return for people: what has stood still for {@link #PATIENCE}; empty while that is not so
     */
    public Optional<String> look() {
        long now = nanos.getAsLong();
        Seen seen = streams.get();
        boolean moves = seen.hasThread() && (seen.works() || seen.restored() != last.restored());
        if (moves || now - lookedNs > GAP.toNanos()) {
            sinceNs = now;
        }
        lookedNs = now;
        last = seen;
        if (now - sinceNs < PATIENCE.toNanos()) {
            return Optional.empty();
        }
        return Optional.of(seen.hasThread()
                ? "Kafka Streams has neither got its partitions nor restored a record for " + PATIENCE.toMinutes() + " min"
                : "Kafka Streams has had no thread for " + PATIENCE.toMinutes() + " min");
    }
}
