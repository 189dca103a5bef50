/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import io.tierlog.controller.http.ServerException;
import io.tierlog.events.config.OptionValues;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A command that runs a service in the foreground until Ctrl-C, or until the service or one of its threads fails. Its flags are declared options.
 * A subclass names {@link OptionFlags} as its model transformer. For one thread.
 *
 * @param <S> the service; closing it ends it
 */
public abstract class ServiceCommand<S extends AutoCloseable> implements Callable<Integer>, OptionFlags.Configured {
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

    /** Waits until a started service does its work. */
    protected void awaitUp(S service) throws InterruptedException {}

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
            awaitUp(service);
            Reachable where = reachable(service);
            ReadyLine.print(spec.commandLine().getOut(), format, where.text(), where.fields());
            afterReady(service);
            throw Foreground.untilSignalled(service, uncaught.or(ended(service)));
        }
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
