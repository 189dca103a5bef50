/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** A thread that no part supervises and that ends by a fault. */
@Timeout(60)
class UncaughtFaultsTest {
    private static final int PATIENCE_S = 30;

    private static Thread fails(String name) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            throw new StackOverflowError("no more stack");
        });
    }

    @Test
    void aServiceThatDoesNotCloseIsEndedAsItIs() throws Exception {
        CompletableFuture<Integer> halted = new CompletableFuture<>();
        try (UncaughtFaults last = new UncaughtFaults(Duration.ofMillis(1), halted::complete)) {
            CompletableFuture<Throwable> end = last.or(new CompletableFuture<Throwable>()).toCompletableFuture();
            Thread thread = fails("one");
            CliError error = (CliError) end.get(PATIENCE_S, TimeUnit.SECONDS);
            assertEquals("the thread one has ended by a fault that nothing expects: java.lang.StackOverflowError: no more stack", error.getMessage());
            assertEquals(1, halted.get(PATIENCE_S, TimeUnit.SECONDS));
            thread.join();
        }
    }

    @Test
    void aServiceThatClosesIsNotHalted() throws Exception {
        CompletableFuture<Integer> halted = new CompletableFuture<>();
        Thread thread;
        try (UncaughtFaults last = new UncaughtFaults(Duration.ofSeconds(PATIENCE_S), halted::complete)) {
            CompletableFuture<Throwable> end = last.or(new CompletableFuture<Throwable>()).toCompletableFuture();
            thread = fails("two");
            assertEquals(StackOverflowError.class, end.get(PATIENCE_S, TimeUnit.SECONDS).getCause().getClass());
        }
        thread.join();
        assertFalse(halted.isDone());
    }

    /** As the device's, which joins its lanes. */
    @Test
    void aServiceThatJoinsTheThreadCloses() throws Exception {
        CompletableFuture<Integer> halted = new CompletableFuture<>();
        try (UncaughtFaults last = new UncaughtFaults(Duration.ofSeconds(PATIENCE_S), halted::complete)) {
            CompletableFuture<Throwable> end = last.or(new CompletableFuture<Throwable>()).toCompletableFuture();
            Thread thread = fails("three");
            assertEquals(StackOverflowError.class, end.get(PATIENCE_S, TimeUnit.SECONDS).getCause().getClass());
            assertTrue(thread.join(Duration.ofSeconds(PATIENCE_S / 2)), "the thread that failed waits for nothing");
        }
        assertFalse(halted.isDone());
    }

    @Test
    void theEndOfTheServiceItselfCounts() throws Exception {
        try (UncaughtFaults last = new UncaughtFaults()) {
            Throwable why = new IllegalStateException("the log is another one");
            assertSame(why, last.or(CompletableFuture.completedFuture(why)).toCompletableFuture().get());
            assertSame(why, last.or(CompletableFuture.failedFuture(why)).toCompletableFuture().get());
        }
    }

    @Test
    void whatHandledFaultsBeforeDoesSoAgain() {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        UncaughtFaults last = new UncaughtFaults();
        assertTrue(Thread.getDefaultUncaughtExceptionHandler() != before);
        last.close();
        assertSame(before, Thread.getDefaultUncaughtExceptionHandler());
    }

    /** The whole command: it ends, closes its service, and says why. */
    @Test
    void aServiceWithAThreadThatEndedEnds(@TempDir Path home) {
        StringWriter err = new StringWriter();
        Sample sample = new Sample();
        CommandLine line = new CommandLine(new Main()).addSubcommand(sample);
        line.setErr(new PrintWriter(err, true));
        line.setOut(new PrintWriter(new StringWriter(), true));

        assertEquals(1, Main.run(line, List.of("sample"), Map.of(), home));

        assertTrue(err.toString().contains("error: the thread sample-worker has ended by a fault that nothing expects: java.lang.StackOverflowError"),
                err::toString);
        assertEquals(0, sample.open.getCount(), "its service is closed");
    }

    @Command(name = "sample", modelTransformer = OptionFlags.class)
    static final class Sample extends ServiceCommand<AutoCloseable> {
        final CountDownLatch open = new CountDownLatch(1);

        @Override
        public Options options() {
            return new Options();
        }

        @Override
        protected AutoCloseable start(OptionValues values) {
            return open::countDown;
        }

        @Override
        protected Reachable reachable(AutoCloseable service) {
            return new Reachable("Sample", _ -> {});
        }

        @Override
        protected void afterReady(AutoCloseable service) {
            Thread _ = fails("sample-worker");
        }

        @Override
        protected CompletionStage<Throwable> ended(AutoCloseable service) {
            return new CompletableFuture<>();
        }
    }
}
