/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.audit.snapshot.Snapshotter;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.CommandGroup;
import io.tierlog.ops.cli.command.OutputFormat;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog snapshot}: images of the tables at an offset of the log. */
@Command(
        name = "snapshot",
        description = "Make snapshots of a log, show them, verify them, and restore the state of a controller from one.",
        subcommands = {
            SnapshotCommand.Create.class,
            SnapshotCommand.ListAll.class,
            SnapshotRestoreCommand.class,
            SnapshotCommand.Verify.class
        })
public final class SnapshotCommand extends CommandGroup {
    /** {@code tierlog snapshot create}. */
    @Command(
            name = "create",
            description = "Fold the log to its present end and write the tables, on from the last snapshot in the directory.",
            footer = {
                "",
                "It reads what audit verify reads and checks the same; a log that breaks a check gets no snapshot. It writes nothing to the log, and",
                "may run beside a controller. Memory as for audit verify: the tables of as many partitions as --threads.",
                "Exit codes: 0 made, 1 a check failed, 2 the log cannot be read or the directory cannot be written."
            })
    static final class Create implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ClusterOptions cluster;

        @Mixin
        AuditOptions audit;

        @Option(names = "--to", paramLabel = "DIR", required = true, description = "Directory of the snapshots of this log; it is made if needed.")
        Path to;

        @Override
        public Integer call() throws Exception {
            return audit.read(cluster, source -> {
                Snapshotter snapshotter = new Snapshotter(new SnapshotDirectory(to), source, cluster.topics(), cluster.codec(), audit.threads());
                Snapshotter.Made made = AuditOptions.withProgress(
                        spec.commandLine().getErr(), source, () -> snapshotter.create(System.currentTimeMillis()));
                if (made.snapshot().isEmpty()) {
                    Optional<Finding> first = made.finding();
                    throw new CliError("no snapshot was made, since the log breaks a check: " + first.map(Finding::toString).orElse(""),
                            "audit verify says what else is wrong", CliError.FAILURE);
                }
                print(spec, audit.format, List.of(made.snapshot().get()));
                return 0;
            });
        }
    }

    /** {@code tierlog snapshot list}. */
    @Command(name = "list", description = "Show the snapshots in a directory, the oldest first.")
    static final class ListAll implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Parameters(paramLabel = "DIR", description = "Directory of snapshots.")
        Path directory;

        @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
        OutputFormat format = OutputFormat.text;

        @Override
        public Integer call() throws Exception {
            if (!Files.isDirectory(directory)) {
                throw new CliError("there is no directory " + directory, "make a snapshot with snapshot create --to " + directory,
                        CliError.BAD_INPUT);
            }
            print(spec, format, new SnapshotDirectory(directory).list());
            return 0;
        }
    }

    /** {@code tierlog snapshot verify}. */
    @Command(
            name = "verify",
            description = "Fold the log again up to a snapshot and compare every byte.",
            footer = {
                "",
                "It folds from the beginning where the log still has it, else from the last verified snapshot before.",
                "What is verified may be trimmed.",
                "Exit codes: 0 the same bytes, 1 they differ, 2 the snapshot or the log cannot be read."
            })
    static final class Verify implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ClusterOptions cluster;

        @Mixin
        AuditOptions audit;

        @Parameters(paramLabel = "DIR", description = "The snapshot, or a directory of snapshots: then the last one.")
        Path directory;

        @Override
        public Integer call() throws Exception {
            return audit.read(cluster, source -> {
                Snapshot snapshot = SnapshotDirectory.find(directory);
                Path all = Optional.ofNullable(snapshot.directory().toAbsolutePath().getParent()).orElseThrow();
                Snapshotter snapshotter = new Snapshotter(new SnapshotDirectory(all), source, cluster.topics(), cluster.codec(), audit.threads());
                Optional<String> differs =
                        AuditOptions.withProgress(spec.commandLine().getErr(), source, () -> snapshotter.verify(snapshot));
                if (differs.isPresent()) {
                    throw new CliError("the snapshot " + snapshot.directory() + " is wrong: " + differs.get(),
                            "do not trim before it; make another with snapshot create, and report this", CliError.FAILURE);
                }
                print(spec, audit.format, List.of(snapshot));
                return 0;
            });
        }
    }

    private static void print(CommandSpec spec, OutputFormat format, List<Snapshot> snapshots) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        switch (format) {
            case text -> text(out, snapshots);
            case json -> {
                List<ObjectNode> all = new ArrayList<>();
                snapshots.forEach(snapshot -> all.add(json(snapshot)));
                out.println(new ObjectMapper().writeValueAsString(all));
            }
        }
        out.flush();
    }

    private static void text(PrintWriter out, List<Snapshot> snapshots) {
        out.println(String.format(Locale.ROOT, "%-16s  %-20s  %10s  %10s  %-8s  %s", "NAME", "MADE", "PLACEMENTS", "MIB", "VERIFIED",
                "LAST DECISION OF EACH PARTITION"));
        for (Snapshot one : snapshots) {
            List<String> places = one.places().stream().map(at -> at.partition() + ":" + at.lastDecision()).toList();
            out.println(String.format(Locale.ROOT, "%-16s  %-20s  %10d  %10.1f  %-8s  %s", one.name(),
                    Instant.ofEpochMilli(one.createdMs() / 1_000 * 1_000), one.placements(), one.bytes() / 1_048_576.0,
                    one.isVerified() ? "yes" : "no", String.join(" ", places)));
        }
    }

    private static ObjectNode json(Snapshot one) {
        ObjectNode json = new ObjectMapper().createObjectNode();
        json.put("name", one.name()).put("made_ms", one.createdMs()).put("placements", one.placements()).put("bytes", one.bytes())
                .put("verified", one.isVerified()).put("previous", one.previous());
        for (PartitionStart.At at : one.places()) {
            json.withArrayProperty("partitions").addObject().put("partition", at.partition()).put("next_event", at.nextEvent())
                    .put("next_decision", at.nextDecision()).put("last_ms", at.lastTimeMs());
        }
        return json;
    }
}
