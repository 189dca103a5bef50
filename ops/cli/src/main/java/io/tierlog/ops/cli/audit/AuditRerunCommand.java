/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Codec;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.ops.audit.rerun.Rerun;
import io.tierlog.ops.audit.rerun.RerunReport;
import io.tierlog.ops.audit.rerun.RerunReport.Difference;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tierlog audit rerun}: does the controller of this build decide as the log says. */
@Command(
        name = "rerun",
        description = "Decide the recorded events again and compare every decision byte by byte.",
        footer = {
            "",
            "It reads the topics of events and decisions from their beginning or a snapshot on, and writes nothing. The first decision that",
            "differs is shown as recorded and as decided again, with its input and the rows that the controller read for it. Inputs that were",
            "skipped on record are skipped again. Each partition needs memory for its tables.",
            "Exit codes: 0 the same decisions, 1 a decision differs, 2 the log cannot be read."
        })
final class AuditRerunCommand implements Callable<Integer> {
    /** Longest record or row in the text; the JSON has all of it. */
    private static final int TEXT_LENGTH = 2_000;
    /** Most rows in the text. */
    private static final int TEXT_ROWS = 20;

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Mixin
    SnapshotChoice from = new SnapshotChoice();

    @Mixin
    SpeedChoice compared = new SpeedChoice();

    @Override
    public Integer call() throws Exception {
        if (compared.compareSpeed && from.isChosen()) {
            throw new CliError("--compare-speed does not go with --snapshot: the bare reader begins with the first record", "leave one of them out",
                    CliError.BAD_INPUT);
        }
        return audit.read(cluster, source -> {
            Codec codec = cluster.codec();
            RerunReport report = AuditOptions.withProgress(spec.commandLine().getErr(), source, () -> rerun(source, codec));
            Verifier.Options withoutPlacements = new Verifier.Options(audit.threads(), false, false, false);
            print(report, compared.measure(() -> new Verifier(source, cluster.topics(), codec, withoutPlacements).readBare(),
                    () -> rerun(source, codec).recordsPerSecond()));
            return report.isSame() ? 0 : CliError.FAILURE;
        });
    }

    private RerunReport rerun(LogSource source, Codec codec) throws InterruptedException {
        return new Rerun(source, cluster.topics(), codec, audit.threads(), from.start(source, cluster.topics())).run();
    }

    private void print(RerunReport report, Map<String, Object> speed) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        switch (audit.format) {
            case text -> text(out, report, speed);
            case json -> out.println(new ObjectMapper().writeValueAsString(json(report, speed)));
        }
        out.flush();
    }

    private void text(PrintWriter out, RerunReport report, Map<String, Object> speed) {
        out.println(String.format(Locale.ROOT, "decided     %d events again, %d decisions, of %d partitions in %.1f s: %.0f records a second",
                report.events(), report.decisions(), report.partitions(), report.elapsedMs() / 1_000.0, report.recordsPerSecond()));
        if (report.undecided() > 0) {
            out.println("undecided   " + report.undecided() + " events at the end, which no controller has decided yet");
        }
        SpeedChoice.print(out, speed);
        if (report.first().isEmpty()) {
            out.println("the same decisions");
            return;
        }
        Difference first = report.first().get();
        out.println("DIFFERS     " + cluster.topics().decisions() + ", partition " + first.partition() + ", "
                + (first.offset() < 0 ? "no record" : "offset " + first.offset()));
        out.println("input       offset " + first.inputOffset() + ": " + shown(first.input()));
        out.println("recorded    " + shown(first.recorded()));
        out.println("rerun       " + shown(first.rerun()));
        List<String> rows = first.rowsRead();
        rows.stream().limit(TEXT_ROWS).forEach(row -> out.println("row read    " + shown(row)));
        if (rows.size() > TEXT_ROWS) {
            out.println("row read    and " + (rows.size() - TEXT_ROWS) + " more; --format json has them");
        }
        out.println("in all      " + report.differences() + " differences");
    }

    private static String shown(String text) {
        return text.length() <= TEXT_LENGTH ? text : text.substring(0, TEXT_LENGTH) + " ...";
    }

    private static ObjectNode json(RerunReport report, Map<String, Object> speed) {
        ObjectNode json = new ObjectMapper().createObjectNode();
        json.put("events", report.events()).put("decisions", report.decisions()).put("differences", report.differences())
                .put("elapsed_s", report.elapsedMs() / 1_000.0);
        report.first().ifPresent(first -> {
            ObjectNode at = json.putObject("first");
            at.put("partition", first.partition()).put("input_offset", first.inputOffset()).put("input", first.input());
            if (first.offset() >= 0) {
                at.put("offset", first.offset());
            }
            at.put("recorded", first.recorded()).put("rerun", first.rerun());
            first.rowsRead().forEach(at.putArray("rows_read")::add);
        });
        if (!speed.isEmpty()) {
            json.putPOJO("speed", speed);
        }
        return json;
    }
}
