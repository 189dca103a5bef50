/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.bridge.lmcache.CacheEndpoint;
import io.tierlog.agent.bridge.lmcache.CacheFeeds;
import io.tierlog.agent.bridge.lmcache.CacheParts;
import io.tierlog.agent.bridge.lmcache.CacheQueue;
import io.tierlog.agent.bridge.lmcache.CacheTopics;
import io.tierlog.agent.bridge.log.DecisionFollower;
import io.tierlog.agent.bridge.log.EventWriter;
import io.tierlog.agent.bridge.log.NodeSessions;
import io.tierlog.agent.bridge.source.CacheInstances;
import io.tierlog.agent.bridge.source.DnsSources;
import io.tierlog.agent.bridge.source.Followed;
import io.tierlog.agent.bridge.source.Source;
import io.tierlog.agent.bridge.source.SourceParts;
import io.tierlog.agent.bridge.source.SourceSpec;
import io.tierlog.agent.bridge.source.SourcesFile;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.BridgeCounts;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.threads.RareWarning;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * A running bridge. One thread owns the sockets, the books and the sessions; another one reads decisions. While the log takes no more events, no
 * engine is read: what its socket cannot keep is lost there, and shows as a gap. Safe for use by several threads.
 */
public final class BridgeApp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BridgeApp.class);
    private static final int MOST_NODES = 10_000;
    private static final long WAIT_MS = 20;
    private static final long TICK_MS = 50;
    private static final long FILE_MS = 500;
    private static final long RETRY_MS = 5_000;
    private static final long LOOK_MS = 5_000;
    private static final long CLOSE_MS = 10_000;
    /** Of LMCache. */
    private static final int WAITING_BATCHES = 10_000;
    private static final long WAITING_BYTES = 32L << 20;

    private final Closers closers = new Closers();
    private final ConcurrentLinkedQueue<Fact> decisions = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Throwable> ended = new CompletableFuture<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final BridgeCounts counts = new BridgeCounts();
    private final BridgeMetrics metrics = new BridgeMetrics(counts);
    private final HealthParts health = new HealthParts(metrics.registry());
    private final List<SourceSpec> fixed;
    private final Optional<SourcesFile> file;
    private final DnsSources names;
    private List<SourceSpec> ofFile = List.of();
    private List<SourceSpec> ofNames = List.of();
    private final Set<SourceSpec> wanted = new LinkedHashSet<>();
    private final Map<SourceSpec, Source> sources = new LinkedHashMap<>();
    /** Of wanted sources that are not open, when they are tried again. */
    private final Map<SourceSpec, Long> retryAtMs = new HashMap<>();
    private final List<Source> failed = new ArrayList<>();
    private final RareWarning leftOut = new RareWarning(LOG);
    private final ZContext context = new ZContext();
    private final EventWriter writer;
    private final NodeSessions sessions;
    private final SourceParts shared;
    private final Optional<CacheInstances> caches;
    private final Optional<CacheTopics> cacheTopics;
    private final Thread thread;
    private int statusPort = -1;
    private int cachePort = -1;

    private BridgeApp(BridgeConfig config) {
        try {
            fixed = config.sources();
            file = config.file().map(SourcesFile::new);
            ofFile = file.map(SourcesFile::read).orElse(List.of());
            want();
            EventWriter.Log log = log(config);
            writer = closers.add("event writer", new EventWriter(log, this::fail));
            sessions = new NodeSessions(writer, log.processId(), MOST_NODES);
            shared = new SourceParts(config.rules(), sessions, writer, counts);
            names = closers.add("names", new DnsSources(config.names(), InetAddress::getAllByName, LOOK_MS));
            closers.add("decisions", new DecisionFollower(log, sessions::contains, decisions::add, this::fail));
            closers.add("ZeroMQ", context);
            for (SourceSpec spec : fixed) {
                if (spec.bind() && !sources.containsKey(spec)) {
                    // Its own address comes by no waiting.
                    sources.put(spec, new Source(spec, shared, context));
                }
            }
            arrange(nowMs());
            CacheFeeds feeds = config.lmcache();
            CacheParts cacheParts = new CacheParts(new CacheQueue(WAITING_BATCHES, WAITING_BYTES), writer, counts);
            caches = feeds.isEmpty()
                    ? Optional.empty() : Optional.of(new CacheInstances(cacheParts.queue(), shared, context, feeds.topics().isEmpty()));
            cacheTopics = feeds.topics().isEmpty()
                    ? Optional.empty() : Optional.of(closers.add("LMCache's topics", new CacheTopics(feeds, cacheParts)));
            feeds.http().ifPresent(http -> cachePort =
                    closers.add("LMCache's endpoint", new CacheEndpoint(http, config.tls(), cacheParts)).port());
            health.add("bridge", () -> ended.isDone()
                    ? HealthParts.State.failed("it has ended: " + ended.join().getMessage()) : HealthParts.State.WELL);
            health.add("events", () -> writer.congested()
                    ? HealthParts.State.degraded("the log takes no more events now: engines are not read") : HealthParts.State.WELL);
            health.add("sources", metrics::sources);
            config.status().ifPresent(where -> {
                StatusServer server = new StatusServer("--bridge-status-listen", where, config.tls(), metrics.registry(), this::report);
                statusPort = closers.add("status server", server).port();
            });
            thread = Thread.ofPlatform().name("bridge").start(this::run);
        } catch (RuntimeException | Error e) {
            closers.close();
            throw e;
        }
    }

    /**
     * Starts a bridge.
     *
     * @throws IllegalArgumentException when the bridge cannot bind to the address of a source, or the file of sources cannot be read
     * @throws io.tierlog.events.LogSetupException when the broker or the topics are not there or not as they must be
     */
    public static BridgeApp start(BridgeConfig config) {
        return new BridgeApp(config);
    }

    private EventWriter.Log log(BridgeConfig config) {
        int partitions;
        try (TopicAdmin admin = new TopicAdmin(config.access())) {
            AclTable.require(admin, config.topics(), AccessRole.AGENT);
            partitions = admin.check(config.topics());
        }
        Codec codec = new Codec(
                config.registry().<SchemaIds>map(each -> closers.add("registry", new RegistryClient(each))).orElseGet(Schemas::bundled));
        // All ids now: later the bridge's thread must not wait for a registry.
        codec.prepare(config.topics().events(), Event.class);
        return new EventWriter.Log(config.access(), config.topics(), partitions, codec, UUID.randomUUID().toString());
    }

    private void run() {
        try {
            long nextTickMs = 0;
            long nextFileMs = 0;
            ZMQ.Poller poller = poller();
            boolean worked = false;
            while (!closing.get()) {
                if (writer.congested()) {
                    LockSupport.parkNanos(WAIT_MS * 1_000_000);
                } else if (!worked) {
                    poller.poll(WAIT_MS);
                }
                long nowMs = nowMs();
                decide(nowMs);
                worked = receive(nowMs);
                boolean arranged = drop();
                if (nowMs >= nextTickMs) {
                    nextTickMs = nowMs + TICK_MS;
                    sources.values().forEach(source -> guarded(nowMs, source, () -> source.tick(nowMs)));
                    sessions.tick(nowMs);
                    caches.ifPresent(each -> each.tick(nowMs));
                    measure();
                }
                arranged |= drop();
                if (nowMs >= nextFileMs) {
                    nextFileMs = nowMs + FILE_MS;
                    file.flatMap(SourcesFile::changed).ifPresent(changed -> ofFile = changed);
                    names.changed().ifPresent(changed -> ofNames = changed);
                    want();
                    arranged |= arrange(nowMs);
                }
                if (arranged) {
                    poller.close();
                    poller = poller();
                }
            }
            poller.close();
        } catch (RuntimeException | Error e) {
            fail(e);
        } finally {
            sources.values().forEach(Source::close);
            caches.ifPresent(CacheInstances::close);
            sessions.stop();
        }
    }

    private void measure() {
        List<Followed> all = new ArrayList<>(sources.values());
        caches.ifPresent(all::add);
        int without = wanted.size() - sources.size() + (cacheTopics.filter(topics -> !topics.isReading()).isPresent() ? 1 : 0);
        metrics.measure(all, without, sessions.registered());
    }

    private static long nowMs() {
        return System.nanoTime() / 1_000_000;
    }

    private ZMQ.Poller poller() {
        ZMQ.Poller poller = context.createPoller(Math.max(1, sources.size()));
        sources.values().forEach(source -> poller.register(source.socket(), ZMQ.Poller.POLLIN));
        return poller;
    }

    private void decide(long nowMs) {
        // A node that is accepted reports all its blocks at once: when many are, each waits until the events of those before it have left.
        while (!writer.congested()) {
            Fact fact = decisions.poll();
            if (fact == null) {
                return;
            }
            sessions.find(fact.envelope().aggregate()).ifPresent(session -> session.decided(nowMs, fact));
        }
    }

    /** Takes a little from each source in turn; false when nothing was there, or the log takes no more now. */
    private boolean receive(long nowMs) {
        AtomicInteger messages = new AtomicInteger();
        for (Source source : sources.values()) {
            if (writer.congested()) {
                return false;
            }
            guarded(nowMs, source, () -> messages.addAndGet(source.receive(nowMs)));
        }
        caches.ifPresent(each -> messages.addAndGet(each.receive(nowMs)));
        return messages.get() > 0;
    }

    /** What one source cannot bear ends that source for a while, and none of the others. */
    private void guarded(long nowMs, Source source, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            LOG.error("{} has failed, and is opened again in {} s", source.spec().endpoint(), RETRY_MS / 1_000, e);
            counts.add(BridgeCounter.SOURCE_FAILURES, 1);
            retryAtMs.put(source.spec(), nowMs + RETRY_MS);
            failed.add(source);
        }
    }

    /** Closes the sources that have failed; true when there were some. */
    private boolean drop() {
        failed.forEach(Source::close);
        boolean some = sources.values().removeAll(failed);
        failed.clear();
        return some;
    }

    private void want() {
        wanted.clear();
        wanted.addAll(fixed);
        wanted.addAll(ofFile);
        wanted.addAll(ofNames);
        retryAtMs.keySet().retainAll(wanted);
    }

    /** Closes what is no longer wanted, and opens what is and is not open; true when it did. */
    private boolean arrange(long nowMs) {
        List<SourceSpec> over = sources.keySet().stream().filter(spec -> !wanted.contains(spec)).toList();
        for (SourceSpec spec : over) {
            LOG.info("{} is no longer listened to", spec.endpoint());
            Source source = sources.remove(spec);
            if (source != null) {
                source.close();
            }
        }
        boolean opened = false;
        for (SourceSpec spec : wanted) {
            if (!sources.containsKey(spec) && nowMs >= retryAtMs.getOrDefault(spec, nowMs)) {
                opened |= open(nowMs, spec);
            }
        }
        return opened || !over.isEmpty();
    }

    private boolean open(long nowMs, SourceSpec spec) {
        try {
            sources.put(spec, new Source(spec, shared, context));
            retryAtMs.remove(spec);
            LOG.info("{} is listened to", spec.endpoint());
            return true;
        } catch (RuntimeException e) {
            leftOut.warn("a source is left out, and tried again every {} s: {}", RETRY_MS / 1_000, e.toString());
            counts.add(BridgeCounter.SOURCE_FAILURES, 1);
            retryAtMs.put(spec, nowMs + RETRY_MS);
            return false;
        }
    }

    private void fail(Throwable failure) {
        ended.complete(failure);
    }

    private StatusServer.Report report() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        metrics.report(body);
        body.put("failed", ended.isDone());
        return new StatusServer.Report(health.describe(body) != HealthParts.Level.FAILED, body);
    }

    /** What it has counted. */
    public BridgeCounts counts() {
        return counts;
    }

    /** Nodes that the controller has accepted, count. */
    public int registered() {
        return sessions.registered();
    }

    /** The port of metrics and health; -1 when there is none. */
    public int statusPort() {
        return statusPort;
    }

    /** The port to which LMCache posts its events; -1 when there is none. */
    public int cachePort() {
        return cachePort;
    }

    /** Completes with the failure that ends it. */
    public CompletableFuture<Throwable> ended() {
        return ended;
    }

    /** Says that its nodes end, and gives everything back; at most some 20 s. Closing twice is harmless. */
    @Override
    public void close() {
        closing.set(true);
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closers.close();
    }
}
