/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.engine.ConfigurationError;
import io.tierlog.ops.engine.EngineNode;
import io.tierlog.ops.engine.ProgressListener;
import io.tierlog.ops.engine.Replay;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.ReplayError;
import io.tierlog.ops.engine.RunReport;
import io.tierlog.ops.engine.StoredAt;
import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.schemas.Bytes;
import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** One replay against running agents, watched on the log, and its report. */
final class ReplayRun {
    /** How long operations may take to end after the last request. */
    private static final Duration SETTLE = Duration.ofSeconds(60);

    private static final Duration LOOK_AGAIN = Duration.ofMillis(250);

    private final PrintStream progress;
    private final boolean terminal;

    /** Prints progress to standard error. */
    static ReplayRun onStandardError() {
        Console console = System.console();
        return new ReplayRun(System.err, Objects.nonNull(console) && console.isTerminal());
    }

    /** Prints progress to {@code progress}, as a line that moves when that is a terminal. */
    ReplayRun(PrintStream progress, boolean terminal) {
        this.progress = progress;
        this.terminal = terminal;
    }

    /**
     * Watchers of a run.
     *
     * @param log folds the log into statistics
     * @param controller receives the progress, and is back before the log settles
     * @param listener receives the progress too, except that of a run without tiers
     */
    record Watch(Optional<LogWatch> log, Optional<DemoController> controller, ProgressListener listener) {
        /** No watcher. */
        static final Watch NOTHING = new Watch(Optional.empty(), Optional.empty(), ProgressListener.none());
    }

    /** Replays {@code config}, waits until the log has settled, and with {@code compare} replays the same without tiers. */
    DemoReport run(ReplayConfig config, Watch watch, boolean compare) throws InterruptedException {
        ReplayConfig watched = watch.log().map(log -> config.withStoredAt(storedAt(log))).orElse(config);
        ProgressLine line = new ProgressLine(progress, terminal, watch.log());
        RunReport report = replay(watched, line, now -> {
            watch.controller().ifPresent(controller -> controller.progress(now));
            watch.listener().progress(now);
        });
        if (watch.controller().isPresent()) {
            watch.controller().get().back();
        }
        boolean settled = watch.log().isEmpty() || settle(watch.log().get());
        Optional<LogSummary> summary = watch.log().map(LogWatch::summary);
        Optional<RunReport> without = compare ? Optional.of(withoutTiers(config)) : Optional.empty();
        return new DemoReport(report, summary, settled, without);
    }

    private RunReport withoutTiers(ReplayConfig config) throws InterruptedException {
        progress.println("The same again without the tiers below the device:");
        ReplayConfig alone = new ReplayConfig(
                config.run() + "-alone",
                config.workload(),
                config.nodes().stream().map(node -> new EngineNode(node.name(), new AgentAddress.None())).toList(),
                config.router(),
                config.pacing().asFastAsItGoes(),
                config.device(),
                config.identity(),
                config.timeouts(),
                StoredAt.unknown(),
                Optional.empty(),
                false);
        return replay(alone, new ProgressLine(progress, terminal, Optional.empty()), ProgressListener.none());
    }

    private static RunReport replay(ReplayConfig config, ProgressLine line, ProgressListener other) throws InterruptedException {
        try {
            RunReport report = Replay.run(config, now -> {
                line.progress(now);
                other.progress(now);
            });
            line.end();
            return report;
        } catch (ConfigurationError e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        } catch (ReplayError e) {
            throw new CliError(
                    e.getMessage(),
                    "look at the agents' output; for this workload they are started with --block-tokens " + config.workload().blockTokens()
                            + " --bytes-per-block " + config.device().blockBytes(),
                    CliError.FAILURE,
                    e);
        }
    }

    /** Waits until every operation on the log has ended, so that the report does not count late ones as lost; false when some have not. */
    private static boolean settle(LogWatch log) throws InterruptedException {
        long untilNanos = System.nanoTime() + SETTLE.toNanos();
        boolean settled = false;
        while (!settled && System.nanoTime() < untilNanos) {
            settled = log.catchUp(SETTLE) && log.unfinishedOperations() == 0;
            if (!settled) {
                Thread.sleep(LOOK_AGAIN);
            }
        }
        return settled;
    }

    private static StoredAt storedAt(LogWatch log) {
        return new StoredAt() {
            @Override
            public boolean known() {
                return true;
            }

            @Override
            public OptionalLong storedAtMs(String namespace, BlockKey key) {
                return log.storedAtMs(namespace, Bytes.wrapUnshared(key.toBytes()));
            }
        };
    }
}
