/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.controller.streams.DamagedState;
import io.tierlog.controller.streams.FreeSpace;
import io.tierlog.controller.streams.RecordCodeMetrics;
import io.tierlog.controller.streams.Standstill;
import io.tierlog.events.Causes;
import io.tierlog.events.ClockWatch;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.PassingFaults;
import io.tierlog.schemas.directory.Published;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.LagInfo;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Kafka Streams side of a directory instance: its partitions, and the fan-out that answers keys. Safe for use by several threads.
 *
 * <p>{@link #start} returns when Streams is on its way; until a partition is here or elsewhere, its keys are unknown.
 */
public final class DirectoryStreams implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStreams.class);
    private static final Duration CLOSE = Duration.ofSeconds(10);

    private final DirectoryConfig config;
    private final LocalShards copies;
    private final DirectoryMetrics metrics;
    private final DirectoryHealth health;
    private final PlacementDecoder decoder;
    private final Closers closers = new Closers();
    private final CompletableFuture<Optional<Throwable>> ended = new CompletableFuture<>();
    private final CountDownLatch running = new CountDownLatch(1);
    private final AtomicBoolean closed = new AtomicBoolean();
    private final PassingFaults passing = new PassingFaults();

    /**
     * Prepares an instance on a log with that many partitions.
     *
     * @param probes counts of probes, for its metrics
     */
    public DirectoryStreams(DirectoryConfig config, Codec codec, int partitions, ProbeCounts probes) {
        this.config = config;
        copies = new LocalShards(partitions);
        metrics = new DirectoryMetrics(copies, probes);
        health = new DirectoryHealth(copies, metrics);
        RecordCodeMetrics.register(config.kafka().signing(), metrics.registry());
        decoder = new PlacementDecoder(codec.reader(Published.class), health, config.topics().placements(), config.kafka().signing());
    }

    /**
     * Joins the group.
     *
     * @param self the address of this instance's gRPC, for the others
     * @param token comes in to the others
     * @throws DirectoryException.StateDirUnusable when the state directory is
     */
    public ShardFanout start(Owners.Peer self, Optional<String> token) {
        KafkaStreams streams;
        DamagedState damaged = new DamagedState(config.stateDir(), health::damaged);
        IndexProcessor.Shared shared = new IndexProcessor.Shared(decoder, copies, config.limits().index(), metrics, health);
        try {
            Files.createDirectories(config.stateDir());
            streams = new KafkaStreams(DirectoryTopology.build(config.topics(), shared, damaged), DirectorySettings.of(config, self.toString()),
                    new WatchedClients(copies));
        } catch (StreamsException | IOException e) {
            throw new DirectoryException.StateDirUnusable(config.stateDir(), e);
        }
        closers.add("streams", () -> streams.close(leaving()));
        streams.setStateListener((now, _) -> {
            health.streams(now);
            if (now == KafkaStreams.State.RUNNING) {
                running.countDown();
            }
            if (now == KafkaStreams.State.ERROR) {
                ended.complete(Optional.of(new IllegalStateException("Kafka Streams stopped with an error")));
                running.countDown();
            }
        });
        streams.setUncaughtExceptionHandler(this::fatal);
        StandbyStore standby = new StandbyStore(streams, decoder, copies);
        FreeSpace space = new FreeSpace(config.stateDir(), metrics.registry(), health::lowSpace);
        Standstill standstill = Standstill.of(streams);
        LogEnds ends = closers.add("follower", new LogEnds(config, copies, space::lookAtState, () -> {
            stopsIfStill(standstill);
            lookAtStandbys(streams, standby);
        }));
        health.add("follower", ends::state);
        closers.add("clock watch", new ClockWatch("tierlog-directory", byMs -> stops("the system clock was set back by " + byMs / 1_000
                + " s, and Kafka's clients would stand still for as long: start again")));
        PeerLink link = closers.add("peers", new GrpcPeerLink(token, config.tls(), config.limits().forwardMs()));
        ShardFanout fanout = new ShardFanout(new ShardFanout.Parts(copies, Optional.of(standby),
                new GroupRegister(streams, config.topics().placements()), link, self, config.limits(), metrics));
        streams.start();
        return fanout;
    }

    /** Ends the instance when Kafka Streams stands still; to be called when the brokers have answered. */
    void stopsIfStill(Standstill standstill) {
        standstill.look().ifPresent(what -> stops(what + " while the brokers answered: start again"));
    }

    private void stops(String why) {
        if (ended.isDone()) {
            return;
        }
        LOG.error("the directory stops: {}", why);
        health.failed(why);
        ended.complete(Optional.of(new IllegalStateException(why)));
    }

    private CloseOptions leaving() {
        // A member with a fixed name comes back: the others wait for it as long as its session lasts.
        return CloseOptions.timeout(CLOSE).withGroupMembershipOperation(config.instanceId().isEmpty()
                ? CloseOptions.GroupMembershipOperation.LEAVE_GROUP
                : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP);
    }

    private void lookAtStandbys(KafkaStreams streams, StandbyStore standby) {
        long nowMs = System.currentTimeMillis();
        Map<Integer, LocalShards.Standby> seen = new LinkedHashMap<>();
        try {
            Map<Integer, LagInfo> lags = streams.allLocalStorePartitionLags().getOrDefault(DirectoryTopology.STORE, Map.of());
            lags.forEach((partition, lag) -> {
                if (copies.index(partition).isEmpty()) {
                    seen.put(partition, copies.standby(partition).at(lag.offsetLag(), lag.endOffsetPosition(), nowMs));
                }
            });
        } catch (StreamsException | UnsupportedOperationException e) { // the second while a task restores
            LOG.debug("standbys cannot be looked at now: {}", e.toString());
        }
        copies.standbys(seen);
        if (copies.all().isEmpty()) {
            // No task here reads node incarnations; any partition has them all.
            seen.keySet().stream().limit(1).forEach(standby::learn);
        }
    }

    /** What becomes of a stream thread that fails. */
    StreamThreadExceptionResponse fatal(Throwable failure) {
        if (!health.isClosing()) {
            if (passing.survives(failure, System.nanoTime())) {
                LOG.warn("another stream thread goes on, since the brokers failed this one: {}", Causes.of(failure));
                metrics.threadReplaced();
                config.kafka().awaitName(closed::get);
                return StreamThreadExceptionResponse.REPLACE_THREAD;
            }
            LOG.error("the directory stops: {}", failure.getMessage(), failure);
            health.failed(String.valueOf(failure.getMessage()));
            ended.complete(Optional.of(failure));
        }
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    /**
     * Waits until this instance has its partitions.
     *
     * @return false when that did not come about in time, or it has ended
     */
    public boolean awaitRunning(Duration patience) throws InterruptedException {
        return running.await(patience.toMillis(), TimeUnit.MILLISECONDS) && !ended.isDone();
    }

    /** Completes when it has ended: with the failure that ended it, or empty when it was closed. */
    public CompletableFuture<Optional<Throwable>> ended() {
        return ended.copy();
    }

    /** REBALANCING, RUNNING, FULL, WAITING_FOR_REGISTRY or STOPPED. */
    public String state() {
        return health.state().name();
    }

    /** Blocks in the indexes here. */
    public long blocks() {
        return copies.all().values().stream().mapToLong(index -> index.size().blocks()).sum();
    }

    /** Memory of the indexes here, in bytes, outside of the heap. */
    public long indexBytes() {
        return copies.all().values().stream().mapToLong(index -> index.size().bytes()).sum();
    }

    /** Partitions that are answered from an index here. */
    public int indexes() {
        return copies.all().size();
    }

    /** Adds a part to {@code /health}. */
    public void watch(String part, Supplier<HealthParts.State> state) {
        health.add(part, state);
    }

    /** The body of {@code /health}. */
    public StatusServer.Report report() {
        return health.report(config.instanceId().orElse(config.applicationId()));
    }

    /** What it counts. */
    public PrometheusRegistry metrics() {
        return metrics.registry();
    }

    /** Where its state is kept. */
    public Path stateDir() {
        return config.stateDir();
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        health.closing();
        decoder.close();
        closers.close();
        ended.complete(Optional.empty());
        running.countDown();
    }
}
