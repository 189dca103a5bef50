/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog directory}: one instance of the directory, in the foreground. */
@Command(
        name = "directory",
        description = "Run a directory instance on an existing log: it answers where blocks are.",
        footer = {
            "",
            "It runs until Ctrl-C. Instances with the same --application-id share the",
            "partitions, and each answers for all of them. A controller starts one",
            "beside itself, unless it is told --no-directory."
        })
final class DirectoryCommand implements Callable<Integer> {
    private static final Duration RUNNING = Duration.ofSeconds(90);

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    DirectoryFlags flags;

    @Option(
            names = "--state-dir",
            paramLabel = "DIR",
            description = "Where the state is kept; it is made anew from the log when it is lost (default: ${DEFAULT-VALUE}).")
    Path stateDir = Path.of(System.getProperty("user.home"), ".tierlog", "directory");

    @Option(names = "--application-id", paramLabel = "NAME", description = "Instances with the same name share the work (default: PREFIX-directory).")
    @Nullable String applicationId;

    @Option(
            names = "--instance-id",
            paramLabel = "NAME",
            description = "Name of this instance, for one that comes back soon when it is stopped (default: none, it leaves).")
    @Nullable String instanceId;

    @Option(
            names = "--api-tokens",
            paramLabel = "FILE",
            description = "Who may come in: lines of reader|operator NAME sha256:HEX [namespaces=PATTERN,...]"
                    + " (default: whoever reaches the address).")
    @Nullable Path apiTokens;

    @Option(names = "--api-insecure", description = "Let other machines ask without tokens.")
    boolean apiInsecure;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Integer call() throws Exception {
        DirectoryConfig config = ClusterOptions.checked(this::config);
        try (DirectoryApp app = flags.start(config)) {
            if (!app.awaitRunning(RUNNING)) {
                throw new CliError("the directory is " + app.streams().state() + " after " + RUNNING.toSeconds() + " s", "run again with --verbose",
                        CliError.FAILURE);
            }
            PrintWriter out = spec.commandLine().getOut();
            out.println(ready(app));
            out.flush();
            throw Foreground.untilSignalled(app, app.ended().thenApply(
                    ended -> ended.orElseGet(() -> new IllegalStateException("the directory has ended"))));
        }
    }

    private DirectoryConfig config() {
        DirectoryConfig config = flags.config(cluster, stateDir, Optional.ofNullable(apiTokens), apiInsecure);
        String name = applicationId;
        return config.withNames(name == null ? config.applicationId() : name, Optional.ofNullable(instanceId));
    }

    private String ready(DirectoryApp app) throws JsonProcessingException {
        return switch (format) {
            case text -> "Directory is up, asked at " + flags.httpUrl(app) + " and over gRPC on port " + app.grpcPort()
                    + (app.statusPort() < 0 ? "" : ", metrics on port " + app.statusPort()) + ". Ctrl-C stops it.";
            case json -> {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("event", "ready");
                flags.ready(line, app);
                line.put("pid", ProcessHandle.current().pid());
                yield new ObjectMapper().writeValueAsString(line);
            }
        };
    }
}
