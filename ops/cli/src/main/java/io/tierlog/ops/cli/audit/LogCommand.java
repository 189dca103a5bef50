/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.snapshot.LogTrim;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.CommandGroup;
import io.tierlog.ops.cli.command.OutputFormat;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog log}: the records of a log as a whole. */
@Command(
        name = "log",
        description = "Trim a log, once or round by round, or sign its heads.",
        subcommands = {LogRetainCommand.class, LogSignCommand.class, LogCommand.Trim.class})
public final class LogCommand extends CommandGroup {
    /** {@code tierlog log trim}. */
    @Command(
            name = "trim",
            description = "Delete the events and decisions before a verified snapshot.",
            footer = {
                "",
                "It keeps what a controller compares its state with, what is younger than --keep-hours, the last --keep-mb, and what a group has",
                "not read yet: of the groups that this user may DESCRIBE, which it prints.",
                "What is deleted is gone: audit archive copies it to files before. Keep the snapshot as long as the log.",
                "Exit codes: 0 done, 2 the snapshot is not verified or of another log, or the log cannot be read."
            })
    static final class Trim implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ClusterOptions cluster;

        @Option(names = "--before", paramLabel = "DIR", required = true, description = "The snapshot, or a directory of them: then the last one.")
        Path before;

        @Mixin
        RetentionOptions retention;

        @Option(names = "--dry-run", description = "Delete nothing; only print what would be deleted.")
        boolean dryRun;

        @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
        OutputFormat format = OutputFormat.text;

        @Override
        public Integer call() throws Exception {
            try (LogSource source = new ClusterLog(cluster.kafka())) {
                Snapshot snapshot = SnapshotDirectory.find(before);
                LogTrim trim = new LogTrim(cluster.kafka(), source, cluster.topics(), cluster.codec());
                LogTrim.Plan plan = trim.plan(snapshot, retention.at(System.currentTimeMillis()));
                if (!dryRun) {
                    trim.delete(plan);
                }
                print(spec.commandLine().getOut(), format, plan, dryRun);
                return 0;
            } catch (AuditException e) {
                throw new CliError(e.getMessage(), e.hint(), CliError.BAD_INPUT, e);
            }
        }
    }

    /** Prints each cut, and what limits it. */
    static void print(PrintWriter out, OutputFormat format, LogTrim.Plan plan, boolean dryRun) {
        switch (format) {
            case text -> {
                out.println(String.format(Locale.ROOT, "%-24s  %12s  %12s  %s", "PARTITION", dryRun ? "WOULD DELETE" : "DELETED", "BEGINS AT",
                        "LIMITED BY"));
                plan.cuts().forEach(cut -> out.println(String.format(Locale.ROOT, "%-24s  %12d  %12d  %s", cut.place(), cut.records(),
                        Math.max(cut.begin(), cut.before()), cut.limit())));
                out.println("groups looked at: " + (plan.groups().isEmpty() ? "none" : String.join(", ", plan.groups())));
            }
            case json -> {
                ObjectNode all = new ObjectMapper().createObjectNode();
                ArrayNode cuts = all.putArray("cuts");
                plan.cuts().forEach(cut -> cuts.addObject().put("topic", cut.place().topic()).put("partition", cut.place().partition())
                        .put("records", cut.records()).put("begins_at", Math.max(cut.begin(), cut.before())).put("limited_by", cut.limit()));
                plan.groups().forEach(all.putArray("groups")::add);
                out.println(all);
            }
        }
        out.flush();
    }
}
