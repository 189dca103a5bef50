/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.controller.directory.DirectoryOptions;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.ControllerException;
import io.tierlog.controller.streams.ControllerOptions;
import io.tierlog.events.Causes;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.OptionFlags;
import io.tierlog.ops.cli.command.ReadyLine;
import io.tierlog.ops.cli.command.RestLine;
import io.tierlog.ops.cli.command.ServiceCommand;
import io.tierlog.tls.TlsFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tierlog controller}: one instance of the controller, in the foreground. Its flags are the {@link ControllerOptions}. */
@Command(
        name = "controller",
        description = "Run a controller instance on an existing log.",
        modelTransformer = OptionFlags.class,
        footer = {"", "It runs until Ctrl-C. A killed instance resumes when it is started again with the same --state-dir."})
final class ControllerCommand extends ServiceCommand<ControllerCommand.Both> {
    private static final Logger LOG = LoggerFactory.getLogger(ControllerCommand.class);
    private static final String NO_DIRECTORY = "no.directory";

    @Option(
            names = RestLine.FLAG,
            hidden = true,
            description = "For the demo: at the end of standard input decide all that is on the log, within that time, and print the outcome.")
    int restMs;

    @Override
    public Options options() {
        return DirectoryOptions.declareBeside(ControllerOptions.options()).off(NO_DIRECTORY, "Start no directory beside the controller.");
    }

    @Override
    protected Both start(OptionValues values) {
        ControllerConfig config = ControllerOptions.config(values);
        Optional<DirectoryInstance> beside = values.flag(NO_DIRECTORY)
                ? Optional.empty()
                : Optional.of(DirectoryInstance.beside(values, config.stateDir().resolve("directory")));
        ControllerApp app = controller(config);
        try {
            return new Both(config, app, beside.map(DirectoryInstance::start));
        } catch (RuntimeException e) {
            app.close();
            throw e;
        }
    }

    private static ControllerApp controller(ControllerConfig config) {
        try {
            return ControllerApp.start(config);
        } catch (ControllerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    /** The controller, and the directory beside it, if there is one. The end of the directory does not end the controller. */
    record Both(ControllerConfig config, ControllerApp controller, Optional<DirectoryInstance> beside) implements AutoCloseable {
        @Override
        public void close() {
            beside.ifPresent(DirectoryInstance::close);
            controller.close();
        }

        private String url() {
            return new Endpoint(config.http().orElseThrow().host(), controller.httpPort()).url(config.tls().of(TlsFiles.Plain.STATUS));
        }

        private String apiUrl() {
            return new Endpoint(config.api().orElseThrow().listen().host(), controller.apiPort()).url(config.tls());
        }
    }

    @Override
    protected boolean awaitUp(Both both, Duration patience) throws InterruptedException {
        return both.controller().awaitRunning(patience);
    }

    @Override
    protected Reachable reachable(Both both) {
        ControllerApp app = both.controller();
        String text = "Controller is up, metrics at " + both.url() + "/metrics"
                + (app.apiPort() < 0 ? "" : ", operator API at " + both.apiUrl())
                + both.beside().map(directory -> ", directory at " + directory.httpUrl()).orElse("");
        return new Reachable(text, line -> {
            line.put("http", both.url());
            if (app.apiPort() >= 0) {
                line.put("api", both.apiUrl());
            }
            ReadyLine.port(line, "grpcPort", app.grpcPort());
            both.beside().ifPresent(directory -> directory.ready(line));
        });
    }

    @Override
    protected void afterReady(Both both) {
        if (restMs > 0) {
            // No virtual one: a read of standard input keeps its carrier.
            Thread.ofPlatform().daemon().name("controller-rest").start(() -> restAtEndOfInput(both.controller()));
        }
    }

    private void restAtEndOfInput(ControllerApp app) {
        boolean complete = false;
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
            complete = app.bringToRest(Duration.ofMillis(restMs));
        } catch (IOException e) {
            LOG.warn("standard input cannot be read: {}", Causes.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        RestLine.print(out(), complete);
    }

    @Override
    protected CompletionStage<Throwable> ended(Both both) {
        return both.controller().ended().thenApply(ControllerCommand::fault);
    }

    private static Throwable fault(Optional<Throwable> ended) {
        Throwable fault = ended.orElseGet(() -> new IllegalStateException("the controller has ended"));
        if (!(fault instanceof ControllerException known)) {
            return fault;
        }
        boolean isWhole = known instanceof ControllerException.ClockSetBack || known instanceof ControllerException.StoodStill;
        return new CliError("stopped: " + known.getMessage(), isWhole ? "start it again, as a supervisor does" : "docs/operate.md says how to restore"
                + " a log", CliError.FAILURE, known);
    }
}
