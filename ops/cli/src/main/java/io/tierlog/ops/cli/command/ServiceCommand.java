/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.controller.http.ServerException;
import io.tierlog.events.config.OptionValues;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A command that runs a service in the foreground until Ctrl-C, or until the service or one of its threads fails. Its flags are declared options.
 * A subclass names {@link OptionFlags} as its model transformer. What says that the service is up runs on a thread of its own.
 *
 * @param <S> the service; closing it ends it
 */
public abstract class ServiceCommand<S extends AutoCloseable> implements Callable<Integer>, OptionFlags.Configured {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceCommand.class);
    private static final Duration SLOW = Duration.ofSeconds(30);

    @Spec
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    /**
     * How a service can be reached.
     *
     * @param text for people, without a full stop
     * @param fields puts what a program needs
     */
    public record Reachable(String text, Consumer<Map<String, Object>> fields) {}

    /** The configuration to log. */
    protected Map<String, String> effective(OptionValues values) {
        return values.effective();
    }

    /**
     * Starts the service. What {@link ClusterOptions#checked} knows, and an address that is taken, become errors with a hint.
     *
     * @throws CliError when it cannot start for another reason
     */
    protected abstract S start(OptionValues values);

    /**
     * Waits until a started service does its work.
     *
     * @return false when that did not come about in time, or it has ended
     */
    protected boolean awaitUp(S service, Duration patience) throws InterruptedException {
        return true;
    }

    /** How a service that is up can be reached. */
    protected abstract Reachable reachable(S service);

    /** Does one thing in the place of the service when the values ask for that, and returns the exit code; empty for the service. */
    protected Optional<Integer> instead(OptionValues values) throws Exception {
        return Optional.empty();
    }

    /** Where the command prints what it finds. */
    protected final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** How it prints that. */
    protected final OutputFormat format() {
        return format;
    }

    /** Runs once the ready line is printed. */
    protected void afterReady(S service) {}

    /** Completes with the failure that ended the service. */
    protected abstract CompletionStage<? extends Throwable> ended(S service);

    @Override
    @SuppressWarnings("try") // javac warns for every AutoCloseable; no service throws when it is closed
    public final Integer call() throws Exception {
        OptionValues values = ClusterOptions.checked(() -> OptionFlags.values(spec, options()));
        OptionFlags.log(spec.name(), ClusterOptions.checked(() -> effective(values)));
        Optional<Integer> done = instead(values);
        if (done.isPresent()) {
            return done.get();
        }
        try (UncaughtFaults uncaught = new UncaughtFaults();
                S service = started(values)) {
            CompletableFuture<Throwable> ended = uncaught.or(ended(service));
            // A signal, or the end of the service, does not wait for it.
            Thread.ofPlatform().daemon().name("tierlog-ready").start(() -> ready(service, ended));
            throw Foreground.untilSignalled(service, ended);
        }
    }

    /** A service may wait long for brokers, or for its state: it goes on, and says so. */
    private void ready(S service, CompletableFuture<Throwable> ended) {
        try {
            long beganNs = System.nanoTime();
            while (!awaitUp(service, SLOW)) {
                if (ended.isDone()) {
                    return;
                }
                LOG.warn("{} has started and does not do its work yet, after {} s: /health says why", spec.name(),
                        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNs));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        Reachable where = reachable(service);
        try {
            ReadyLine.print(spec.commandLine().getOut(), format, where.text(), where.fields());
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
        afterReady(service);
    }

    private S started(OptionValues values) {
        try {
            return ClusterOptions.checked(() -> start(values));
        } catch (ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    /** Prints a line for people; with another format it prints nothing. */
    protected final void note(String line) {
        if (format == OutputFormat.text) {
            spec.commandLine().getOut().println(line);
            spec.commandLine().getOut().flush();
        }
    }
}
