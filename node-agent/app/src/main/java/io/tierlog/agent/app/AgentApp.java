/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.grpc.ServerInterceptor;
import io.tierlog.agent.app.engine.AgreedLayouts;
import io.tierlog.agent.app.engine.EngineApiHealth;
import io.tierlog.agent.app.engine.EngineServer;
import io.tierlog.agent.app.log.AgentLog;
import io.tierlog.agent.app.log.CommandSource;
import io.tierlog.agent.app.log.DeadLetters;
import io.tierlog.agent.app.log.EventsLostException;
import io.tierlog.agent.app.log.LogLink;
import io.tierlog.agent.app.log.RegistrationRefusedException;
import io.tierlog.agent.app.loop.AgentLoop;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.app.peer.DirectoryPeers;
import io.tierlog.agent.app.peer.NoopPeerFinder;
import io.tierlog.agent.app.peer.NoopPeerReplies;
import io.tierlog.agent.app.peer.PeerAddress;
import io.tierlog.agent.app.peer.PeerClient;
import io.tierlog.agent.app.peer.PeerGate;
import io.tierlog.agent.app.peer.PeerServer;
import io.tierlog.agent.app.status.StatusPage;
import io.tierlog.agent.app.store.SharedStore;
import io.tierlog.agent.app.store.StoreWorkers;
import io.tierlog.agent.app.trace.RequestTraces;
import io.tierlog.agent.core.AgentCore;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Registration;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.agent.core.port.PeerPorts;
import io.tierlog.agent.core.port.PeerReplies;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.DiskStatus;
import io.tierlog.agent.disk.DiskWorkers;
import io.tierlog.events.ClockWatch;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Sha256;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.Event;
import io.tierlog.tls.TlsFiles;
import io.tierlog.traces.SpanExport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One agent: everything around an {@link AgentCore}, started and stopped as one. Several may live in one process.
 *
 * <p>{@link #start} returns when engines can connect; registration goes on behind, and until it has ended requests are answered from what
 * is here. Safe for use by several threads. Trade-off: a host pool, seven to a dozen threads, and a few Kafka clients per agent.
 */
public final class AgentApp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentApp.class);

    private final AgentConfig config;
    private final String name;
    private final Closers closers = new Closers();
    private final CompletableFuture<Long> registered = new CompletableFuture<>();
    private final CompletableFuture<AgentPhase> drained = new CompletableFuture<>();
    private final CompletableFuture<AgentEnd> ended = new CompletableFuture<>();
    private final AtomicReference<@Nullable AgentEnd> end = new AtomicReference<>();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final AgentLoop loop;
    private final Optional<StatusPage> page;
    /** Where the ports answer: the loop, past the page that measures them. */
    private final Consumer<AgentInput> posts;
    private final Optional<SpanExport> spans;
    private final RequestTraces traces;
    private final SharedStore store;
    private final Optional<BlockFile> disk;
    private final Optional<LastProcess> last;
    private final Optional<DiskWalk> diskWalk;
    private final DeviceMemory device;
    private final DeviceStreams streams;
    private final LogLink link;
    private final EngineServer engines;
    private final Optional<PeerServer> peerServer;
    private final Optional<DirectoryPeers> peerFinder;
    private final Optional<PeerClient> peerClient;
    private final Registrations registrations;
    private volatile AgentStatus status;

    /**
     * Starts an agent.
     *
     * @throws io.tierlog.events.LogSetupException when the cluster does not answer in time or the log is not as it must be
     * @throws io.tierlog.events.registry.RegistryException when the registry does not answer, or refuses the schemas
     * @throws io.tierlog.agent.app.memory.HostMemoryException when the host pool does not fit
     * @throws DeviceUnavailableException when the device cannot be opened, or cannot reach the host pool
     * @throws DiskUnavailableException when the disk tier cannot be opened
     * @throws io.tierlog.agent.app.engine.EngineServerException when the port is taken, or the socket cannot be opened
     */
    public static AgentApp start(AgentConfig config) {
        return start(config, new PeerGate());
    }

    /** The same with a gate that stands before every chunk that is sent to other nodes. */
    public static AgentApp start(AgentConfig config, PeerGate gate) {
        return new AgentApp(config, gate);
    }

    private AgentApp(AgentConfig config, PeerGate gate) {
        this.config = config;
        this.name = "agent-" + config.node();
        boolean started = false;
        try {
            AgentLog log = openLog();
            spans = config.traces().map(collector -> closers.add(
                    "spans", new SpanExport(collector, "tierlog-agent", config.node(), SpanExport.Limits.DEFAULTS)));
            traces = spans.map(export -> new RequestTraces(export.tracer(), config.node(), SpanExport.epochNs())).orElseGet(RequestTraces::new);
            HostPool host = closers.add("host pool", HostPool.allocate(config.poolPages(), config.memory().blockBytes(), config.tuning().host()));
            store = closers.add("store", config.store().location().open(config.store().fsync()));
            disk = config.disk().map(tier -> closers.add("disk tier", DiskStart.open(tier, config.memory().blockBytes())));
            last = config.disk().map(tier -> new LastProcess(tier.directory(), config.node()));
            // Closed after the loop, which it puts to, and before the tier.
            diskWalk = disk.map(file -> closers.add("disk walk", new DiskWalk(name, file, this::putToLoop, this::failed)));
            loop = startLoop();
            page = config.status().map(where -> new StatusPage(where, config.tls(), config.memory().blockBytes()));
            posts = page.map(each -> each.ends(loop::post)).orElse(loop::post);
            device = DeviceStart.open(name, config.device());
            streams = closers.add("device", startStreams(host));
            StoreWorkers workers = closers.add("store workers", new StoreWorkers(name, store, host, config.tuning().workers(), posts));
            DiskTransfers diskWorkers = diskWorkers(host);
            link = closers.add("events", new LogLink(log, config.tuning().events(), this::logLost));
            DeadLetters deadLetters = closers.add("dead letters", new DeadLetters(config.log().kafka(), config.log().topics().deadLetters()));
            registrations = closers.add("registrations", new Registrations(new Registrations.Parts(
                    config.node(), link, loop, config.registrationTimeout(),
                    () -> new CommandSource(link.log(), config.log().readCommitted(), deadLetters, loop::put, this::failed), last, new Owner())));
            engines = engineServer();
            peerServer = config.peers().flatMap(AgentConfig.Peers::listen).map(listen -> peerServer(listen, host, gate));
            peerFinder = config.peers().flatMap(this::peerFinder);
            peerClient = config.peers().map(settings -> closers.add("peer reads", new PeerClient(
                    config.node(), host, new PeerClient.Access(settings.token(), config.tls()), settings.limits(), posts)));
            Ports ports = traces.around(new Ports(streams, workers, diskWorkers, engines.replies(), link, peerPorts()));
            AgentCore core = new AgentCore(config.tuning().core(), registration(), page.map(each -> each.measured(ports)).orElse(ports));
            status = core.status();
            loop.start(new Driver(core));
            engines.start();
            page.ifPresent(this::serve);
            closers.add("clock watch", new ClockWatch(name, byMs -> link.lose(new EventsLostException(
                    "the system clock was set back by " + byMs / 1_000 + " s, for as long Kafka's clients may stand still"))));
            registrations.begin(false);
            diskWalk.ifPresent(DiskWalk::tell);
            started = true;
        } finally {
            if (!started) {
                closers.close();
            }
        }
    }

    // --- the steps of a start, in their order

    private AgentLoop startLoop() {
        AgentConfig.Tuning tuning = config.tuning();
        long originNs = System.nanoTime();
        return closers.add("loop", new AgentLoop(
                name, tuning.inboxCalls(), tuning.inboxRecords(), () -> (System.nanoTime() - originNs) / 1_000_000, this::failed));
    }

    private EngineServer engineServer() {
        EngineServer.Wiring wiring = new EngineServer.Wiring(
                config.node(), new AgreedLayouts(config.memory().layouts(), config.ranks()), loop::offer, loop::post,
                new DevicePools(device, streams), this::health);
        EngineServer server = new EngineServer(config.engine(), config.tls().of(TlsFiles.Plain.ENGINE), wiring, config.tuning().engine(),
                page.map(StatusPage::calls).stream().toArray(ServerInterceptor[]::new));
        closers.add("engine API", () -> server.close(endReason()));
        return server;
    }

    private void serve(StatusPage shown) {
        closers.add("status page", shown).serve(new StatusPage.Sources(config.node(), () -> status, loop, link::sink, config.tuning().events(),
                registrations::commands, engines, streams, peerFinder, disk, config.log().kafka().signing()));
    }

    private DiskTransfers diskWorkers(HostPool host) {
        return disk.<DiskTransfers>map(file -> closers.add("disk workers", new DiskWorkers(name, file, host::page, posts)))
                .orElseGet(NoDisk::new);
    }

    private Optional<PeerPorts> peerPorts() {
        return peerClient.map(client -> new PeerPorts(
                peerFinder.<PeerFinder>map(finder -> finder).orElseGet(() -> new NoopPeerFinder(loop::post)), client,
                peerServer.<PeerReplies>map(server -> server).orElseGet(NoopPeerReplies::new)));
    }

    private Optional<DirectoryPeers> peerFinder(AgentConfig.Peers settings) {
        DirectoryPeers.Bounds bounds = new DirectoryPeers.Bounds(
                Math.max(1, config.tuning().core().peers().findMs()), settings.limits().lookups());
        return settings.directory().map(directory -> closers.add(
                "peer finder", new DirectoryPeers(config.node(), directory.with(config.tls()), bounds, loop::post)));
    }

    private PeerServer peerServer(PeerAddress listen, HostPool host, PeerGate gate) {
        AgentConfig.Peers settings = config.peers().orElseThrow();
        PeerServer.Wiring wiring = new PeerServer.Wiring(listen, settings.token(), config.tls(), host, loop::offer, posts, gate);
        return closers.add("peer API", new PeerServer(name, wiring, settings.limits())).start();
    }

    /** Where other agents read from this one; null when they may not. */
    private @Nullable String peerAddress() {
        return peerServer.map(server -> config.peers().flatMap(AgentConfig.Peers::advertise)
                .orElseGet(() -> new PeerAddress(config.peers().flatMap(AgentConfig.Peers::listen).orElseThrow().host(), server.port()))
                .toString()).orElse(null);
    }

    private boolean putToLoop(AgentInput input) throws InterruptedException {
        return loop.put(input);
    }

    private DeviceStreams startStreams(HostPool host) {
        LOG.info("agent {}: {}, host pool of {} blocks: {}", config.node(), device.facts(), host.pages(), host.facts());
        try {
            return DeviceStreams.start(name, device, host, config.tuning().streams(), posts);
        } catch (DeviceFault e) {
            throw new DeviceUnavailableException("the host pool cannot be registered with the device: " + e.getMessage(), e);
        }
    }

    /** The loop's view of the core. */
    private final class Driver implements AgentLoop.Machine {
        private final AgentCore core;
        private long spokeAs;

        Driver(AgentCore core) {
            this.core = core;
        }

        @Override
        public void on(AgentInput input, long nowMs) {
            traces.before(input);
            core.on(input, nowMs);
        }

        @Override
        public long nextDeadlineMs() {
            return core.nextDeadlineMs();
        }

        @Override
        public void rested() {
            AgentStatus now = core.status();
            status = now;
            if (now.incarnation() > 0) {
                registered.complete(now.incarnation());
                spokeAs = now.incarnation();
            } else if (spokeAs > 0 && now.phase() == AgentPhase.UNREGISTERED) {
                registerAgain(spokeAs, now);
                spokeAs = 0;
            }
            registrations.giveUpFullBuffer();
            if (now.diskOpen()) {
                diskWalk.ifPresent(walk -> walk.ask(store));
            }
            if (now.phase() == AgentPhase.STOPPED && drained.complete(now.phase()) && !stopping.get()) {
                finish(new AgentEnd(AgentEnd.Kind.FENCED, "node " + config.node() + ": another process has taken its name, so incarnation "
                        + now.incarnation() + " has ended; run one agent for each node name"));
            }
        }
    }

    // --- what others see

    /** Name of the node. */
    public String node() {
        return config.node();
    }

    /** Random id of this process. */
    public String processId() {
        return link.log().processId();
    }

    /** Port of the engine API on loopback; -1 when it has none. */
    public int enginePort() {
        return engines.port();
    }

    /** Port of metrics and health; -1 when there is none. */
    public int statusPort() {
        return page.map(StatusPage::port).orElse(-1);
    }

    /** How its questions to the directory have ended; empty when it asks none. */
    public Optional<DirectoryPeers.Lookups> lookups() {
        return peerFinder.map(DirectoryPeers::lookups);
    }

    /** What has become of spans; all 0 when traces are off. */
    public SpanExport.Counts spans() {
        return spans.map(SpanExport::counts).orElse(SpanExport.Counts.NONE);
    }

    /** Trace contexts of engines that were malformed, and so ignored, count. */
    public long malformedTraces() {
        return engines.malformedTraces();
    }

    /** What is on its way from other nodes, and has come from them, in bytes. */
    public PeerTraffic peerTraffic() {
        return peerClient.map(client -> new PeerTraffic(client.bytesInFlight(), client.bytesReceived())).orElse(PeerTraffic.NONE);
    }

    /**
     * What an agent reads from other nodes, in bytes.
     *
     * @param inFlight of the units that are under way
     * @param received so far, whatever became of them
     */
    public record PeerTraffic(long inFlight, long received) {
        static final PeerTraffic NONE = new PeerTraffic(0, 0);
    }

    /** How the agent was after its last batch of inputs. */
    public AgentStatus status() {
        return status;
    }

    /** Completes with the incarnation once the controller has accepted this process; exceptionally when it refused. */
    public CompletionStage<Long> registered() {
        return registered.copy();
    }

    /** Completes when the agent has ended, for whatever reason, and everything is closed. */
    public CompletionStage<AgentEnd> ended() {
        return ended.copy();
    }

    /** Commands for this node that could not be read, count. */
    public long unreadableCommands() {
        return registrations.unreadable();
    }

    /** Commands for this node that were refused because of their code, count. */
    public long forgedCommands() {
        return registrations.forged();
    }

    /** Objects of the store found wrong, count. */
    public long wrongObjects() {
        return store.wrongObjects();
    }

    /** How the disk tier is; empty when there is none. */
    public Optional<DiskStatus> diskStatus() {
        return disk.map(BlockFile::status);
    }

    /** Events that the log has not acknowledged yet, count. */
    public int unacknowledgedEvents() {
        return link.sink().unacknowledged();
    }

    /**
     * Stops: new work is refused, transfers end (within the time-out), the log and the engines receive a goodbye, and everything is closed.
     * A second close has no effect.
     */
    @Override
    public void close() {
        finish(new AgentEnd(AgentEnd.Kind.STOPPED, "the agent was stopped"));
        try {
            ended.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of an agent has no exception", e);
        }
    }

    // --- start

    private AgentLog openLog() {
        AgentConfig.Log settings = config.log();
        int partitions;
        try (TopicAdmin admin = new TopicAdmin(settings.kafka())) {
            AclTable.require(admin, settings.topics(), AccessRole.AGENT);
            partitions = admin.check(settings.topics());
        }
        Codec codec = new Codec(settings.registry().isEmpty()
                ? Schemas.bundled()
                : closers.add("registry", new RegistryClient(settings.registry().get())));
        // All ids now: later the core's thread must not wait for a registry.
        codec.prepare(settings.topics().events(), Event.class);
        return new AgentLog(settings.kafka(), settings.topics(), partitions, codec, config.node(), UUID.randomUUID().toString());
    }

    private Registration registration() {
        return new Registration(
                config.node(),
                config.memory().layouts(),
                config.layoutDigest(),
                config.memory().blockBytes(),
                config.memory().hostBlocks(),
                config.diskBlocks());
    }

    private List<TierCapacity> capacities() {
        TierCapacity host = new TierCapacity(Tier.HOST, config.memory().hostBlocks(), config.memory().blockBytes());
        return config.diskBlocks() == 0
                ? List.of(host)
                : List.of(host, new TierCapacity(Tier.DISK, config.diskBlocks(), config.memory().blockBytes()));
    }

    private Event registering(Envelope envelope) {
        Map<String, String> effective = config.effective();
        StringBuilder lines = new StringBuilder();
        effective.forEach((key, value) -> lines.append(key).append('=').append(value).append('\n'));
        return new AgentRegistering(
                envelope,
                config.node(),
                link.log().processId(),
                Optional.ofNullable(AgentApp.class.getPackage().getImplementationVersion()).orElse("dev"),
                capacities(),
                config.memory().layouts(),
                config.layoutDigest(),
                config.nodesPerInstance(),
                config.ranks(),
                effective,
                Bytes.wrapUnshared(Sha256.of(lines.toString())),
                registrations.spokenFor(),
                peerAddress(),
                false);
    }

    /** Its incarnation has ended: it asks again, and keeps what it holds and who is connected. */
    private void registerAgain(long spokeAs, AgentStatus now) {
        LOG.warn("agent {}: its incarnation {} has ended{}; it registers again with {} blocks on the host", config.node(), spokeAs,
                link.isLost() ? "" : ", since the controller received nothing from it for too long", now.usage().getFirst().servingBlocks());
        diskWalk.ifPresent(DiskWalk::askAgain);
        link.sink().incarnation(0);
        registrations.begin(true);
    }

    /** The log misses what this process reported: it goes on as another, with all that it holds. */
    private void logLost(EventsLostException why) {
        if (why.isRefusal()) {
            failed(why);
        } else if (!stopping.get()) {
            LOG.warn("agent {}: {}. Engines are answered from what is here; it registers again, as another process, when the brokers answer",
                    config.node(), why.getMessage());
            loop.post(new AgentInput.LogLost());
        }
    }

    private final class Owner implements Registrations.Owner {
        @Override
        public boolean isStopping() {
            return stopping.get();
        }

        @Override
        public Event registering(Envelope envelope) {
            return AgentApp.this.registering(envelope);
        }

        @Override
        public void refused(RegistrationRefusedException why) {
            registered.completeExceptionally(why);
            finish(new AgentEnd(AgentEnd.Kind.REFUSED, String.valueOf(why.getMessage())));
        }

        @Override
        public void failed(Throwable why) {
            AgentApp.this.failed(why);
        }
    }

    private EngineApiHealth health() {
        AgentStatus now = status;
        return new EngineApiHealth(
                now.onTheLog(),
                now.incarnation(),
                free(now, Tier.HOST),
                free(now, Tier.DISK),
                now.waitingRequests(),
                now.activeOperations());
    }

    private static int free(AgentStatus now, Tier tier) {
        return Math.toIntExact(now.usage().stream().filter(usage -> usage.tier() == tier).mapToLong(TierUsage::freeBlocks).sum());
    }

    // --- end

    private void failed(Throwable failure) {
        if (finish(new AgentEnd(AgentEnd.Kind.FAILED, String.valueOf(failure.getMessage())))) {
            LOG.error("agent {} ends", config.node(), failure);
        }
    }

    /** The first end counts; it is brought about by a thread of its own, since those who notice are needed for it. */
    private boolean finish(AgentEnd why) {
        if (!end.compareAndSet(null, why)) {
            return false;
        }
        stopping.set(true);
        Thread.ofPlatform().name(name + "-end").start(() -> {
            try {
                if (why.kind() == AgentEnd.Kind.STOPPED || why.kind() == AgentEnd.Kind.REFUSED) {
                    drain();
                }
                if (why.kind() == AgentEnd.Kind.STOPPED && status.incarnation() == 0) {
                    // The registration may be in the log without an answer: it must not hold the node's name.
                    link.append(link.log().aggregate(), "", envelope -> new AgentStopping(envelope, link.log().processId()));
                }
                closers.close();
            } finally {
                registered.completeExceptionally(new IllegalStateException(why.detail()));
                ended.complete(why);
            }
        });
        return true;
    }

    private void drain() {
        Duration bound = config.tuning().stop();
        loop.post(new AgentInput.StopRequested());
        try {
            drained.get(bound.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            LOG.warn("agent {}: transfers have not ended within {} ms and are abandoned", config.node(), bound.toMillis());
        } catch (ExecutionException e) {
            throw new IllegalStateException("the drain has no exception", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String endReason() {
        AgentEnd why = end.get();
        return why == null ? "the agent did not start" : why.detail();
    }
}
