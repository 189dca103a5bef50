/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.directory.api.EngineTokenizer;
import io.tierlog.controller.directory.api.Indexer;
import io.tierlog.controller.directory.api.Models;
import io.tierlog.controller.directory.api.QueryNamespaces;
import io.tierlog.controller.directory.api.TokenHasher;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.streams.AccessOptions;
import io.tierlog.controller.streams.ControllerOptions;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.tls.Tls;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/**
 * The options of a directory, each declared here and nowhere else, and the configuration they make. A directory beside a controller has those of
 * {@link #declareBeside} and the names, tokens and log of the controller. Static and without state.
 */
public final class DirectoryOptions {
    public static final String LISTEN = "directory.listen";
    public static final String GRPC_LISTEN = "directory.grpc.listen";
    public static final String STATUS_LISTEN = "directory.status.listen";
    public static final String HOST = "directory.host";
    public static final String PEER_TOKEN_FILE = "peer.token.file";
    public static final String COSTS = "costs";
    public static final String QUERY_NAMESPACE = "query.namespace";
    public static final String TOKEN_HASH = "token.hash";
    public static final String BLOCK_TOKENS = "block.tokens";
    public static final String TOKENIZER = "tokenizer";
    public static final String COMPUTE_US = "compute.us";

    private static final int COST_NUMBERS = 5;
    private static final Bounds ENDPOINT = Bounds.form("HOST:PORT", Endpoint::parse);
    private static final Bounds NAME =
            Bounds.pattern("1 to 100 letters, digits, dots, dashes or underscores", Pattern.compile("[A-Za-z0-9._-]{1,100}"));

    private DirectoryOptions() {}

    /** All options of a directory alone, those of the log among them. */
    public static Options options() {
        Options options = new Options()
                .group("Instance", Importance.HIGH)
                .option(ControllerOptions.STATE_DIR, ConfigDef.Type.STRING, "~/.tierlog/directory", Bounds.PATH, "DIR",
                        "Directory of the state; a lost one is rebuilt from the log.")
                .text(ControllerOptions.APPLICATION_ID, NAME, "NAME", "Instances with the same name share the work (default: PREFIX-directory).")
                .text(ControllerOptions.INSTANCE_ID, NAME, "NAME",
                        "Name of this instance, for one that returns soon after it is stopped (default: none, it leaves the group).");
        return TlsOptions.declare(AccessOptions.declare(LogOptions.declare(declareBeside(options))));
    }

    /** Declares those that a directory beside a controller has too. */
    public static Options declareBeside(Options options) {
        return options.group("Directory", Importance.MEDIUM)
                .option(LISTEN, ConfigDef.Type.STRING, "127.0.0.1:8082", ENDPOINT, "HOST:PORT", "Address of the directory over HTTP.")
                .option(GRPC_LISTEN, ConfigDef.Type.STRING, "127.0.0.1:8083", ENDPOINT, "HOST:PORT",
                        "Address of the directory over gRPC, for other instances too.")
                .option(STATUS_LISTEN, ConfigDef.Type.STRING, "127.0.0.1:8084", ControllerOptions.endpointOrNone(), "HOST:PORT",
                        "Address of its /metrics and /health, or 'none'.")
                .text(HOST, Bounds.TEXT, "HOST", "Name by which other instances reach the gRPC port (default: the host of --directory-grpc-listen).")
                .text(PEER_TOKEN_FILE, Bounds.FILE, "FILE", "File with an operator's token that instances send to each other.")
                .list(COSTS, Bounds.form("microseconds", DirectoryOptions::cost), "US",
                        "Costs of a block, five numbers: from the own host, the own disk, the store, another host, another disk. Give as the last"
                                + " three those of the policy (fetch.peers), by which nodes read (default: those of the default policy).")
                .option(QUERY_NAMESPACE, ConfigDef.Type.STRING, "{model}", Bounds.form("", QueryNamespaces::new), "TEXT",
                        "Namespace of a /query, with {model}, {tenant}, {lora} and {salt}.")
                .list(TOKEN_HASH, Bounds.form("MODEL=HASH", text -> model(text, TokenHasher::parse)), "MODEL=HASH",
                        "How a model's keys follow from tokens: sha256, sha256_cbor, xxhash or xxhash_cbor, then :SEED (vLLM's"
                                + " PYTHONHASHSEED), with _64bit before it for 64 bits; or sglang. Several models with commas (default: none).")
                .list(BLOCK_TOKENS, Bounds.form("MODEL=N", text -> model(text, DirectoryOptions::blockTokens)), "MODEL=N",
                        "Tokens of a block of a model, for queries by tokens that do not say it. Several models with commas (default: none).")
                .list(TOKENIZER, Bounds.form("MODEL=URL", text -> model(text, url -> EngineTokenizer.parse(url, Tls.NONE))), "MODEL=URL",
                        "An engine at http://HOST:PORT whose /tokenize makes tokens of text prompts, for scores. Several models with commas (default:"
                                + " none).")
                .number(COMPUTE_US, Indexer.COMPUTE_US, 1, Integer.MAX_VALUE, "US",
                        "What computing a block costs, in microseconds: a block that costs as much to get has no part in a score.");
    }

