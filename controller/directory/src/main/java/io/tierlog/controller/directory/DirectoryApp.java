/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.directory.api.DirectoryRoutes;
import io.tierlog.controller.directory.api.DirectoryService;
import io.tierlog.controller.directory.api.LookupQueries;
import io.tierlog.controller.directory.api.PeerService;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.controller.directory.probe.PromotionProbes;
import io.tierlog.controller.directory.probe.PromotionRequests;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.directory.streams.DirectoryException;
import io.tierlog.controller.directory.streams.DirectoryStreams;
import io.tierlog.controller.directory.streams.LogPromotions;
import io.tierlog.controller.directory.streams.Owners;
import io.tierlog.controller.directory.streams.PromotionAnswers;
import io.tierlog.controller.directory.streams.ShardFanout;
import io.tierlog.controller.http.GrpcServer;
import io.tierlog.controller.http.HttpServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.ServerException;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.controller.http.TokenMetrics;
import io.tierlog.controller.http.Tokens;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.schemas.directory.Published;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running directory instance, alone in its process or beside a controller. Safe for use by several threads.
 *
 * <p>{@link #start} validates all it can and starts the servers; until partitions are there, here or elsewhere, answers are UNKNOWN.
 */
public final class DirectoryApp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryApp.class);
    /** Routers send many queries at once over one connection. */
    private static final int CALLS_PER_CONNECTION = 1_024;

    private final DirectoryConfig config;
    private final DirectoryExtensions extras;
    private final Closers closers = new Closers();
    private volatile Optional<ShardFanout> fanout = Optional.empty();
    private final Optional<DirectoryStreams> streams;
    private final LookupQueries questions;
    private int httpPort;
    private int grpcPort;
    private int statusPort = -1;

    private DirectoryApp(DirectoryConfig config, DirectoryExtensions extras) {
        this.config = config;
        this.extras = extras;
        try {
            int partitions = partitions(config);
            Codec codec = codec();
            LogPromotions.Log log = new LogPromotions.Log(config.kafka(), config.topics(), codec, partitions);
            PromotionAnswers answers = closers.add("promotion answers", new PromotionAnswers(log));
            PromotionRequests requests = extras.promotions().orElseGet(() -> closers.add("promotions", LogPromotions.connect(log, answers::expect)));
            PromotionProbes probes = closers.add("probes",
                    new PromotionProbes(requests, extras.probeLimits(), question -> fanout.map(one -> one.ask(question))));
            answers.listen(probes::answered);
            questions = new LookupQueries(() -> fanout, config.limits().keys(), config.costs(), Optional.of(probes));
            DirectoryStreams made = begin(codec, partitions, probes.counts());
            made.watch("replies", answers::state);
            streams = Optional.of(made);
        } catch (RuntimeException | Error e) {
            closers.close();
            throw e;
        }
    }

    /**
     * Starts an instance that hashes no tokens.
     *
     * @throws io.tierlog.events.LogSetupException when the broker or the topics are not there or not as they must be
     * @throws ServerException when an address is taken, or the tokens cannot be used
     * @throws DirectoryException when the registry or the state directory is not; nothing is left running
     */
    public static DirectoryApp start(DirectoryConfig config) {
        return new DirectoryApp(config, DirectoryExtensions.NONE);
    }

    /** Starts an instance with more than that; throws as {@link #start(DirectoryConfig)}. */
    public static DirectoryApp start(DirectoryConfig config, DirectoryExtensions extras) {
        return new DirectoryApp(config, extras);
    }

    private static int partitions(DirectoryConfig config) {
        try (TopicAdmin admin = new TopicAdmin(config.kafka())) {
            AclTable.require(admin, config.topics(), AccessRole.DIRECTORY);
            return admin.check(config.topics());
        }
    }

    private DirectoryStreams begin(Codec codec, int partitions, ProbeCounts probes) {
        Tokens tokens = closers.add("tokens", Tokens.scoped(config.endpoints().access(), config.tls()));
        Optional<String> own = config.endpoints().peerToken().map(DirectoryApp::token);
        DirectoryStreams made = new DirectoryStreams(config, codec, partitions, probes);
        closers.add("streams", made);
        TokenMetrics.register(tokens, made.metrics());
        config.endpoints().status().ifPresent(where -> {
            StatusServer server = new StatusServer("--directory-status-listen", where, config.tls(), made.metrics(), made::report);
            statusPort = closers.add("status server", server).port();
        });
        Listener grpcWhere = new Listener("--directory-grpc-listen", config.endpoints().grpc(), config.limits().server(), config.tls());
        DirectoryService service = new DirectoryService(tokens, questions, config.limits().server().requests(), made.metrics());
        GrpcServer grpc = new GrpcServer(grpcWhere,
                List.of(service, service.indexer(extras.indexer()), new PeerService(tokens, () -> fanout, config.limits().keys())),
                CALLS_PER_CONNECTION, DirectoryService.WAITLESS);
        grpcPort = closers.add("gRPC server", grpc).port();
        // After the server, whose error names the option of a wrong address.
        PeerTokens.warning(config.endpoints(), tokens, own).ifPresent(LOG::warn);
        Listener httpWhere = new Listener("--directory-listen", config.endpoints().http(), config.limits().server(), config.tls());
        HttpServer http = new HttpServer(httpWhere, tokens, new DirectoryRoutes(questions, extras.indexer()).all());
        httpPort = closers.add("HTTP server", http).port();
        String host = config.endpoints().advertised().orElse(config.endpoints().grpc().host());
        fanout = Optional.of(made.start(new Owners.Peer(host, grpcPort), own));
        return made;
    }

    private static String token(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new ServerException.TokensUnusable(file, String.valueOf(e.getMessage()), e);
        }
    }

    private Codec codec() {
        SchemaIds ids = config.registry().<SchemaIds>map(each -> closers.add("registry", new RegistryClient(each))).orElseGet(Schemas::bundled);
        Codec codec = new Codec(ids);
        try {
            codec.prepare(config.topics().placements(), Published.class);
        } catch (RegistryUnavailableException e) {
            throw new DirectoryException.RegistryUnreachable(e);
        }
        return codec;
    }

    /** The port of HTTP. */
    public int httpPort() {
        return httpPort;
    }

    /** The port of gRPC. */
    public int grpcPort() {
        return grpcPort;
    }

    /** The port of metrics and health; -1 when there is none. */
    public int statusPort() {
        return statusPort;
    }

    /** Answers keys, without a server. */
    public ShardFanout fanout() {
        return fanout.orElseThrow();
    }

    /** The queries, without a server. */
    public LookupQueries questions() {
        return questions;
    }

    /** Its Kafka Streams side. */
    public DirectoryStreams streams() {
        return streams.orElseThrow();
    }

    /** Waits until this instance has its partitions; false when that did not come about in time, or it has ended. */
    public boolean awaitRunning(Duration patience) throws InterruptedException {
        return streams().awaitRunning(patience);
    }

    /** Completes when it has ended: with the failure that ended it, or empty when it was closed. */
    public CompletableFuture<Optional<Throwable>> ended() {
        return streams().ended();
    }

    /** Leaves the group and frees everything; at most about 20 s. Closing twice is harmless. */
    @Override
    public void close() {
        closers.close();
    }
}
