/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.bridge.publish.BatchLog.Numbered;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.HttpServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.ServerLimits;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.controller.http.Tokens;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.tls.Tls;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * A running publisher: the placements of Tierlog's own nodes and of its store as the events of an engine, a stream for each partition of the log. One
 * thread reads the log and publishes, another one answers replays. Safe for use by several threads.
 */
public final class PublishApp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PublishApp.class);
    /** As vLLM's: what a subscriber does not take beyond it is dropped for that subscriber, who sees a gap and asks. */
    private static final int QUEUED_MESSAGES = 100_000;
    private static final int LARGEST_QUESTION = 1_024;
    private static final int HANDSHAKE_MS = 10_000;
    private static final ServerLimits HTTP_LIMITS = new ServerLimits(1 << 10, 4, 64);
    /** Batches after which a webhook loses its place. */
    private static final long MOST_BEHIND = 100_000;
    private static final int LAST_PORT = 65_535;
    private static final long CLOSE_MS = 10_000;

    private final Closers closers = new Closers();
    /** What ends all threads of the parts, before any of them is waited for. */
    private final List<Runnable> signals = new ArrayList<>();
    private final CompletableFuture<Throwable> ended = new CompletableFuture<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final PublishCounts counts = new PublishCounts();
    private final HealthParts health = new HealthParts(counts.registry());
    private final ZContext context = new ZContext();
    private final List<ZMQ.Socket> publishers = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private final List<String> replays = new ArrayList<>();
    private final BatchLog log;
    private final LiveStream live;
    private final BatchForm form;
    private final Tls tls;
    private final Thread thread;
    private int statusPort = -1;
    private int httpPort = -1;

    private PublishApp(PublishConfig config) {
        form = config.content().shape().form();
        tls = config.tls();
        try {
            int partitions;
            try (TopicAdmin admin = new TopicAdmin(config.access())) {
                partitions = admin.check(config.topics());
                AclTable.require(admin, config.topics(), AccessRole.PUBLISHER);
            }
            Codec codec = new Codec(
                    config.registry().<SchemaIds>map(each -> closers.add("registry", new RegistryClient(each))).orElseGet(Schemas::bundled));
            log = new BatchLog(config.access(), config.topics(), codec, config.content().tiers());
            closers.add("ZeroMQ", context);
            live = closers.add("log", new LiveStream(log, partitions));
            List<ZMQ.Socket> routers = new ArrayList<>();
            for (int partition = 0; partition < partitions; partition++) {
                publishers.add(publisher(config, partition));
                routers.add(router(config, partition));
            }
            while (!live.isCaughtUp()) {
                live.advance(() -> true, this::publish);
            }
            Tokens tokens = Tokens.of(config.http().tokens());
            config.http().listen().ifPresent(where -> {
                EventPage page = new EventPage(log, live.indexes(), counts);
                Listener at = new Listener("--http-listen", where, HTTP_LIMITS, config.tls());
                HttpServer server = closers.add("HTTP server", new HttpServer(at, tokens, List.of(), List.of(page.page())));
                signals.add(page::stop);
                httpPort = server.port();
            });
            for (URI url : config.http().webhooks()) {
                for (int partition = 0; partition < partitions; partition++) {
                    signals.add(closers.add("webhook", webhook(url, partition, MOST_BEHIND))::stop);
                }
            }
            ReplayServer.Parts replayed = new ReplayServer.Parts(log, live.indexes(), config.content().shape(), counts);
            signals.add(closers.add("replay server", new ReplayServer(context, routers, replayed, this::fail))::stop);
            health.add("publisher", () -> ended.isDone()
                    ? HealthParts.State.failed("it has ended: " + ended.join().getMessage()) : HealthParts.State.WELL);
            config.status().ifPresent(where -> {
                StatusServer server = new StatusServer("--publish-status-listen", where, config.tls(), counts.registry(), this::report);
                statusPort = closers.add("status server", server).port();
            });
            thread = Thread.ofPlatform().name("publish").start(this::run);
        } catch (RuntimeException | Error e) {
            signals.forEach(Runnable::run);
            closers.close();
            throw e;
        }
    }

    /**
     * Starts a publisher; returns when it has counted the batches of the log.
     *
     * @throws IllegalArgumentException when it cannot bind to an address
     * @throws io.tierlog.events.LogSetupException when the broker or the topics are not there or not as they must be
     */
    public static PublishApp start(PublishConfig config) {
        return new PublishApp(config);
    }

    private ZMQ.Socket publisher(PublishConfig config, int partition) {
        ZMQ.Socket socket = context.createSocket(SocketType.PUB);
        socket.setLinger(0);
        socket.setSndHWM(QUEUED_MESSAGES);
        socket.setHandshakeIvl(HANDSHAKE_MS);
        events.add(bound("--events", socket, config.events(), partition));
        config.connect().forEach(socket::connect);
        return socket;
    }

    private ZMQ.Socket router(PublishConfig config, int partition) {
        ZMQ.Socket socket = context.createSocket(SocketType.ROUTER);
        socket.setLinger(0);
        socket.setRouterMandatory(true);
        socket.setMaxMsgSize(LARGEST_QUESTION);
        socket.setHandshakeIvl(HANDSHAKE_MS);
        replays.add(bound("--replay", socket, config.replay(), partition));
        return socket;
    }

    private static String bound(String flag, ZMQ.Socket socket, String first, int partition) {
        int colon = first.lastIndexOf(':') + 1;
        String port = first.substring(colon);
        int number = port.equals("*") ? 0 : Integer.parseInt(port) + partition;
        String address = port.equals("*") ? first : first.substring(0, colon) + number;
        try {
            if (number > LAST_PORT || !socket.bind(address)) {
                throw new IllegalArgumentException(flag + ": cannot listen at " + address + ": there is no such port");
            }
        } catch (ZMQException e) {
            throw new IllegalArgumentException(flag + ": cannot listen at " + address + " for partition " + partition + ": " + e.getMessage()
                    + "; every partition needs a port of its own: give another first one", e);
        }
        return String.valueOf(socket.getLastEndpoint());
    }

    /** Posts the batches of a partition, as they come, to a receiver that may be so many behind. */
    Webhook webhook(URI url, int partition, long mostBehind) {
        return webhook(url, partition, mostBehind, going -> going);
    }

    /** For tests: the cursor asks what {@code asked} makes of its question whether to go on. */
    Webhook webhook(URI url, int partition, long mostBehind, UnaryOperator<BooleanSupplier> asked) {
        BatchIndex index = live.indexes().get(partition);
        return new Webhook(url, tls, going -> new LogCursor(log, index, partition, asked.apply(going)), index, counts, mostBehind);
    }

    private void run() {
        try {
            while (!closing.get()) {
                live.advance(() -> !closing.get(), this::publish);
            }
        } catch (RuntimeException | Error e) {
            if (!closing.get()) {
                fail(e);
            }
        } finally {
            publishers.forEach(ZMQ.Socket::close);
        }
    }

    private void publish(Numbered numbered) {
        ZMQ.Socket socket = publishers.get(numbered.partition());
        socket.send(numbered.batch().topic().getBytes(StandardCharsets.UTF_8), ZMQ.SNDMORE);
        socket.send(ReplayAnswer.number(numbered.seq()), ZMQ.SNDMORE);
        socket.send(BatchWriter.payload(numbered.batch(), form), 0);
        counts.add(PublishCounter.BATCHES, 1);
    }

    private void fail(Throwable failure) {
        LOG.error("the publisher ends", failure);
        ended.complete(failure);
    }

    private StatusServer.Report report() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("failed", ended.isDone());
        live.indexes().forEach(index -> body.withArray("nextBatches").add(index.next()));
        return new StatusServer.Report(health.describe(body) != HealthParts.Level.FAILED, body);
    }

    /** Addresses of the events, by partition. */
    public List<String> events() {
        return List.copyOf(events);
    }

    /** Addresses of the replays, by partition. */
    public List<String> replays() {
        return List.copyOf(replays);
    }

    /** What it has counted. */
    public PublishCounts counts() {
        return counts;
    }

    /** The port of server-sent events; -1 when there is none. */
    public int httpPort() {
        return httpPort;
    }

    /** The port of metrics and health; -1 when there is none. */
    public int statusPort() {
        return statusPort;
    }

    /** Completes with the failure that ends it. */
    public CompletableFuture<Throwable> ended() {
        return ended;
    }

    /** Gives everything back; at most some 20 s. Closing twice is harmless. */
    @Override
    public void close() {
        closing.set(true);
        signals.forEach(Runnable::run);
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closers.close();
    }
}
