/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
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

    private final Supplier<Seen> streams;
    private final LongSupplier nanos;
    private Seen last = new Seen(true, true, 0);
    private long sinceNs;
    private long lookedNs;

    /**
     * What Streams does.
     *
     * @param hasThread whether one of its threads is alive
     * @param works whether it runs, or may stand still for a reason that it reports
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

    /**
     * Of {@code streams}, once started.
     *
     * @param waits whether it waits for the schema registry, which may take any time
     */
    public static Standstill of(KafkaStreams streams, BooleanSupplier waits) {
        return of(streams, waits, System::nanoTime);
    }

    /** For tests: by the nanoseconds of a monotonic clock. */
    static Standstill of(KafkaStreams streams, BooleanSupplier waits, LongSupplier nanos) {
        return new Standstill(() -> see(streams, waits.getAsBoolean()), nanos);
    }

    private static Seen see(KafkaStreams streams, boolean waits) {
        KafkaStreams.State state = streams.state();
        if (state != KafkaStreams.State.RUNNING && state != KafkaStreams.State.REBALANCING) {
            return new Seen(true, true, 0); // not started, or it ends: its owner knows
        }
        boolean hasThread = !streams.metadataForLocalThreads().isEmpty(); // it has none that failed
        double restored = streams.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("records-consumed-total")
                        && String.valueOf(metric.getKey().tags().get("client-id")).endsWith("restore-consumer")
                        && !metric.getKey().tags().containsKey("topic"))
                .mapToDouble(metric -> metric.getValue().metricValue() instanceof Number number ? number.doubleValue() : 0)
                .sum();
        return new Seen(hasThread, state == KafkaStreams.State.RUNNING || waits, restored);
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
