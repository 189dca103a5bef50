/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.core.invariant.Invariant;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.ops.audit.VerifyReport;
import io.tierlog.ops.audit.WatchedLog;
import io.tierlog.ops.audit.heads.HeadCheck;
import io.tierlog.ops.audit.heads.HeadReport;
import io.tierlog.ops.audit.snapshot.Checkpoints;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog audit verify}: does a log hold together, and does it hold what it promises. */
@Command(
        name = "verify",
        description = "Check every record of a log, its numbers, and the invariants.",
        footer = {
            "",
            "It reads the topics of events, decisions and placements, and writes nothing. What it finds is named by topic, partition and offset;",
            "the first is the record to look at, others may only follow from it. What was altered in the last record of a sender about an",
            "aggregate, before anything followed it, shows only where it contradicts another record, or where --record-keys checks codes, or",
            "--head-keys signed heads. These also show records that were cut off at the end.",
            "Exit codes: 0 all holds, 1 something does not, 2 the log cannot be read."
        })
final class AuditVerifyCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Option(names = "--at-rest", description = "Nothing is in flight at the end of the log: nothing may be open there.")
    boolean atRest;

    @Mixin
    SnapshotChoice from = new SnapshotChoice();

    @Option(
            names = "--checkpoint",
            paramLabel = "DIR",
            description = "Go on from the last checkpoint in this directory, and leave another one when all holds; first, read everything.")
    @Nullable Path checkpoint;

    @Option(names = "--no-fold", description = "Do not fold the decisions into tables; saves the memory for them.")
    boolean noFold;

    @Option(names = "--no-placements", description = "Do not compare the placements topic; saves the memory for one entry per copy.")
    boolean noPlacements;

    @Mixin
    HeadChoice headChoice = new HeadChoice();

    @Mixin
    SpeedChoice compared = new SpeedChoice();

    @Override
    public Integer call() throws Exception {
        return audit.read(cluster, source -> {
            Codec codec = cluster.codec();
            if (checkpoint != null) {
                return goOn(source, codec, checkpoint);
            }
            Optional<HeadCheck> check = headChoice.check(source, cluster, audit.threads());
            Verifier verifier = verifier(source, codec, from.start(source, cluster.topics()));
            VerifyReport records = AuditOptions.withProgress(spec.commandLine().getErr(), source, verifier::verify);
            Optional<HeadReport> heads = check.isEmpty() ? Optional.empty() : Optional.of(
                    AuditOptions.withProgress(spec.commandLine().getErr(), source, () -> check.get().check(Optional.empty())));
            VerifyReport report = heads.map(proof -> records.with(proof.findings(), proof.found())).orElse(records);
            Map<String, Object> speed = compared.measure(() -> verifier(source, codec, from.start(source, cluster.topics())).readBare(),
                    () -> verifier(source, codec, from.start(source, cluster.topics())).verify().recordsPerSecond());
            print(report, heads, speed);
            return report.holds() ? 0 : CliError.FAILURE;
        });
    }

    private int goOn(WatchedLog source, Codec codec, Path directory) throws Exception {
        if (noFold || noPlacements || compared.compareSpeed) {
            throw new CliError("--checkpoint goes with none of --no-fold, --no-placements and --compare-speed", "leave them out", CliError.BAD_INPUT);
        }
        if (!source.hasPlacements()) {
            throw new CliError("--checkpoint does not go with an archive", "leave it out", CliError.BAD_INPUT);
        }
        Checkpoints checkpoints = new Checkpoints(directory, source, cluster.topics(), codec);
        Verifier.Options options = options(from.start(source, cluster.topics()));
        Optional<HeadCheck> heads = headChoice.check(source, cluster, audit.threads());
        Checkpoints.Audit made = AuditOptions.withProgress(spec.commandLine().getErr(), source,
                () -> checkpoints.verify(options, heads, System.currentTimeMillis()));
        print(made.report(), made.heads(), Map.of());
        return made.report().holds() ? 0 : CliError.FAILURE;
    }

    private Verifier.Options options(LogStart start) {
        return new Verifier.Options(audit.threads(), atRest, !noFold, !noPlacements, start, cluster.kafka().signing());
    }

    private Verifier verifier(LogSource source, Codec codec, LogStart start) {
        return new Verifier(source, cluster.topics(), codec, options(start));
    }

    private void print(VerifyReport report, Optional<HeadReport> heads, Map<String, Object> speed) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        switch (audit.format) {
            case text -> text(out, report, heads, speed);
            case json -> out.println(new ObjectMapper().writeValueAsString(json(report, heads, speed)));
        }
        out.flush();
    }

    private static void text(PrintWriter out, VerifyReport report, Optional<HeadReport> heads, Map<String, Object> speed) {
        LogInvariants.Counts o = report.operations();
        out.println(String.format(Locale.ROOT, "read        %d records, %.1f MiB, of %d partitions in %.1f s: %.0f a second", report.records(),
                report.bytes() / 1_048_576.0, report.partitions(), report.elapsedMs() / 1_000.0, report.recordsPerSecond()));
        out.println("operations  " + o.started() + " started = " + o.done() + " done + " + o.failed() + " failed + " + o.cancelled()
                + " cancelled + " + o.fenced() + " fenced + " + o.unfinished() + " unfinished");
        heads.ifPresent(proof -> HeadChoice.text(out, proof));
        report.notes().forEach(note -> out.println("note        " + note));
        SpeedChoice.print(out, speed);
        if (report.first().isEmpty()) {
            out.println("all holds");
            return;
        }
        Finding first = report.first().get();
        out.println("VIOLATED    " + first.check() + " by " + first.topic() + ", partition " + first.partition() + ", offset " + first.offset());
        out.println("            " + first.detail());
        out.println("in all");
        report.findings().entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(entry ->
                out.println(String.format(Locale.ROOT, "%8d  %-9s  %s", entry.getValue(), entry.getKey(), meaning(entry.getKey()))));
    }

    private static String meaning(String check) {
        return switch (check) {
            case Finding.BYTES -> "a record can be read";
            case Finding.HEADS -> "the log is what its signed heads say";
            case Finding.CODE -> "who writes such records has signed it";
            case Finding.NUMBERING -> "a record follows the one before";
            default -> Invariant.valueOf(check).meaning();
        };
    }

    private static Map<String, Object> json(VerifyReport report, Optional<HeadReport> heads, Map<String, Object> speed) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("holds", report.holds());
        report.first().ifPresent(first -> {
            Map<String, Object> at = new LinkedHashMap<>();
            at.put("check", first.check());
            at.put("topic", first.topic());
            at.put("partition", first.partition());
            at.put("offset", first.offset());
            at.put("detail", first.detail());
            json.put("first", at);
        });
        json.put("findings", report.findings());
        json.put("partitions", report.partitions());
        json.put("records", report.records());
        json.put("bytes", report.bytes());
        json.put("elapsedMs", report.elapsedMs());
        Map<String, Object> operations = new LinkedHashMap<>();
        operations.put("started", report.operations().started());
        operations.put("done", report.operations().done());
        operations.put("failed", report.operations().failed());
        operations.put("cancelled", report.operations().cancelled());
        operations.put("fenced", report.operations().fenced());
        operations.put("unfinished", report.operations().unfinished());
        json.put("operations", operations);
        heads.ifPresent(proof -> json.put("heads", HeadChoice.json(proof)));
        json.put("notes", report.notes());
        if (!speed.isEmpty()) {
            json.put("speed", speed);
        }
        return json;
    }
}
