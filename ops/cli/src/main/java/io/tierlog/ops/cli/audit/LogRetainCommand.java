/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.WatchedLog;
import io.tierlog.ops.audit.snapshot.LogTrim;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.audit.snapshot.Snapshotter;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.OutputFormat;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog log retain}: what a timer runs so that a log does not grow for ever. */
@Command(
        name = "retain",
        description = "One round of retention: make a snapshot, verify it, archive the log, and trim it before the snapshot.",
        footer = {
            "",
            "Run it from a timer, with the same directory each time. Each step is what snapshot create, snapshot verify, audit archive and log trim",
            "do, and a round that is killed loses nothing: the next one begins with a snapshot of its own. Run one round at a time.",
            "Exit codes: 0 done, 1 the log breaks a check or the snapshot differs: nothing was deleted, 2 the log cannot be read or a directory",
            "cannot be written."
        })
final class LogRetainCommand implements Callable<Integer> {
    private static final int MOST_THREADS = 4;

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Option(names = "--snapshots", paramLabel = "DIR", required = true, description = "Directory of the snapshots of this log; made if needed.")
    Path snapshots;

    @Mixin
    RetentionOptions retention;

    @Option(names = "--keep-snapshots", paramLabel = "N", description = "Keep the newest N snapshots (default: ${DEFAULT-VALUE}).")
    int keepSnapshots = 3;

    @Option(names = "--archive", paramLabel = "DIR",
            description = "Add the log's new records to the archive in this directory first, which audit --log reads (default: what leaves is gone).")
    @Nullable Path archive;

    @Option(names = "--dry-run", description = "Make and verify the snapshot, and only print what would be deleted.")
    boolean dryRun;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Integer call() throws Exception {
        return LogChoice.hinting(this::retain);
    }

    private int retain() throws Exception {
        try (LogSource source = new ClusterLog(cluster.kafka())) {
            SnapshotDirectory directory = new SnapshotDirectory(snapshots);
            Snapshot snapshot = verified(directory, source);
            LogTrim trim = new LogTrim(cluster.kafka(), source, cluster.topics(), cluster.codec());
            LogTrim.Plan plan = trim.plan(snapshot, retention.at(System.currentTimeMillis()));
            if (!dryRun) {
                if (archive != null) {
                    spec.commandLine().getErr().println("archiving to " + archive);
                    AuditArchiveCommand.append(spec.commandLine().getErr(), new WatchedLog(source), cluster, cluster.kafka().bootstrapServers(),
                            archive, threads());
                }
                trim.delete(plan);
                directory.keep(keepSnapshots);
            }
            LogCommand.print(spec.commandLine().getOut(), format, plan, dryRun);
            return 0;
        }
    }

    private Snapshot verified(SnapshotDirectory directory, LogSource source) throws Exception {
        PrintWriter err = spec.commandLine().getErr();
        err.println("making a snapshot in " + snapshots);
        WatchedLog first = new WatchedLog(source);
        Snapshotter.Made made = LogChoice.withProgress(err, first, () -> snapshotter(directory, first).create(System.currentTimeMillis()));
        Snapshot snapshot = made.snapshot().orElseThrow(() -> new CliError(
                "nothing was deleted, since the log breaks a check: " + made.finding().map(Finding::toString).orElse(""),
                "audit verify says what else is wrong", CliError.FAILURE));
        err.println("verifying " + snapshot.name());
        WatchedLog second = new WatchedLog(source);
        Optional<String> differs = LogChoice.withProgress(err, second, () -> snapshotter(directory, second).verify(snapshot));
        if (differs.isPresent()) {
            throw new CliError("nothing was deleted, since the snapshot " + snapshot.directory() + " is wrong: " + differs.get(),
                    "delete it, run this again, and report this", CliError.FAILURE);
        }
        return snapshot;
    }

    private Snapshotter snapshotter(SnapshotDirectory directory, LogSource source) {
        return new Snapshotter(directory, source, cluster.topics(), cluster.codec(), threads());
    }

    private static int threads() {
        return Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors());
    }
}
