/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.Tokens;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.dashboard.streams.DashboardStreams;
import io.tierlog.ops.dashboard.web.ControllerCalls;
import io.tierlog.ops.dashboard.web.Explorer;
import io.tierlog.ops.dashboard.web.LogContents;
import io.tierlog.ops.dashboard.web.LogPosition;
import io.tierlog.ops.dashboard.web.LogWork;
import io.tierlog.ops.dashboard.web.PageServer;
import io.tierlog.ops.dashboard.web.Pages;
import io.tierlog.ops.dashboard.web.TimeTravel;
import io.tierlog.tls.Tls;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A running live page. It reads the log, and calls a controller only when an operator acts. Safe for use by several threads. */
public final class DashboardApp implements AutoCloseable {
    private static final long ROCKSDB_BYTES = 64L << 20;

    private final Closers closers = new Closers();
    private final DashboardStreams streams;
    private final PageServer server;
    private final String host;
    private final Tls tls;

    private DashboardApp(DashboardConfig config, boolean whenAsked) {
        host = config.listen().host();
        tls = config.tls();
        try {
            Tokens tokens = closers.add("tokens", Tokens.of(config.access(), config.tls()));
            try (TopicAdmin admin = new TopicAdmin(config.kafka())) {
                AclTable.require(admin, config.topics(), AccessRole.DASHBOARD);
                admin.check(config.topics());
            }
            SchemaIds ids = config.registry().<SchemaIds>map(each -> closers.add("registry", new RegistryClient(each))).orElseGet(Schemas::bundled);
            streams = closers.add("streams", new DashboardStreams(
                    new DashboardStreams.Settings(config.kafka(), config.topics(), config.applicationId(), config.stateDir(), ROCKSDB_BYTES),
                    new Codec(ids), config.limits()));
            Pages pages = new Pages(streams.tasks(),
                    () -> new LogPosition(streams.state(), streams.lag(), streams.brokersSilentMs(), streams.waitsFor()),
                    System::currentTimeMillis, config.operatorApi().isPresent());
            LogWork work = closers.add("log work", new LogWork());
            TimeTravel past = new TimeTravel(() -> new ClusterLog(config.kafka()), config.topics(), new Codec(ids), work, pages);
            LogContents.Tail tail = (most, toMs) -> new ClusterLog(config.kafka(), most, toMs);
            Explorer explorer = new Explorer(most -> tail.apply(most, Long.MAX_VALUE), config.topics(), new Codec(ids), work, past);
            LogContents contents = new LogContents(tail, config.topics(), config.snapshots(), work);
            server = closers.add("page server", new PageServer(new PageServer.Access(config.listen(), config.tls(), tokens), pages, past, explorer,
                    contents, closers.add("controller calls", new ControllerCalls(config.operatorApi(), config.tls())),
                    streams::start));
            // After the address is taken: a second page on the same address joins no group.
            if (!whenAsked) {
                streams.start();
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /**
     * Starts it; the pages are there at once, and say how far behind the log they are.
     *
     * @throws io.tierlog.events.LogSetupException when the brokers or the topics are not there or not as they must be
     * @throws io.tierlog.controller.http.ServerException when the address is taken, or the tokens cannot be used
     */
    public static DashboardApp start(DashboardConfig config) {
        return new DashboardApp(config, false);
    }

    /**
     * As {@link #start}, but it reads the log only once a browser asks for the first page: until then it takes no processor time from others in the
     * process. The first page then says how far behind the log it is.
     *
     * @throws io.tierlog.events.LogSetupException as {@link #start} does
     * @throws io.tierlog.controller.http.ServerException as {@link #start} does
     */
    public static DashboardApp startWhenAsked(DashboardConfig config) {
        return new DashboardApp(config, true);
    }

    /** Where browsers find it. */
    public String url() {
        return new Endpoint(host, server.port()).url(tls) + "/";
    }

    /** The port of the page. */
    public int port() {
        return server.port();
    }

    /** Whether it reads the log, or did until it was closed. */
    boolean reading() {
        return streams.started();
    }

    /** Waits until it has its partitions; false when that did not come about in time, or it has ended. */
    public boolean awaitRunning(Duration patience) throws InterruptedException {
        return streams.awaitRunning(patience);
    }

    /** Completes when it has ended by a failure. */
    public CompletableFuture<Throwable> ended() {
        return streams.ended();
    }

    /** Leaves the group and frees everything; at most about 12 s. Closing twice is harmless. */
    @Override
    public void close() {
        closers.close();
    }
}
