/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.controller.streams.ControllerException;
import io.tierlog.controller.streams.StateEnd;
import io.tierlog.controller.streams.StateRestore;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.WatchedLog;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.audit.snapshot.Snapshotter;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog snapshot restore}: the changelog of a controller, when it was lost. */
@Command(
        name = "restore",
        description = "Write the changelog of a controller that lost its state, from a snapshot and the log after it.",
        footer = {
            "",
            "It makes a snapshot of the present end of the log and writes its rows, all of them or none. It refuses while a controller runs, and",
            "where the changelog has rows. Delete the state directories of all instances before you start them again.",
            "Exit codes: 0 written, 1 not written, 2 the log or a snapshot cannot be read."
        })
final class SnapshotRestoreCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Option(names = "--from", paramLabel = "DIR", required = true, description = "Directory of the snapshots of this log.")
    Path from;

    @Option(names = "--threads", paramLabel = "N", description = "Partitions folded at a time (default: ${DEFAULT-VALUE}).")
    int threads = 1;

    @Override
    public Integer call() throws Exception {
        try (WatchedLog source = new WatchedLog(new ClusterLog(cluster.kafka()))) {
            long startNs = System.nanoTime();
            SnapshotDirectory snapshots = new SnapshotDirectory(from);
            Optional<Snapshot> known = snapshots.last();
            if (known.isPresent()) {
                // Before the log is folded, which can take long.
                restore(known.get()).prepare();
            }
            Snapshotter snapshotter = new Snapshotter(snapshots, source, cluster.topics(), cluster.codec(), threads);
            Snapshotter.Made made = LogChoice.withProgress(
                    spec.commandLine().getErr(), source, () -> snapshotter.create(System.currentTimeMillis()));
            Snapshot snapshot = made.snapshot().orElseThrow(() -> new CliError(
                    "nothing was written, since the log breaks a check: " + made.finding().map(Finding::toString).orElse(""),
                    "audit verify says what else is wrong", CliError.FAILURE));
            StateRestore restore = restore(snapshot);
            restore.prepare();
            long rows = restore.write(partition -> {
                PartitionStart start = snapshot.of(partition).orElseThrow();
                StateEnd end = StateEnd.ofSnapshot(start.at().nextEvent(), start.at().nextDecision());
                return new StateRestore.State(start.tables(), start.stamps(), end);
            });
            PrintWriter out = spec.commandLine().getOut();
            out.println(String.format(Locale.ROOT, "%d rows of %d placements, from %s, in %.1f s", rows, snapshot.placements(), snapshot.name(),
                    (System.nanoTime() - startNs) / 1e9));
            out.flush();
            return 0;
        } catch (AuditException e) {
            throw new CliError(e.getMessage(), e.hint(), CliError.BAD_INPUT, e);
        } catch (ControllerException e) {
            throw new CliError(e.getMessage(), "docs/snapshots.md says how to restore a state", CliError.FAILURE, e);
        } catch (KafkaException e) {
            throw new CliError("the brokers do not answer: " + e.getMessage(), "look at --bootstrap-servers", CliError.BAD_INPUT, e);
        }
    }

    private StateRestore restore(Snapshot snapshot) {
        return new StateRestore(cluster.kafka(), applicationId(snapshot), snapshot.places().size());
    }

    /** The first decision of a partition names the controller that decides it. */
    private static String applicationId(Snapshot snapshot) {
        List<String> ids = snapshot.places().stream().map(PartitionStart.At::applicationId).filter(id -> !id.isEmpty()).distinct().toList();
        if (ids.size() != 1) {
            throw new CliError("the log names " + ids.size() + " application ids", "there is no state to restore in a log without decisions",
                    CliError.FAILURE);
        }
        return ids.getFirst();
    }
}
