/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.Main;
import io.tierlog.threads.LoggedLines;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** A service whose brokers are away while it starts. */
class ServiceCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(Slow service, Path home) {
        CommandLine line = new CommandLine(new Main()).addSubcommand(service);
        line.setErr(new PrintWriter(err, true));
        line.setOut(new PrintWriter(out, true));
        return Main.run(line, List.of("slow"), Map.of(), home);
    }

    /** It is up at the third look; then it ends. */
    @Test
    void aServiceThatIsNotUpYetGoesOnAndSaysSo(@TempDir Path home) {
        Slow service = new Slow(2);
        try (LoggedLines lines = new LoggedLines(ServiceCommand.class)) {
            assertEquals(1, run(service, home));
            assertEquals(2, lines.with("slow has started and does not do its work yet, after "), lines::toString);
        }
        assertTrue(out.toString().contains("Slow is up"), out::toString);
        assertTrue(err.toString().contains("over"), err::toString);
    }

    @Test
    void aServiceThatEndsBeforeItIsUpSaysWhy(@TempDir Path home) {
        Slow service = new Slow(Integer.MAX_VALUE);
        service.over.complete(new IllegalStateException("the state is lost"));
        assertEquals(1, run(service, home));
        assertTrue(err.toString().contains("the state is lost"), err::toString);
        assertEquals("", out.toString());
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().equals("tierlog-ready"))) {
            assertTrue(System.nanoTime() < until, "it waits on for a service that has ended");
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Command(name = "slow", modelTransformer = OptionFlags.class)
    static final class Slow extends ServiceCommand<AutoCloseable> {
        final CompletableFuture<Throwable> over = new CompletableFuture<>();
        private final AtomicInteger looks = new AtomicInteger();
        private final int notUp;

        Slow(int notUp) {
            this.notUp = notUp;
        }

        @Override
        public Options options() {
            return new Options();
        }

        @Override
        protected AutoCloseable start(OptionValues values) {
            return () -> {};
        }

        @Override
        protected boolean awaitUp(AutoCloseable service, Duration patience) {
            return looks.getAndIncrement() >= notUp;
        }

        @Override
        protected Reachable reachable(AutoCloseable service) {
            return new Reachable("Slow is up", _ -> {});
        }

        @Override
        protected void afterReady(AutoCloseable service) {
            over.complete(new IllegalStateException("over"));
        }

        @Override
        protected CompletionStage<Throwable> ended(AutoCloseable service) {
            return over;
        }
    }
}
