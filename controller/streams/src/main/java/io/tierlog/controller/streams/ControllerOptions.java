/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.controller.streams.api.ApiLimits;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.topic.Topics;
import io.tierlog.traces.TraceOptions;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options of a controller, each declared here and nowhere else, and the configuration they make. Static and without state. */
public final class ControllerOptions {
    public static final String STATE_DIR = "state.dir";
    public static final String APPLICATION_ID = "application.id";
    public static final String CORE_VERSION = "core.version";
    public static final String INSTANCE_ID = "instance.id";
    public static final String HTTP_HOST = "http.host";
    public static final String HTTP_PORT = "http.port";
    public static final String API_LISTEN = "api.listen";
    public static final String GRPC_LISTEN = "grpc.listen";
    public static final String COMMIT_INTERVAL_MS = "commit.interval.ms";
    public static final String STANDBY_REPLICAS = "standby.replicas";
    public static final String COMMANDS = "commands";
    public static final String TICK_MS = "tick.ms";
    public static final String SKIP_INPUT = "skip.input";

    /** The value of an address that turns its service off. */
    public static final String NOT_SERVED = "none";

    private static final Bounds NAME =
            Bounds.pattern("1 to 100 letters, digits, dots, dashes or underscores", Pattern.compile("[A-Za-z0-9._-]{1,100}"));

    private ControllerOptions() {}

    /** All options, those of the log among them. */
    public static Options options() {
        StreamsTuning usual = StreamsTuning.DEFAULTS;
        return TraceOptions.declare(TlsOptions.declare(AccessOptions.declare(LogOptions.declare(new Options()
                .group("Instance", Importance.HIGH)
                .option(STATE_DIR, ConfigDef.Type.STRING, "~/.tierlog/controller", Bounds.PATH, "DIR",
                        "Directory of the state, on a disk that survives restarts.")
                .text(APPLICATION_ID, NAME, "NAME", "Instances with the same name share the work (default: PREFIX-controller).")
                .text(INSTANCE_ID, NAME, "NAME", "Name of this instance, kept over restarts (default: one kept in the state directory).")
                .number(CORE_VERSION, CoreVersion.CURRENT, CoreVersion.OLDEST, CoreVersion.CURRENT, "N",
                        "Decide by this version of the core. During a rolling upgrade keep the old one, so that the old build can take over again.")
                .group("HTTP and gRPC", Importance.MEDIUM)
                .option(HTTP_HOST, ConfigDef.Type.STRING, "127.0.0.1", Bounds.TEXT, "HOST", "Address for /metrics and /health.")
                .number(HTTP_PORT, 8080, 0, 65_535, "PORT", "Port for /metrics and /health, 0 for any free one.")
                .option(API_LISTEN, ConfigDef.Type.STRING, "127.0.0.1:8081", endpointOrNone(), "HOST:PORT",
                        "Address of the operator API over HTTP, or 'none'.")
                .text(GRPC_LISTEN, Bounds.form("HOST:PORT", Endpoint::parse), "HOST:PORT",
                        "Address of the operator API over gRPC (default: none).")
                .group("Streams", Importance.LOW)
                .number(COMMIT_INTERVAL_MS, usual.commitIntervalMs(), 5, 60_000, "MS", "Time between two transactions.")
                .number(STANDBY_REPLICAS, usual.standbyReplicas(), 0, 4, "N", "Warm copies of the state on other instances.")
                .option(COMMANDS, ConfigDef.Type.STRING, CommandDelivery.DIRECT.name(), Bounds.oneOf(CommandDelivery.class), "HOW",
                        "DIRECT: commands leave at once by a plain producer. TRANSACTIONAL: in the transaction of the decision.")
                .number(TICK_MS, 1_000, 10, 60_000, "MS", "Time between two ticks of log time.")
                .list(SKIP_INPUT, Bounds.form("PARTITION:OFFSET", InputPosition::parse), "PARTITION:OFFSET",
                        "Records of tierlog.events to skip because they stop the core; each skip is a decision on the log (default: none).")))));
    }

    /** An address to listen on, or {@link #NOT_SERVED}. */
    public static Bounds endpointOrNone() {
        return Bounds.form("HOST:PORT or none", ControllerOptions::endpoint);
    }

    /** The address to listen on; empty for {@link #NOT_SERVED}. */
    public static Optional<Endpoint> endpoint(String text) {
        return text.equals(NOT_SERVED) ? Optional.empty() : Optional.of(Endpoint.parse(text));
    }

    /**
     * The configuration.
     *
     * @throws IllegalArgumentException when options contradict each other, or a file they name cannot be read
     */
    public static ControllerConfig config(OptionValues values) {
        KafkaAccess kafka = LogOptions.kafka(values);
        if (kafka.signing().isPresent() && !kafka.signing().get().keys().isMaster()) {
            throw new IllegalArgumentException("a controller needs the master keys: --record-keys names a file of derived keys");
        }
        Topics topics = LogOptions.topics(values);
        ControllerConfig.Builder builder = ControllerConfig.of(kafka, values.requirePath(STATE_DIR))
                .with()
                .topics(topics)
                .applicationId(values.optional(APPLICATION_ID).orElseGet(topics::controllers))
                .coreVersion(values.number(CORE_VERSION))
                .http(values.text(HTTP_HOST), values.number(HTTP_PORT))
                .streams(StreamsTuning.DEFAULTS.withCommitIntervalMs(values.number(COMMIT_INTERVAL_MS))
                        .withStandbyReplicas(values.number(STANDBY_REPLICAS)))
                .commands(values.constant(COMMANDS, CommandDelivery.class))
                .tickMs(values.number(TICK_MS))
                .tls(TlsOptions.tls(values))
                .skipInputs(values.list(SKIP_INPUT).stream().map(InputPosition::parse).collect(Collectors.toSet()));
        Optional<Endpoint> listen = endpoint(values.text(API_LISTEN));
        Optional<Endpoint> grpc = values.optional(GRPC_LISTEN).map(Endpoint::parse);
        if (listen.isEmpty() && grpc.isPresent()) {
            throw new IllegalArgumentException("--grpc-listen needs --api-listen: gRPC starts a migration, HTTP shows its progress");
        }
        listen.ifPresent(endpoint -> builder.api(
                new ApiConfig(endpoint, grpc, AccessOptions.rules(values), values.flag(AccessOptions.INSECURE), ApiLimits.DEFAULTS)));
        LogOptions.registry(values, RegistryLimits.DEFAULTS).ifPresent(builder::registry);
        values.optional(INSTANCE_ID).ifPresent(builder::instanceId);
        TraceOptions.endpoint(values).ifPresent(builder::traces);
        return builder.build();
    }
}
