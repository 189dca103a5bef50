/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.HealthLog;
import io.tierlog.controller.http.ServerException;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.controller.streams.api.LogAccess;
import io.tierlog.controller.streams.api.OperatorApi;
import io.tierlog.events.Causes;
import io.tierlog.events.ClockWatch;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.PassingFaults;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryException;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Published;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import io.tierlog.traces.SpanExport;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.MissingSourceTopicException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running controller instance: alone in its process, or beside others (the demo). Safe for use by several threads.
 *
 * <p>{@link #start} checks all that can be checked, and returns when Kafka Streams is on its way; {@link #awaitRunning} waits until inputs
 * are decided. {@link #ended} completes when the instance stops by itself, which it does at every fault of the core. Trade-off: the caller
 * must watch that.
 */
public final class ControllerApp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ControllerApp.class);
    private static final Duration CLOSE = Duration.ofSeconds(10);
    /** As long as what Kafka's producers send by default: a decision about an event must not be longer. */
    private static final int MAX_EVENT_BYTES = 1 << 20;

    private final ControllerConfig config;
    private final Closers closers = new Closers();
    private final Health health;
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final ControllerParts shown;
    private final CompletableFuture<Optional<Throwable>> ended = new CompletableFuture<>();
    private final CountDownLatch running = new CountDownLatch(1);
    private final AtomicBoolean closed = new AtomicBoolean();
    private final PassingFaults passing = new PassingFaults();
    private volatile Optional<SpanExport> spans = Optional.empty();
    private volatile Optional<LogRest> rest = Optional.empty();
    private int httpPort;
    private int apiPort = -1;
    private int grpcPort = -1;

    private ControllerApp(ControllerConfig config) {
        this.config = config;
        this.health = new Health(config.coreVersion());
        this.shown = new ControllerParts(metrics.registry(), health);
    }

    /**
     * Starts an instance.
     *
     * @throws io.tierlog.events.LogSetupException when the broker or the topics are not there or not as they must be
     * @throws ControllerException when the registry, the port or the state directory is not; nothing is left running
     */
    public static ControllerApp start(ControllerConfig config) {
        ControllerApp app = new ControllerApp(config);
        try {
            app.begin();
            return app;
        } catch (RuntimeException | Error e) {
            app.close();
            throw e;
        }
    }

    /**
     * Waits until inputs are decided.
     *
     * @return false when that did not come about in time, or the instance has ended
     */
    public boolean awaitRunning(Duration patience) throws InterruptedException {
        return running.await(patience.toMillis(), TimeUnit.MILLISECONDS) && !ended.isDone();
    }

    /** Completes when the instance has ended: with the failure that ended it, or empty when it was closed. */
    public CompletableFuture<Optional<Throwable>> ended() {
        return ended.copy();
    }

    /** The port of metrics and health; 0 when there is none. */
    public int httpPort() {
        return httpPort;
    }

    /** The port of the operator API; -1 without one. */
    public int apiPort() {
        return apiPort;
    }

    /** The gRPC port of the operator API; -1 without one. */
    public int grpcPort() {
        return grpcPort;
    }

    /** RUNNING, REBALANCING, WAITING_FOR_REGISTRY, LOG_INCOMPLETE, TIMERS_LATE or STOPPED. */
    public String state() {
        return health.state().name();
    }

    /**
     * Ends the clocks, and waits until every event has its committed decisions: for the only instance of a controller, before it is closed, once no
     * agent or operator appends events. Otherwise ticks may stay behind the last decision, which the next instance would decide.
     *
     * @return false when that did not come about in time, or the instance was closed; some seconds late when the brokers do not answer
     */
    public boolean bringToRest(Duration limit) throws InterruptedException {
        Optional<LogRest> begun = rest;
        return begun.isPresent() && begun.get().run(limit);
    }

    /** Commits, leaves and gives everything back; at most about 20 s. Closing twice is nothing. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        closers.close();
        ended.complete(Optional.empty());
        running.countDown();
    }

    private void begin() {
        String instance = InstanceId.of(config);
        config.http().ifPresent(address -> {
            httpPort = closers.add("status server", statusServer(address, instance)).port();
        });
        int partitions;
        try (TopicAdmin admin = new TopicAdmin(config.kafka())) {
            AclTable.require(admin, config.topics(), AccessRole.CONTROLLER);
            partitions = admin.check(config.topics());
        }
        Codec codec = codec();
        // Once more below: a start that fails closes it, and a running instance closes it before the stream threads, which may wait in it.
        LogOwner owner = closers.add("log owner at start", new LogOwner(
                config.kafka(), config.topics(), codec, partitions, config.applicationId(), health::foreignDecisions));
        boolean _ = owner.isOurs();
        PlainProducer ticks = plainProducer("ticks", config.topics().events());
        EventDecoder decoder = new EventDecoder(
                codec.reader(Event.class),
                new EventDecoder.Rules(config.topics().events(), partitions, MAX_EVENT_BYTES, config.skipInputs(),
                        config.kafka().signing()),
                health,
                metrics);
        Optional<PlainProducer> direct = config.commands() == CommandDelivery.DIRECT
                ? Optional.of(plainProducer("commands", config.topics().commands()))
                : Optional.empty();
        ClockEnds clocks = new ClockEnds();
        EventProcessor.Parts parts = new EventProcessor.Parts(
                new Core(Limits.of(partitions), config.applicationId(), config.coreVersion()),
                decoder,
                new PartitionClock.Shared(codec, config.topics(), ticks, metrics, config.tickMs(), clocks),
                new ResultSender.Shared(codec, config.topics(), partitions, direct, metrics),
                new Sampler.Shared(config.streams().sampleTicks(), config.streams().sampleRows(), metrics, health),
                metrics,
                owner,
                Duration.ofMillis(config.tickMs()),
                config.traces().map(collector -> spans(collector, instance)).orElse(null));
        RecordCodeMetrics.register(config.kafka().signing(), metrics.registry());
        startApi(codec, partitions);
        Standstill standstill = run(parts, instance);
        Relay relay = closers.add("relay", new Relay(config, instance, metrics, health));
        relay.start();
        shown.parts().add("relay", relay::state);
        closers.add("decoder", decoder::close);
        closers.add("log owner", owner);
        FreeSpace space = new FreeSpace(config.stateDir(), metrics.registry(), health::lowSpace);
        closers.add("clock watch", new ClockWatch("tierlog", byMs -> stops(new ControllerException.ClockSetBack(byMs / 1_000))));
        LogWatch watch = closers.add("log watch", new LogWatch(config.kafka(), config.topics(), owner, health, space, standstill, this::stops));
        watch.start();
        shown.parts().add("brokers", watch::state);
        rest = Optional.of(closers.add("log rest", new LogRest(config, partitions, clocks, relay)));
    }

    /** Closed after the stream threads, which end spans. */
    private DecisionSpans spans(URI collector, String instance) {
        SpanExport export = closers.add("span export", new SpanExport(collector, "tierlog-controller", instance, SpanExport.Limits.DEFAULTS));
        spans = Optional.of(export);
        return new DecisionSpans(export.tracer(), SpanExport.epochNs(), config.topics().events(), config.topics().decisions());
    }

    /** What has become of spans; all 0 when traces are off. */
    public SpanExport.Counts spans() {
        return spans.map(SpanExport::counts).orElse(SpanExport.Counts.NONE);
    }

    private PlainProducer plainProducer(String what, String topic) {
        PlainProducer producer = closers.add("producer", new PlainProducer(what, config.kafka(),
                topic.equals(config.topics().events()) ? RecordSigner.Writer.of(KeyNames.CLOCK) : RecordSigner.Writer.CONTROLLER));
        producer.prepare(topic, config.kafka().timeout());
        return producer;
    }

    private StatusServer statusServer(ControllerConfig.HttpAddress address, String instance) {
        try {
            return new StatusServer(
                    "--http-port", new Endpoint(address.host(), address.port()), config.tls(), metrics.registry(), () -> shown.report(instance));
        } catch (ServerException e) {
            throw new ControllerException.CannotListen(address, e.getCause() == null ? e : e.getCause());
        }
    }

    /** Before Streams starts, which takes long, so that a wrong address is reported at once. */
    private void startApi(Codec codec, int partitions) {
        config.api().ifPresent(settings -> {
            String changelog = config.applicationId() + "-" + ControllerTopology.STORE + "-changelog";
            LogAccess log = new LogAccess(config.kafka(), config.topics(), codec, partitions, changelog);
            OperatorApi api = closers.add("operator API", OperatorApi.start(log, settings, config.tls(), metrics.registry()));
            apiPort = api.port();
            grpcPort = api.grpcPort();
            shown.parts().add("operator_api", api::state);
        });
    }

    private Standstill run(EventProcessor.Parts parts, String instance) {
        KafkaStreams streams;
        try {
            DamagedState damagedState = new DamagedState(config.stateDir(), this::damaged);
            Topology topology =
                    ControllerTopology.build(config.topics(), parts, config.streams().recordCacheBytes() > 0, damagedState);
            streams = new KafkaStreams(topology, parts.spans() == null
                    ? StreamsSettings.of(config, instance) : StreamsSettings.of(config, instance, parts.spans()));
        } catch (StreamsException e) {
            throw new ControllerException.StateDirUnusable(config.stateDir(), e);
        }
        closers.add("streams", () -> streams.close(CLOSE));
        StreamsGauges gauges = StreamsGauges.register(metrics.registry(), streams, health);
        shown.producers(gauges::freeShare);
        shown.inputs(metrics::decidedNs, config.tickMs(),
                () -> streams.metadataForLocalThreads().stream().anyMatch(thread -> !thread.activeTasks().isEmpty()));
        closers.add("health log", new HealthLog("tierlog-health", shown.parts(), Set.of("inputs", "producer")));
        streams.setStateListener((now, before) -> {
            health.streams(now);
            if (now == KafkaStreams.State.RUNNING) {
                running.countDown();
            }
            if (now == KafkaStreams.State.ERROR) {
                // Without a reason from the processor, Streams itself stopped.
                ended.complete(Optional.of(new IllegalStateException("Kafka Streams stopped with an error")));
                running.countDown();
            }
        });
        streams.setUncaughtExceptionHandler(this::fatal);
        streams.start();
        return Standstill.of(streams);
    }

    private void damaged(String what) {
        metrics.damaged();
        health.damaged(what);
    }

    /**
     * What becomes of a stream thread that fails. One that replaces it is another static member of the group: the partitions of the failed one wait
     * until its session ends.
     */
    StreamThreadExceptionResponse fatal(Throwable failure) {
        Throwable cause = failure instanceof MissingSourceTopicException
                ? new ControllerException.TopicMissing(config.topics().events(), failure) : root(failure);
        if (cause instanceof ControllerException.Closing) {
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        if (!(cause instanceof ControllerException) && passing.survives(failure, System.nanoTime())) {
            LOG.warn("another stream thread goes on, since the brokers failed this one: {}", Causes.of(failure));
            metrics.threadReplaced();
            config.kafka().awaitName(closed::get);
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        }
        // Once, and whole: Streams hangs what else went wrong onto it as suppressed exceptions.
        LOG.error("the controller stops: {}", cause.getMessage(), failure);
        health.failed(String.valueOf(cause.getMessage()));
        ended.complete(Optional.of(cause));
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    private void stops(ControllerException cause) {
        LOG.error("the controller stops: {}", cause.getMessage());
        health.failed(String.valueOf(cause.getMessage()));
        ended.complete(Optional.of(cause));
    }

    /** The failure of ours inside of what Streams wrapped it in, or else the failure itself. */
    private Throwable root(Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof ControllerException) {
                return t;
            }
            if (t instanceof Table.Unreadable) {
                return new ControllerException.StateDamaged(config.stateDir(), t);
            }
        }
        Optional<Throwable> disk = DamagedState.ofDisk(failure);
        return disk.isPresent() ? new ControllerException.StateNotWritten(config.stateDir(), disk.get()) : failure;
    }

    /** A codec with the schema ids of all written records, so that only a foreign schema needs the registry later. */
    private Codec codec() {
        SchemaIds ids = config.registry().map(this::registry).orElseGet(Schemas::bundled);
        Codec codec = new Codec(ids);
        Topics topics = config.topics();
        long deadlineNs = System.nanoTime() + config.kafka().timeout().toNanos();
        while (true) {
            try {
                codec.prepare(topics.events(), Event.class);
                codec.prepare(topics.decisions(), Fact.class);
                codec.prepare(topics.commands(), Command.class);
                codec.prepare(topics.messages(), Message.class);
                codec.prepare(topics.placements(), Published.class);
                return codec;
            } catch (RegistryUnavailableException e) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
                if (leftMs <= 0) {
                    throw new ControllerException.RegistryUnreachable(e);
                }
                LOG.warn("waiting for the schema registry: {}", e.getMessage());
                pause(Math.min(leftMs, Math.max(1, e.retryInMs())));
            } catch (RegistryException e) {
                throw new ControllerException.SchemaRefused(e);
            }
        }
    }

    private SchemaIds registry(RegistryConfig registry) {
        return closers.add("registry", new RegistryClient(registry));
    }

    private static void pause(long ms) {
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControllerException.Closing();
        }
    }
}
