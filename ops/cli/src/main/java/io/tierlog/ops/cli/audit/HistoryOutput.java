/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.history.History;
import io.tierlog.ops.audit.history.HistoryReader;
import io.tierlog.ops.audit.history.Subject;
import io.tierlog.ops.cli.CliError;
import io.tierlog.ops.cli.ClusterOptions;
import io.tierlog.ops.cli.Columns;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** Reads a history and prints it: what the commands of one subject share. */
final class HistoryOutput {
    static final String EXIT_CODES = "Exit codes: 0 found, 1 the log has no record of it, 2 the log cannot be read.";

    private final CommandSpec spec;
    private final ClusterOptions cluster;
    private final AuditOptions audit;

    HistoryOutput(CommandSpec spec, ClusterOptions cluster, AuditOptions audit) {
        this.spec = spec;
        this.cluster = cluster;
        this.audit = audit;
    }

    /**
     * Prints what the log says.
     *
     * @param what the subject for people, for example "request r-1"
     * @param whyLeft only how a block left its tiers
     */
    int print(Subject subject, String what, boolean whyLeft) throws Exception {
        History history = audit.read(cluster, source -> {
            HistoryReader reader = new HistoryReader(source, cluster.topics(), cluster.codec(), audit.threads());
            return AuditOptions.withProgress(spec.commandLine().getErr(), reader::recordsSoFar, () -> reader.read(subject));
        });
        if (history.entries().isEmpty()) {
            String hint = history.similar().isEmpty()
                    ? "look at --topic-prefix, and whether the log goes back that far"
                    : "the log has " + String.join(", ", history.similar());
            throw new CliError("the log has no record of " + what, hint, CliError.FAILURE);
        }
        List<History.Entry> entries = whyLeft ? history.entries().stream().filter(History.Entry::departure).toList() : history.entries();
        PrintWriter out = spec.commandLine().getOut();
        switch (audit.format) {
            case text -> text(out, history, entries, subject instanceof Subject.Block, what);
            case json -> json(out, history, entries, subject instanceof Subject.Block);
        }
        out.flush();
        return 0;
    }

    private static void text(PrintWriter out, History history, List<History.Entry> entries, boolean block, String what) {
        Columns table = new Columns("TIME", "RECORD", "ABOUT", "WHAT", "CAUSE", "FIELDS");
        for (History.Entry entry : entries) {
            String level = entry.level().map(text -> "; " + text).orElse("");
            table.row(Columns.time(entry.timeMs()), entry.topic() + "-" + entry.partition() + "@" + entry.offset(), entry.aggregate(), entry.type(),
                    entry.cause().isEmpty() ? "-" : entry.cause(), String.join(" ", entry.fields()) + level);
        }
        table.print(out, what + " left no tier");
        if (block) {
            out.println();
            Columns now = new Columns("SERVES AT", "TIER", "PAGE", "GENERATION", "SINCE");
            history.placements().forEach(place ->
                    now.row(place.aggregate(), place.tier(), place.page(), place.generation(), Columns.time(place.sinceMs())));
            now.print(out, "It serves nowhere at the end of the log.");
        }
    }

    private static void json(PrintWriter out, History history, List<History.Entry> entries, boolean block) throws JsonProcessingException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode json = mapper.createObjectNode();
        var rows = json.putArray("records");
        for (History.Entry entry : entries) {
            ObjectNode row = rows.addObject();
            row.put("time_ms", entry.timeMs()).put("topic", entry.topic()).put("partition", entry.partition()).put("offset", entry.offset());
            row.put("aggregate", entry.aggregate()).put("type", entry.type()).put("cause", entry.cause()).put("departure", entry.departure());
            entry.level().ifPresent(level -> row.put("level", level));
            entry.fields().forEach(row.putArray("fields")::add);
        }
        if (block) {
            var places = json.putArray("placements");
            history.placements().forEach(place -> places.addObject().put("aggregate", place.aggregate()).put("tier", place.tier())
                    .put("page", place.page()).put("generation", place.generation()).put("since_ms", place.sinceMs()));
        }
        out.println(mapper.writeValueAsString(json));
    }
}
