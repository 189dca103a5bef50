/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.controller.directory.DirectoryOptions;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.ServerException;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.ControllerException;
import io.tierlog.controller.streams.ControllerOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog controller}: one instance of the controller, in the foreground. Its flags are the {@link ControllerOptions}. */
@Command(
        name = "controller",
        description = "Run a controller instance on an existing log.",
        modelTransformer = OptionFlags.class,
        footer = {"", "It runs until Ctrl-C. A killed instance resumes when it is started again with the same --state-dir."})
final class ControllerCommand implements Callable<Integer>, OptionFlags.Configured {
    private static final String NO_DIRECTORY = "no.directory";
    private static final Duration RUNNING = Duration.ofSeconds(90);

    @Spec
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Options options() {
        return DirectoryOptions.declareBeside(ControllerOptions.options()).off(NO_DIRECTORY, "Start no directory beside the controller.");
    }

    @Override
    public Integer call() throws Exception {
        OptionValues values = ClusterOptions.checked(() -> OptionFlags.values(spec, options()));
        ControllerConfig config = ClusterOptions.checked(() -> ControllerOptions.config(values));
        Optional<DirectoryInstance> beside = values.flag(NO_DIRECTORY)
                ? Optional.empty()
                : Optional.of(ClusterOptions.checked(() -> DirectoryInstance.beside(values, config.stateDir().resolve("directory"))));
        OptionFlags.log("controller", values.effective());
        try (Both both = start(config, beside)) {
            ControllerApp app = both.controller();
            if (!app.awaitRunning(RUNNING)) {
                throw new CliError(
                        "the controller is " + app.state() + " after " + RUNNING.toSeconds() + " s",
                        "run again with --verbose",
                        CliError.FAILURE);
            }
            printReady(config, app, both.beside());
            throw Foreground.untilSignalled(both, app.ended().thenApply(ControllerCommand::fault));
        }
    }

    /** The controller, and the directory beside it, if there is one. The end of the directory does not end the controller. */
    private record Both(ControllerApp controller, Optional<DirectoryInstance> beside) implements AutoCloseable {
        @Override
        public void close() {
            beside.ifPresent(DirectoryInstance::close);
            controller.close();
        }
    }

    private static Both start(ControllerConfig config, Optional<DirectoryInstance> beside) {
        ControllerApp app = start(config);
        try {
            beside.ifPresent(DirectoryInstance::start);
            return new Both(app, beside);
        } catch (RuntimeException e) {
            app.close();
            throw e;
        }
    }

    private static Throwable fault(Optional<Throwable> ended) {
        Throwable fault = ended.orElseGet(() -> new IllegalStateException("the controller has ended"));
        return fault instanceof ControllerException known
                ? new CliError("stopped: " + known.getMessage(), "docs/operate.md says how to restore a log", CliError.FAILURE, known)
                : fault;
    }

    private static ControllerApp start(ControllerConfig config) {
        try {
            return ClusterOptions.checked(() -> ControllerApp.start(config));
        } catch (ControllerException | ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    private static String url(ControllerConfig config, ControllerApp app) {
        return "http://" + config.http().orElseThrow().host() + ":" + app.httpPort();
    }

    private static String apiUrl(ControllerConfig config, ControllerApp app) {
        return "http://" + new Endpoint(config.api().orElseThrow().listen().host(), app.apiPort());
    }

    private void printReady(ControllerConfig config, ControllerApp app, Optional<DirectoryInstance> beside) throws JsonProcessingException {
        String text = "Controller is up, metrics at " + url(config, app) + "/metrics"
                + (app.apiPort() < 0 ? "" : ", operator API at " + apiUrl(config, app))
                + beside.map(directory -> ", directory at " + directory.httpUrl()).orElse("");
        ReadyLine.print(spec.commandLine().getOut(), format, text, line -> {
            line.put("http", url(config, app));
            if (app.apiPort() >= 0) {
                line.put("api", apiUrl(config, app));
            }
            ReadyLine.port(line, "grpcPort", app.grpcPort());
            beside.ifPresent(directory -> directory.ready(line));
        });
    }
}
