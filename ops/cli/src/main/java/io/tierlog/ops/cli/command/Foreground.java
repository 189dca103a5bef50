/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a command running until a signal ends the process or the service fails, and closes the service either way.
 *
 * <p>After a signal the process ends with the JVM's usual code (130 for SIGINT, 143 for SIGTERM), once the service is closed.
 */
public final class Foreground {
    private static final Logger LOG = LoggerFactory.getLogger(Foreground.class);

    private Foreground() {}

    /**
     * Returns only when the service failed by itself.
     *
     * @param fault completes when the service fails, with the reason
     * @throws CliError with that fault, after closing
     */
    public static CliError untilSignalled(AutoCloseable service, CompletionStage<? extends Throwable> fault) {
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        fault.whenComplete((met, failure) -> ended.complete(met != null ? met : failure));
        AtomicBoolean signalled = new AtomicBoolean();
        Thread hook = new Thread(
                () -> {
                    signalled.set(true);
                    try {
                        close(service);
                    } catch (CompletionException e) {
                        LOG.warn("not closed cleanly", e);
                    }
                },
                "tierlog-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        Throwable met = ended.join();
        if (signalled.get()) {
            // It ended because it was asked to: the process is on its way out, and there is nothing to tell.
            new CompletableFuture<>().join();
        }
        close(service);
        if (met instanceof CliError known) {
            return known;
        }
        return new CliError(
                "stopped by a fault: " + met.getMessage(), "run again with --verbose and look at the log", CliError.FAILURE, met);
    }

    private static void close(AutoCloseable service) {
        try {
            service.close();
        } catch (Exception failure) {
            throw new CompletionException("cannot close cleanly", failure);
        }
    }
}
