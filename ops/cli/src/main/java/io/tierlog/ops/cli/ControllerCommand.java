/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.ServerException;
import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.ControllerException;
import io.tierlog.controller.streams.InputPosition;
import io.tierlog.controller.streams.StreamsTuning;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.controller.streams.api.ApiLimits;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog controller}: one instance of the controller, in the foreground. */
@Command(
        name = "controller",
        description = "Run a controller instance on an existing log.",
        footer = {"", "It runs until Ctrl-C. A killed instance goes on where it was when started again with the same --state-dir."})
final class ControllerCommand implements Callable<Integer> {
    private static final Duration RUNNING = Duration.ofSeconds(90);

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Option(
            names = "--state-dir",
            paramLabel = "DIR",
            description = "Where the state is kept, on a disk that survives restarts (default: ${DEFAULT-VALUE}).")
    Path stateDir = Path.of(System.getProperty("user.home"), ".tierlog", "controller");

    @Option(names = "--application-id", paramLabel = "NAME", description = "Instances with the same name share the work (default: ${DEFAULT-VALUE}).")
    String applicationId = "tierlog-controller";

    @Option(
            names = "--instance-id",
            paramLabel = "NAME",
            description = "Name of this instance, kept over restarts (default: one kept in the state directory).")
    @Nullable String instanceId;