    /** The configuration of a directory alone. */
    public static DirectoryConfig config(OptionValues values) {
        DirectoryConfig config = beside(values, values.requirePath(ControllerOptions.STATE_DIR));
        return config.withNames(
                values.optional(ControllerOptions.APPLICATION_ID).orElseGet(config::applicationId), values.optional(ControllerOptions.INSTANCE_ID));
    }

    /** The configuration of a directory beside a controller. */
    public static DirectoryConfig beside(OptionValues values, Path stateDir) {
        DirectoryConfig.Endpoints addresses = new DirectoryConfig.Endpoints(
                Endpoint.parse(values.text(LISTEN)), Endpoint.parse(values.text(GRPC_LISTEN)), values.optional(HOST),
                ControllerOptions.endpoint(values.text(STATUS_LISTEN)), AccessOptions.rules(values),
                values.findPath(PEER_TOKEN_FILE), values.flag(AccessOptions.INSECURE));
        KafkaAccess kafka = LogOptions.kafka(values);
        kafka.signing().ifPresent(on -> List.of(KeyNames.DIRECTORY, KeyNames.PLACEMENT).forEach(on.keys()::require));
        return DirectoryConfig.of(kafka, LogOptions.topics(values), stateDir)
                .withRegistry(LogOptions.registry(values, RegistryLimits.DEFAULTS))
                .withCosts(costs(values.list(COSTS)))
                .withEndpoints(addresses)
                .withTls(TlsOptions.tls(values));
    }

    /** How a directory of a process with that TLS answers a /query. */
    public static DirectoryExtensions extras(OptionValues values, Tls tls) {
        Models models = new Models(byModel(values, TOKEN_HASH, TokenHasher::parse), byModel(values, BLOCK_TOKENS, DirectoryOptions::blockTokens),
                byModel(values, TOKENIZER, url -> EngineTokenizer.parse(url, tls)));
        return new DirectoryExtensions(Optional.empty(), DirectoryExtensions.NONE.probeLimits(),
                new Indexer(models, new QueryNamespaces(values.text(QUERY_NAMESPACE)), values.number(COMPUTE_US)));
    }

    private static <T> Map<String, T> byModel(OptionValues values, String option, Function<String, T> parse) {
        Map<String, T> byModel = new LinkedHashMap<>();
        values.list(option).stream().map(each -> model(each, parse)).forEach(each -> byModel.put(each.getKey(), each.getValue()));
        return byModel;
    }

    private static <T> Map.Entry<String, T> model(String text, Function<String, T> parse) {
        // Names of models have no equals sign; a seed may have one.
        int split = text.indexOf('=');
        if (split < 1) {
            throw new IllegalArgumentException("'" + text + "' does not begin with MODEL=");
        }
        return Map.entry(text.substring(0, split), parse.apply(text.substring(split + 1)));
    }

    private static int blockTokens(String text) {
        int tokens = text.matches("\\d{1,5}") ? Integer.parseInt(text) : 0;
        if (tokens < 1 || tokens > Indexer.MOST_BLOCK_TOKENS) {
            throw new IllegalArgumentException("'" + text + "' is no number of tokens from 1 to " + Indexer.MOST_BLOCK_TOKENS);
        }
        return tokens;
    }

    private static Costs costs(List<String> numbers) {
        if (numbers.isEmpty()) {
            return Costs.DEFAULTS;
        }
        if (numbers.size() != COST_NUMBERS) {
            throw new IllegalArgumentException("--costs: five numbers are required, not " + numbers.size());
        }
        List<Long> us = numbers.stream().map(DirectoryOptions::cost).toList();
        return new Costs(us.get(0), us.get(1), us.get(2), us.get(3), us.get(4));
    }

    private static long cost(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not a number of microseconds", e);
        }
    }
}
