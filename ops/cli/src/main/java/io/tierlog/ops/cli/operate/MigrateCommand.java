/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.Columns;
import io.tierlog.ops.cli.command.TimeText;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog migrate}: moves blocks to a colder tier. */
@Command(
        name = "migrate",
        description = "Move blocks to a colder tier, now or when they are next written.",
        subcommands = {MigrateCommand.Cancel.class, MigrateCommand.ListAll.class, MigrateCommand.Show.class},
        footer = {
            "",
            "Which blocks: --keys HEX,... with --namespace, --keys-file FILE with lines",
            "NAMESPACE HEX, or --sample N for the coldest. The request goes to the log; the",
            "answer comes when every node has accepted or refused its blocks. A request with",
            "the same --id is the same migration."
        })
public final class MigrateCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ApiOptions api;

    @Mixin
    BlockOptions blocks;

    @Option(names = "--sample", paramLabel = "N", description = "The N coldest blocks of the source on each node.")
    @Nullable Integer sample;

    @Option(names = "--min-age", paramLabel = "TIME", description = "With --sample: only blocks that were not used for this time, for example 60s.")
    @Nullable String minAge;

    @Option(names = "--group", paramLabel = "NAME", description = "With --sample: only blocks of this group.")
    @Nullable String group;

    @Option(names = "--from", paramLabel = "TIER", description = "host or disk.")
    @Nullable String from;

    @Option(names = "--to", paramLabel = "TIER", description = "disk or store, colder than --from.")
    @Nullable String to;

    @Option(names = "--method", paramLabel = "METHOD", description = "copy, mark or both (default: ${DEFAULT-VALUE}).")
    String method = "copy";

    @Option(names = "--retention", paramLabel = "WHAT", description = "delete-source or keep-both: whether the source of a copy is deleted.")
    @Nullable String retention;

    @Option(names = "--node", paramLabel = "NAME", split = ",", description = "Nodes that take part (default: all).")
    List<String> nodes = List.of();

    @Option(names = "--mark-timeout", paramLabel = "TIME", description = "How long marks hold (default: by the policy).")
    @Nullable String markTimeout;

    @Option(names = "--dry-run", description = "Show what would be accepted, and do nothing.")
    boolean dryRun;

    @Option(names = "--id", paramLabel = "ID", description = "Your id for the migration (default: a generated one).")
    @Nullable String id;

    @Option(names = "--deadline", paramLabel = "TIME", description = "How long to wait for the nodes' answers, at most 60s (default: 10s).")
    @Nullable String deadline;

    /** Made by picocli. */
    public MigrateCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        JsonNode answer = api.ask("POST", "/v1/migrations", body());
        api.print(spec.commandLine().getOut(), answer, out -> show(out, answer));
        return 0;
    }

    private ObjectNode body() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        put(body, "id", id);
        put(body, "method", method);
        put(body, "source", needed(from, "--from"));
        put(body, "target", needed(to, "--to"));
        put(body, "retention", retention);
        if (!nodes.isEmpty()) {
            nodes.forEach(body.putArray("nodes")::add);
        }
        ArrayNode named = blocks.read();
        if (!named.isEmpty()) {
            body.set("blocks", named);
        }
        if (sample != null) {
            ObjectNode rule = body.putObject("sample").put("count", sample);
            if (minAge != null) {
                rule.put("min_age_ms", TimeText.parse("--min-age", minAge));
            }
            put(rule, "group", group);
        } else if (minAge != null || group != null) {
            throw new CliError("--min-age and --group need --sample", "give --sample N as well", CliError.BAD_INPUT);
        }
        if (named.isEmpty() == (sample == null)) {
            throw new CliError(
                    "no blocks were given", "give --keys HEX,... with --namespace, or --keys-file FILE, or --sample N", CliError.BAD_INPUT);
        }
        if (markTimeout != null) {
            body.put("mark_timeout_ms", TimeText.parse("--mark-timeout", markTimeout));
        }
        if (deadline != null) {
            body.put("deadline_ms", TimeText.parse("--deadline", deadline));
        }
        return body.put("dry_run", dryRun);
    }

    private static void put(ObjectNode json, String field, @Nullable String value) {
        if (value != null) {
            json.put(field, value);
        }
    }

    private static String needed(@Nullable String value, String flag) {
        if (value == null) {
            throw new CliError(flag + " is missing", "tierlog migrate --help", CliError.BAD_INPUT);
        }
        return value;
    }

    /** One migration for people. */
    static void show(PrintWriter out, JsonNode migration) {
        String id = migration.path("id").asText();
        if (!migration.has("nodes")) {
            out.println(id + " is on the log and not answered yet: tierlog migrate show " + id);
            return;
        }
        JsonNode progress = migration.path("progress");
        out.println(id + "  " + migration.path("state").asText() + "  " + migration.path("method").asText() + " "
                + migration.path("source").asText() + " -> " + migration.path("target").asText()
                + (migration.path("dry_run").asBoolean() ? "  dry run" : ""));
        out.println("accepted " + migration.path("accepted") + ", rejected " + migration.path("rejected") + "; running " + progress.path("running")
                + ", done " + progress.path("done_blocks") + ", failed " + progress.path("failed_blocks") + ", moved "
                + Columns.bytes(progress.path("moved_bytes").asLong()));
        Columns table = new Columns("NODE", "NAMESPACE", "KEY", "ANSWER");
        for (JsonNode node : migration.path("nodes")) {
            String name = node.path("node").asText();
            if (!node.path("answered").asBoolean()) {
                table.row(name, "-", "-", "not answered yet");
            }
            for (JsonNode block : node.path("accepted")) {
                table.row(name, block.path("namespace").asText(), block.path("key").asText(),
                        block.path("method").asText().toLowerCase(Locale.ROOT));
            }
            for (JsonNode block : node.path("rejected")) {
                table.row(name, block.path("namespace").asText("-"), block.path("key").asText("-"), block.path("reason").asText());
            }
        }
        table.print(out, "no block was accepted or rejected");
    }

    /** {@code tierlog migrate cancel ID}. */
    @Command(name = "cancel", description = "Cancel a migration: no further copy begins, and copies in flight are cancelled.")
    static final class Cancel implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ApiOptions api;

        @Parameters(paramLabel = "ID", description = "The migration.")
        String id;

        @Override
        public Integer call() throws InterruptedException {
            JsonNode answer = api.ask("DELETE", "/v1/migrations/" + ApiOptions.encoded(id), null);
            api.print(spec.commandLine().getOut(), answer, out -> out.println(id + " is " + answer.path("state").asText()));
            return 0;
        }
    }

    /** {@code tierlog migrate list}. */
    @Command(name = "list", description = "Show migrations, the newest first.")
    static final class ListAll implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ApiOptions api;

        @Option(names = "--limit", paramLabel = "N", description = "Most rows (default: ${DEFAULT-VALUE}).")
        int limit = 100;

        @Override
        public Integer call() throws InterruptedException {
            Listing.requirePositive(limit);
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.putArray("migrations").addAll(api.pages("/v1/migrations", "migrations", limit));
            api.print(spec.commandLine().getOut(), json, out -> {
                Columns table = new Columns("ID", "STATE", "METHOD", "FROM", "TO", "ASKED", "NODES", "ACCEPTED", "REJECTED", "DONE", "FAILED");
                for (JsonNode row : json.path("migrations")) {
                    table.row(row.path("id").asText(), row.path("state").asText(), row.path("method").asText(), row.path("source").asText(),
                            row.path("target").asText(), Columns.time(row.path("asked_ms").asLong()),
                            row.path("nodes_answered") + "/" + row.path("nodes_asked"), row.path("accepted"), row.path("rejected"),
                            row.path("progress").path("done_blocks"), row.path("progress").path("failed_blocks"));
                }
                table.print(out, "no migrations");
            });
            return 0;
        }
    }

    /** {@code tierlog migrate show ID}. */
    @Command(name = "show", description = "Show a migration, block by block.")
    static final class Show implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ApiOptions api;

        @Parameters(paramLabel = "ID", description = "The migration.")
        String id;

        @Override
        public Integer call() throws InterruptedException {
            JsonNode answer = api.ask("GET", "/v1/migrations/" + ApiOptions.encoded(id), null);
            api.print(spec.commandLine().getOut(), answer, out -> MigrateCommand.show(out, answer));
            return 0;
        }
    }
}
