/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.history.History;
import io.tierlog.ops.audit.history.HistoryReader;
import io.tierlog.ops.audit.history.Subject;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.Columns;
import java.io.PrintWriter;
import java.util.HexFormat;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** Reads a history and prints it: what the commands of one subject share. */
final class HistoryOutput {
    static final String EXIT_CODES = "Exit codes: 0 found, 1 the log has no record of it, 2 wrong input, or the log cannot be read.";

    private static final int MAX_PREFIX_ROWS = 200;

    private final CommandSpec spec;
    private final ClusterOptions cluster;
    private final AuditOptions audit;

    HistoryOutput(CommandSpec spec, ClusterOptions cluster, AuditOptions audit) {
        this.spec = spec;
        this.cluster = cluster;
        this.audit = audit;
    }

    /** What of a history is printed. */
    enum Part {
        ALL,
        /** How a block left its tiers. */
        DEPARTURES,
        /** The prompts that contain a block. */
        PREFIX
    }

    /**
     * Prints what the log says.
     *
     * @param what the subject for people, for example "request r-1"
     */
    int print(Subject subject, StretchOptions stretch, String what, Part part) throws Exception {
        History history = audit.read(cluster, source -> {
            HistoryReader reader = new HistoryReader(source, cluster.topics(), cluster.codec(), audit.threads());
            return AuditOptions.withProgress(
                    spec.commandLine().getErr(), source, () -> reader.read(subject, stretch.stretch(cluster.topics())));
        });
        if (history.entries().isEmpty()) {
            String hint = history.similar().isEmpty()
                    ? "look at --topic-prefix, at --from and --to, and whether the log goes back that far"
                    : "the log has " + String.join(", ", history.similar());
            throw new CliError("the log has no record of " + what, hint, CliError.FAILURE);
        }
        ObjectNode json = json(history, subject, part);
        PrintWriter out = spec.commandLine().getOut();
        switch (audit.format) {
            case text -> text(out, history, json, part, what);
            case json -> out.println(new ObjectMapper().writeValueAsString(json));
        }
        out.flush();
        return 0;
    }

    private static void text(PrintWriter out, History history, ObjectNode json, Part part, String what) {
        if (json.get("prefix") instanceof ArrayNode prefix) {
            Columns table = new Columns("INDEX", "BLOCK", "REQUESTS", "LAST");
            for (int i = 0; i < Math.min(MAX_PREFIX_ROWS, prefix.size()); i++) {
                JsonNode row = prefix.get(i);
                table.row(row.path("index"), "  ".repeat(row.path("forks").asInt()) + row.path("key").asText()
                        + (row.path("wanted").asBoolean() ? " <-" : ""), row.path("requests"), Columns.time(row.path("last_ms").asLong()));
            }
            table.print(out, "no request of the stretch has it in its prompt");
            if (prefix.size() > MAX_PREFIX_ROWS) {
                out.println("and " + (prefix.size() - MAX_PREFIX_ROWS) + " more; --format json has them");
            }
            return;
        }
        for (JsonNode attempt : json.path("attempts")) {
            out.println("attempt " + attempt.path("attempt") + " on " + attempt.path("node").asText() + ", namespace "
                    + attempt.path("namespace").asText() + (attempt.has("trace") ? ", trace " + attempt.path("trace").asText() : ""));
            out.println();
            RowTable.of("steps", attempt.withArray("steps")).print(out, "no step");
            out.println();
            RowTable.of("blocks", attempt.withArray("blocks")).print(out, "no whole block");
            out.println();
        }
        Columns table = new Columns("TIME", "RECORD", "ABOUT", "WHAT", "CAUSE", "FIELDS");
        for (History.Entry entry : entries(history, part)) {
            String level = entry.level().map(text -> "; " + text).orElse("");
            table.row(Columns.time(entry.timeMs()), entry.topic() + "-" + entry.partition() + "@" + entry.offset(), entry.aggregate(), entry.type(),
                    entry.cause().isEmpty() ? "-" : entry.cause(), String.join(" ", entry.fields()) + level);
        }
        table.print(out, what + " left no tier");
        if (json.get("placements") instanceof ArrayNode placements) {
            out.println();
            RowTable.of("serves at", placements).print(out, "It serves nowhere at the end of the stretch.");
        }
    }

    private static List<History.Entry> entries(History history, Part part) {
        return part == Part.DEPARTURES ? history.entries().stream().filter(History.Entry::departure).toList() : history.entries();
    }

    private static ObjectNode json(History history, Subject subject, Part part) {
        ObjectNode json = new ObjectMapper().createObjectNode();
        if (part == Part.PREFIX) {
            ArrayNode prefix = json.putArray("prefix");
            String wanted = subject instanceof Subject.Block block ? HexFormat.of().formatHex(block.key()) : "";
            history.prefix().forEach(block -> prefix.addObject().put("index", block.index()).put("key", block.key())
                    .put("wanted", block.key().equals(wanted)).put("forks", block.forks()).put("requests", block.requests())
                    .put("last_ms", block.lastMs()));
            return json;
        }
        if (subject instanceof Subject.Request) {
            ArrayNode attempts = json.putArray("attempts");
            history.attempts().forEach(attempt -> attempt(attempts.addObject(), attempt));
        }
        ArrayNode rows = json.putArray("records");
        for (History.Entry entry : entries(history, part)) {
            ObjectNode row = rows.addObject();
            row.put("time_ms", entry.timeMs()).put("topic", entry.topic()).put("partition", entry.partition()).put("offset", entry.offset());
            row.put("aggregate", entry.aggregate()).put("type", entry.type()).put("cause", entry.cause()).put("departure", entry.departure());
            entry.level().ifPresent(level -> row.put("level", level));
            entry.fields().forEach(row.putArray("fields")::add);
        }
        if (subject instanceof Subject.Block) {
            ArrayNode places = json.putArray("placements");
            history.placements().forEach(place -> places.addObject().put("aggregate", place.aggregate()).put("tier", place.tier())
                    .put("page", place.page()).put("generation", place.generation()).put("since_ms", place.sinceMs()));
        }
        return json;
    }

    private static void attempt(ObjectNode json, History.Attempt attempt) {
        json.put("attempt", attempt.attempt()).put("node", attempt.aggregate()).put("namespace", attempt.namespace());
        if (!attempt.trace().isEmpty()) {
            json.put("trace", attempt.trace());
        }
        ArrayNode steps = json.putArray("steps");
        attempt.steps().forEach(step -> steps.addObject().put("time_ms", step.timeMs()).put("step", step.step()).put("after_ms", step.afterMs())
                .put("waited_for", step.waitedFor()).put("detail", step.detail()));
        ArrayNode blocks = json.putArray("blocks");
        attempt.blocks().forEach(block -> blocks.addObject().put("index", block.index()).put("key", block.key()).put("found", block.found())
                .put("became", block.became()).put("why", block.why()).put("brought_by", block.broughtBy()));
    }
}
