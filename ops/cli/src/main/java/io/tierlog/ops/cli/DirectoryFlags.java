/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.DirectoryExtensions;
import io.tierlog.controller.directory.api.ChainedCbor;
import io.tierlog.controller.directory.api.QueryNamespaces;
import io.tierlog.controller.directory.api.TokenHasher;
import io.tierlog.controller.directory.api.TokenHashers;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.directory.streams.DirectoryException;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.ServerException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a directory is asked; the same for one alone and for one beside a controller. */
final class DirectoryFlags {
    private static final int COSTS = 5;

    @Option(
            names = "--directory-listen",
            paramLabel = "HOST:PORT",
            description = "Where the directory is asked over HTTP (default: ${DEFAULT-VALUE}).")
    String listen = "127.0.0.1:8082";

    @Option(
            names = "--directory-grpc-listen",
            paramLabel = "HOST:PORT",
            description = "Where it is asked over gRPC, by other instances too (default: ${DEFAULT-VALUE}).")
    String grpcListen = "127.0.0.1:8083";

    @Option(
            names = "--directory-status-listen",
            paramLabel = "HOST:PORT",
            description = "Where its /metrics and /health are served, or 'none' (default: ${DEFAULT-VALUE}).")
    String statusListen = "127.0.0.1:8084";

    @Option(
            names = "--directory-host",
            paramLabel = "HOST",
            description = "Name by which other instances reach that port (default: the one of --directory-grpc-listen).")
    @Nullable String advertised;

    @Option(names = "--peer-token-file", paramLabel = "FILE", description = "File with an operator's token by which instances come in to each other.")
    @Nullable Path peerToken;

    @Option(
            names = "--costs",
            paramLabel = "US",
            split = ",",
            description = "What a block costs from the own host, the own disk, the store, another host, another disk: five numbers in microseconds."
                    + " The last three are best those of the policy (fetch.peers), by which nodes read; the default has those of the default policy.")
    List<Long> costs = List.of();

    @Option(
            names = "--query-namespace",
            paramLabel = "TEXT",
            description = "Namespace of a /query, with {model}, {tenant}, {lora} and {salt} (default: ${DEFAULT-VALUE}).")
    String queryNamespace = "{model}";

    @Option(
            names = "--token-hash",
            paramLabel = "MODEL=HASH",
            description = "How the keys of a model follow from its tokens, for /query: sha256_cbor:SEED or sha256_cbor_64bit:SEED, as vLLM has it"
                    + " with PYTHONHASHSEED=SEED. Can be given for several models.")
    List<String> tokenHashes = List.of();

    /** What an instance is started with, for those who have one of the tokens. */
    DirectoryConfig config(ClusterOptions cluster, Path stateDir, Optional<Path> tokens, boolean insecure) {
        Optional<Endpoint> status = statusListen.equals("none") ? Optional.empty() : Optional.of(Endpoint.parse(statusListen));
        DirectoryConfig.Endpoints endpoints = new DirectoryConfig.Endpoints(
                Endpoint.parse(listen), Endpoint.parse(grpcListen), Optional.ofNullable(advertised),
                status, tokens, Optional.ofNullable(peerToken), insecure);
        return DirectoryConfig.of(cluster.kafka(), cluster.topics(), stateDir)
                .withRegistry(cluster.registry())
                .withCosts(costs())
                .withEndpoints(endpoints);
    }

    private Costs costs() {
        if (costs.isEmpty()) {
            return Costs.DEFAULTS;
        }
        if (costs.size() != COSTS) {
            throw new IllegalArgumentException("--costs takes five numbers, not " + costs.size());
        }
        return new Costs(costs.get(0), costs.get(1), costs.get(2), costs.get(3), costs.get(4));
    }

    /** Starts an instance; what is wrong becomes an error that says what to do. */
    DirectoryApp start(DirectoryConfig config) {
        try {
            DirectoryExtensions extras =
                    new DirectoryExtensions(Optional.empty(), DirectoryExtensions.NONE.probeLimits(), hashers(), new QueryNamespaces(queryNamespace));
            return ClusterOptions.checked(() -> DirectoryApp.start(config, extras));
        } catch (DirectoryException | ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        } catch (IllegalArgumentException e) {
            throw new CliError(String.valueOf(e.getMessage()), "look at --query-namespace and --token-hash", CliError.BAD_INPUT, e);
        }
    }

    private TokenHashers hashers() {
        Map<String, TokenHasher> byModel = new LinkedHashMap<>();
        for (String each : tokenHashes) {
            // Names of models have no equals sign; a seed may have one.
            int split = each.indexOf('=');
            if (split < 1) {
                throw new IllegalArgumentException("--token-hash " + each + " is not MODEL=HASH");
            }
            byModel.put(each.substring(0, split), ChainedCbor.parse(each.substring(split + 1)));
        }
        return new TokenHashers(byModel);
    }

    String httpUrl(DirectoryApp app) {
        return "http://" + new Endpoint(Endpoint.parse(listen).host(), app.httpPort());
    }

    /** What a program wants to know of an instance that is up. */
    void ready(Map<String, Object> line, DirectoryApp app) {
        line.put("directory", httpUrl(app));
        line.put("directoryGrpcPort", app.grpcPort());
        if (app.statusPort() >= 0) {
            line.put("directoryStatusPort", app.statusPort());
        }
    }
}