    @Option(names = "--http-host", paramLabel = "HOST", description = "Address for /metrics and /health (default: ${DEFAULT-VALUE}).")
    String httpHost = "127.0.0.1";

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            description = "Port for /metrics and /health, 0 for any free one (default: ${DEFAULT-VALUE}).")
    int httpPort = 8080;

    @Option(
            names = "--api-listen",
            paramLabel = "HOST:PORT",
            description = "Where operators come in over HTTP, or 'none' (default: ${DEFAULT-VALUE}).")
    String apiListen = "127.0.0.1:8081";

    @Option(names = "--grpc-listen", paramLabel = "HOST:PORT", description = "Where operators come in over gRPC (default: nowhere).")
    @Nullable String grpcListen;

    @Option(
            names = "--api-tokens",
            paramLabel = "FILE",
            description = "Who may come in: lines of reader|operator NAME sha256:HEX (default: whoever reaches the address).")
    @Nullable Path apiTokens;

    @Option(names = "--api-insecure", description = "Let operators in from other machines without tokens.")
    boolean apiInsecure;

    @Mixin
    DirectoryFlags directory;

    @Option(names = "--no-directory", description = "Start no directory beside the controller.")
    boolean noDirectory;

    @Option(names = "--commit-interval-ms", paramLabel = "MS", description = "Time between two transactions (default: ${DEFAULT-VALUE}).")
    int commitIntervalMs = StreamsTuning.DEFAULTS.commitIntervalMs();

    @Option(names = "--standby-replicas", paramLabel = "N", description = "Warm copies of the state on other instances (default: ${DEFAULT-VALUE}).")
    int standbyReplicas = StreamsTuning.DEFAULTS.standbyReplicas();

    @Option(
            names = "--commands",
            paramLabel = "HOW",
            description = "${COMPLETION-CANDIDATES}: at once by a plain producer, or in the transaction of the decision (default: ${DEFAULT-VALUE}).")
    CommandDelivery commands = CommandDelivery.DIRECT;

    @Option(names = "--tick-ms", paramLabel = "MS", description = "Distance between two ticks of log time (default: ${DEFAULT-VALUE}).")
    int tickMs = 1_000;

    @Option(
            names = "--skip-input",
            paramLabel = "PARTITION:OFFSET",
            split = ",",
            description = "Records of tierlog.events that stop the core and shall be passed over, with a decision on record.")
    List<String> skipInputs = List.of();

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Integer call() throws Exception {
        ControllerConfig config = ClusterOptions.checked(this::config);
        Optional<DirectoryConfig> beside = noDirectory ? Optional.empty() : Optional.of(ClusterOptions.checked(this::directoryConfig));
        try (Both both = start(config, beside)) {
            ControllerApp app = both.controller();
            if (!app.awaitRunning(RUNNING)) {
                throw new CliError(
                        "the controller is " + app.state() + " after " + RUNNING.toSeconds() + " s",
                        "run again with --verbose",
                        CliError.FAILURE);
            }
            PrintWriter out = spec.commandLine().getOut();
            out.println(ready(app, both.beside()));
            out.flush();
            throw Foreground.untilSignalled(both, app.ended().thenApply(ControllerCommand::fault));
        }
    }

    /** The controller, and the directory beside it, if there is one. What becomes of the directory does not end the controller. */
    private record Both(ControllerApp controller, Optional<DirectoryApp> beside) implements AutoCloseable {
        @Override
        public void close() {
            beside.ifPresent(DirectoryApp::close);
            controller.close();
        }
    }

    private Both start(ControllerConfig config, Optional<DirectoryConfig> beside) {
        ControllerApp app = start(config);
        try {
            return new Both(app, beside.map(directory::start));
        } catch (RuntimeException e) {
            app.close();
            throw e;
        }
    }

    private DirectoryConfig directoryConfig() {
        return directory.config(cluster, stateDir.resolve("directory"), Optional.ofNullable(apiTokens), apiInsecure);
    }

    private static Throwable fault(Optional<Throwable> ended) {
        return ended.orElseGet(() -> new IllegalStateException("the controller has ended"));
    }

    private ControllerConfig config() {
        Set<InputPosition> skips = skipInputs.stream().map(InputPosition::parse).collect(Collectors.toSet());
        ControllerConfig.Builder builder = ControllerConfig.of(cluster.kafka(), stateDir)
                .with()
                .topics(cluster.topics())
                .applicationId(applicationId)
                .http(httpHost, httpPort)
                .streams(StreamsTuning.DEFAULTS.withCommitIntervalMs(commitIntervalMs).withStandbyReplicas(standbyReplicas))
                .commands(commands)
                .tickMs(tickMs)
                .skipInputs(skips);
        if (!apiListen.equals("none")) {
            Optional<Endpoint> grpc = Optional.ofNullable(grpcListen).map(Endpoint::parse);
            builder.api(new ApiConfig(
                    Endpoint.parse(apiListen), grpc, Optional.ofNullable(apiTokens), apiInsecure, ApiLimits.DEFAULTS));
        } else if (grpcListen != null) {
            throw new IllegalArgumentException("--grpc-listen needs --api-listen: over gRPC a migration is asked for, over HTTP it is followed");
        }
        cluster.registry().ifPresent(builder::registry);
        if (instanceId != null) {
            builder.instanceId(instanceId);
        }
        return builder.build();
    }

    private static ControllerApp start(ControllerConfig config) {
        try {
            return ClusterOptions.checked(() -> ControllerApp.start(config));
        } catch (ControllerException | ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    private String url(ControllerApp app) {
        return "http://" + httpHost + ":" + app.httpPort();
    }

    private String apiUrl(ControllerApp app) {
        return "http://" + new Endpoint(Endpoint.parse(apiListen).host(), app.apiPort());
    }

    private String ready(ControllerApp app, Optional<DirectoryApp> beside) throws Exception {
        return switch (format) {
            case text -> "Controller is up, metrics at " + url(app) + "/metrics"
                    + (app.apiPort() < 0 ? "" : ", operators at " + apiUrl(app))
                    + beside.map(one -> ", directory at " + directory.httpUrl(one)).orElse("") + ". Ctrl-C stops it.";
            case json -> {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("event", "ready");
                line.put("http", url(app));
                if (app.apiPort() >= 0) {
                    line.put("api", apiUrl(app));
                }
                if (app.grpcPort() >= 0) {
                    line.put("grpcPort", app.grpcPort());
                }
                beside.ifPresent(one -> directory.ready(line, one));
                line.put("pid", ProcessHandle.current().pid());
                yield new ObjectMapper().writeValueAsString(line);
            }
        };
    }
}
