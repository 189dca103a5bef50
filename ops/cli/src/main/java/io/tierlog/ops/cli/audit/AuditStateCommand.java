/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.audit.state.StateDiff;
import io.tierlog.ops.audit.state.StateReader;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.Columns;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog audit state}: the controller's tables as they were. */
@Command(
        name = "state",
        description = "Show the controller's tables as they were at a moment, or what changed between two.",
        footer = {
            "",
            "A moment is PARTITION:OFFSET of a decision (each partition has its own offsets; after that decision), TOPIC-PARTITION@OFFSET as other",
            "audit commands print it (an event: after the decisions that answer it), a time such as 2026-01-31T12:00:00Z (all partitions; before the",
            "first decision that was appended later), or end. An offset alone is a moment where there is one partition, or with --node.",
            "The tables are the fold of the decisions by the controller's core; each partition needs memory for them. --diff names the first and the",
            "last decision that changed each field.",
            "Exit codes: 0 shown, 1 the log has no such node, 2 there is no such moment or the log cannot be read."
        })
final class AuditStateCommand implements Callable<Integer> {
    /** Most decisions of a row in the text, the last ones; the JSON has more. */
    private static final int TEXT_DECISIONS = 4;
    /** Longest list of fields in the text; the JSON has all. */
    private static final int TEXT_FIELDS = 300;

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Mixin
    SnapshotChoice from = new SnapshotChoice();

    @Option(names = "--at", paramLabel = "MOMENT", description = "The moment (default: end).")
    @Nullable String at;

    @Option(names = "--diff", paramLabel = "MOMENT", arity = "2", description = "Two moments: which rows differ, and which decisions changed them.")
    @Nullable List<String> diff;

    @Option(names = "--node", paramLabel = "NAME", description = "Only this node.")
    @Nullable String node;

    @Option(names = "--blocks", description = "List each block that a tier holds, too.")
    boolean blocks;

    @Override
    public Integer call() throws Exception {
        List<String> two = diff;
        if (two != null && (at != null || blocks)) {
            throw new CliError("--diff has moments of its own, and lists no blocks", "leave out --at and --blocks, or --diff", CliError.BAD_INPUT);
        }
        String moment = at == null ? "end" : at;
        ObjectNode json = audit.read(cluster, source -> {
            Topics topics = cluster.topics();
            StateReader reader =
                    new StateReader(source, topics, cluster.codec(), audit.threads(), first -> from.start(source, topics, first));
            Optional<String> only = Optional.ofNullable(node);
            return AuditOptions.withProgress(spec.commandLine().getErr(), source, () -> two == null
                    ? state(reader.read(Moment.parse("--at", moment, topics), only), moment)
                    : json(reader.difference(Moment.parse("--diff", two.getFirst(), topics), Moment.parse("--diff", two.getLast(), topics), only)));
        });
        PrintWriter out = spec.commandLine().getOut();
        switch (audit.format) {
            case json -> out.println(new ObjectMapper().writeValueAsString(json));
            case text -> {
                if (two == null) {
                    state(out, json);
                } else {
                    difference(out, json);
                }
            }
        }
        out.flush();
        return 0;
    }

    private ObjectNode state(LogState state, String moment) {
        ObjectNode json = new StateJson(Optional.ofNullable(node), blocks).of(state);
        if (node != null && json.path("nodes").isEmpty()) {
            throw noNode(moment);
        }
        return json;
    }

    private CliError noNode(String moment) {
        return new CliError("the log has no node " + node + " at " + moment, "audit state without --node shows the nodes that it has",
                CliError.FAILURE);
    }

    private static void state(PrintWriter out, ObjectNode json) throws JsonProcessingException {
        for (var list : json.properties()) {
            if (list.getValue() instanceof ArrayNode rows && !list.getKey().equals("policies")) {
                String name = list.getKey().replace('_', ' ');
                if (rows.isEmpty()) {
                    out.println("no " + name);
                } else {
                    RowTable.of(name, rows).print(out, "");
                }
                out.println();
            }
        }
        for (JsonNode policy : json.path("policies")) {
            out.println("policy version " + policy.path("version") + ": " + new ObjectMapper().writeValueAsString(policy.path("policy")));
        }
    }

    private ObjectNode json(StateDiff diff) {
        if (!diff.hasNode()) {
            throw noNode("either moment");
        }
        ObjectNode json = new ObjectMapper().createObjectNode();
        ArrayNode from = json.putArray("from");
        diff.from().forEach(at -> StateJson.at(from.addObject(), at));
        ArrayNode to = json.putArray("to");
        diff.to().forEach(at -> StateJson.at(to.addObject(), at));
        json.put("decisions", diff.decisions());
        ArrayNode changes = json.putArray("changes");
        for (StateDiff.Change change : diff.changes()) {
            ObjectNode row = changes.addObject().put("table", change.table()).put("partition", change.partition())
                    .put("aggregate", change.aggregate()).put("row", change.row()).put("change", SummaryText.words(change.kind()));
            ArrayNode fields = row.putArray("fields");
            change.fields().forEach(field -> decisions(
                    fields.addObject().put("field", field.path()).put("before", field.before()).put("after", field.after()).putArray("by"),
                    field.by()));
            row.put("decision_count", change.decisionCount());
            decisions(row.putArray("decisions"), change.decisions());
        }
        return json;
    }

    private static void decisions(ArrayNode rows, List<StateDiff.By> decisions) {
        decisions.forEach(by -> rows.addObject().put("offset", by.offset()).put("type", by.type()));
    }

    private static void difference(PrintWriter out, ObjectNode json) {
        ArrayNode stretch = new ObjectMapper().createArrayNode();
        for (int i = 0; i < json.path("from").size(); i++) {
            JsonNode to = json.path("to").path(i);
            stretch.addObject().put("partition", to.path("partition").asInt())
                    .put("from_decision", json.path("from").path(i).path("decision").asLong()).put("to_decision", to.path("decision").asLong());
        }
        RowTable.of("partitions", stretch).print(out, "no partitions");
        out.println();
        Columns table = new Columns("TABLE", "ABOUT", "ROW", "CHANGE", "BY DECISIONS", "FIELDS");
        for (JsonNode change : json.path("changes")) {
            List<String> by = new ArrayList<>();
            JsonNode decisions = change.path("decisions");
            long left = change.path("decision_count").asLong() - Math.min(TEXT_DECISIONS, decisions.size());
            for (int i = Math.max(0, decisions.size() - TEXT_DECISIONS); i < decisions.size(); i++) {
                by.add(change.path("partition") + ":" + decisions.get(i).path("offset") + " " + decisions.get(i).path("type").asText());
            }
            table.row(change.path("table").asText(), change.path("aggregate").asText(), dash(change.path("row").asText()),
                    change.path("change").asText(), String.join(", ", by) + (left > 0 ? ", and " + left + " more" : ""), fields(change));
        }
        table.print(out, "no row differs");
        out.println();
        out.println(json.path("decisions") + " decisions, " + json.path("changes").size() + " rows differ");
    }

    private static String fields(JsonNode change) {
        List<String> texts = new ArrayList<>();
        boolean changed = change.path("change").asText().equals("changed");
        for (JsonNode field : change.path("fields")) {
            String now = field.path(change.path("change").asText().equals("removed") ? "before" : "after").asText();
            texts.add(field.path("field").asText() + "=" + (changed ? field.path("before").asText() + " -> " + now : now));
        }
        String all = dash(String.join(" ", texts));
        return all.length() <= TEXT_FIELDS ? all : all.substring(0, TEXT_FIELDS) + "...";
    }

    private static String dash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}
