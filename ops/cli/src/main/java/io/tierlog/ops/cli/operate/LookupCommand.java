/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.Columns;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog lookup}: how long a prefix is served. */
@Command(name = "lookup", description = "Show how much of a prefix each node and tier serves, and which source is the cheapest.")
public final class LookupCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    DirectoryOptions directory;

    @Mixin
    KeyOptions keys;

    @Option(names = "--node", paramLabel = "NAME", description = "The node that needs it (default: the one that gets most at the lowest cost).")
    @Nullable String node;

    /** Made by picocli. */
    public LookupCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        ObjectNode body = keys.body();
        if (node != null) {
            body.put("node", node);
        }
        JsonNode answer = directory.ask("POST", "/v1/lookup", body);
        directory.print(spec.commandLine().getOut(), answer, out -> show(out, answer));
        return 0;
    }

    private static void show(PrintWriter out, JsonNode answer) {
        out.println(answer.path("blocks") + " blocks serve without a gap"
                + (answer.path("unknown_from").asInt() < 0 ? "" : ", and the state of the next one is unknown"));
        Columns table = new Columns("NODE", "BLOCKS", "TIERS", "CAN HAVE", "COST");
        for (JsonNode node : answer.path("nodes")) {
            StringBuilder tiers = new StringBuilder();
            node.path("tiers").forEach(tier ->
                    tiers.append(tiers.isEmpty() ? "" : ", ").append(tier.path("tier").asText()).append(' ').append(tier.path("blocks")));
            table.row(node.path("node").asText(), node.path("blocks"), tiers, node.path("reach"), node.path("cost_us") + " us");
        }
        table.print(out, "no node has the first block");
        JsonNode best = answer.path("best");
        Columns sources = new Columns("BLOCKS", "FROM", "TIER", "EACH");
        best.path("sources").forEach(run -> sources.row(
                run.path("first").asInt() + "-" + (run.path("first").asInt() + run.path("blocks").asInt() - 1),
                run.path("owner").asText(), run.path("tier").asText(), run.path("block_cost_us") + " us"));
        if (!best.path("sources").isEmpty()) {
            out.println();
            String who = best.path("node").asText().isEmpty() ? "a node that has nothing" : best.path("node").asText();
            out.println(who + " gets " + best.path("blocks") + " blocks in " + best.path("cost_us") + " us:");
            sources.print(out, "");
        }
        KeyOptions.freshness(out, answer);
    }
}
