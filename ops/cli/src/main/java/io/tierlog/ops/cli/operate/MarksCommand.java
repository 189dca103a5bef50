/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.Columns;
import io.tierlog.ops.cli.command.CommandGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog marks}: blocks that go to a colder tier when they are next written. */
@Command(
        name = "marks",
        description = "Show or clear marks: blocks that go to a colder tier when they are next written.",
        subcommands = {MarksCommand.Clear.class, MarksCommand.ListAll.class})
public final class MarksCommand extends CommandGroup {
    /** Made by picocli. */
    public MarksCommand() {}

    /** {@code tierlog marks clear}. */
    @Command(name = "clear", description = "Clear marks of a node: those of some blocks, or all of them with --all.")
    static final class Clear implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ApiOptions api;

        @Mixin
        BlockOptions blocks;

        @Option(names = "--node", paramLabel = "NAME", required = true, description = "The node.")
        String node;

        @Option(names = "--all", description = "All marks of the node.")
        boolean all;

        @Option(names = "--id", paramLabel = "ID", description = "Your id for the request, which the log records (default: a generated one).")
        @Nullable String id;

        @Override
        public Integer call() throws InterruptedException {
            ArrayNode named = blocks.read();
            if (named.isEmpty() != all) {
                throw new CliError("no marks were given", "give --keys HEX,... with --namespace, or --keys-file FILE, or --all", CliError.BAD_INPUT);
            }
            ObjectNode body = JsonNodeFactory.instance.objectNode().put("node", node);
            if (!named.isEmpty()) {
                body.set("blocks", named);
            }
            if (id != null) {
                body.put("id", id);
            }
            JsonNode answer = api.ask("DELETE", "/v1/marks", body);
            api.print(spec.commandLine().getOut(), answer,
                    out -> out.println("cleared " + answer.path("cleared") + " marks of " + node
                            + (answer.path("done").asBoolean() ? "" : " so far; run it again to clear the rest")));
            return 0;
        }
    }

    /** {@code tierlog marks list}. */
    @Command(name = "list", description = "Show marks.")
    static final class ListAll implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ApiOptions api;

        @Option(names = "--node", paramLabel = "NAME", description = "Only of this node.")
        @Nullable String node;

        @Option(names = "--group", paramLabel = "NAME", description = "Only of this group.")
        @Nullable String group;

        @Option(names = "--limit", paramLabel = "N", description = "Most rows (default: ${DEFAULT-VALUE}).")
        int limit = 1_000;

        @Override
        public Integer call() throws InterruptedException {
            Listing.requirePositive(limit);
            List<String> query = new ArrayList<>();
            if (node != null) {
                query.add("node=" + ApiOptions.encoded(node));
            }
            if (group != null) {
                query.add("group=" + ApiOptions.encoded(group));
            }
            String path = "/v1/marks" + (query.isEmpty() ? "" : "?" + String.join("&", query));
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.putArray("marks").addAll(api.pages(path, "marks", limit));
            api.print(spec.commandLine().getOut(), json, out -> {
                Columns table = new Columns("NODE", "NAMESPACE", "KEY", "GROUP", "TO", "UNTIL", "BY");
                for (JsonNode row : json.path("marks")) {
                    String by = row.path("migration").isNull() ? row.path("trigger").asText() : row.path("migration").asText();
                    table.row(row.path("node").asText(), row.path("namespace").asText(), row.path("key").asText(), row.path("group").asText(),
                            row.path("target").asText(), Columns.time(row.path("end_ms").asLong()), by);
                }
                table.print(out, "no marks");
            });
            return 0;
        }
    }
}
