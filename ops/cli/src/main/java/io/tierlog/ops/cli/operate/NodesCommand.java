/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.Columns;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog nodes [NAME]}: nodes, and how full their tiers are. */
@Command(name = "nodes", description = "Show all nodes and how full their tiers are, or one node in detail.")
public final class NodesCommand implements Callable<Integer> {
    private static final int MOST = 100_000;

    @Spec
    CommandSpec spec;

    @Mixin
    ApiOptions api;

    @Parameters(arity = "0..1", paramLabel = "NAME", description = "The node.")
    @Nullable String name;

    /** Made by picocli. */
    public NodesCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        String one = name;
        if (one != null) {
            JsonNode node = api.ask("GET", "/v1/nodes/" + ApiOptions.encoded(one), null);
            api.print(spec.commandLine().getOut(), node, out -> show(out, node));
            return 0;
        }
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.putArray("nodes").addAll(api.pages("/v1/nodes", "nodes", MOST));
        api.print(spec.commandLine().getOut(), json, out -> list(out, json.path("nodes")));
        return 0;
    }

    private static void list(PrintWriter out, JsonNode nodes) {
        Columns table = new Columns("NODE", "STATE", "TIER", "USED", "LEAVING", "CAPACITY", "SHARE");
        for (JsonNode node : nodes) {
            for (JsonNode tier : node.path("tiers")) {
                long capacity = tier.path("capacity_bytes").asLong();
                table.row(node.path("node").asText(), state(node), tier.path("tier").asText(), Columns.bytes(tier.path("used_bytes").asLong()),
                        Columns.bytes(tier.path("leaving_bytes").asLong()), Columns.bytes(capacity),
                        capacity == 0 ? "-" : Columns.percent(tier.path("used_bytes").asDouble() / capacity));
            }
        }
        table.print(out, "no nodes");
    }

    private static String state(JsonNode node) {
        if (!node.path("alive").asBoolean()) {
            return "gone";
        }
        if (!node.path("draining").asBoolean()) {
            return node.path("draining_instances").isEmpty() ? "serves" : "serves, an instance drains";
        }
        long left = node.path("left_blocks").asLong();
        return !node.path("drained").asBoolean() ? "drains" : left == 0 ? "drained" : "drained but for " + left + " blocks";
    }

    private static void show(PrintWriter out, JsonNode node) {
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        all.putArray("nodes").add(node);
        list(out, all.path("nodes"));
        Columns engines = new Columns("ENGINE", "DEVICE BLOCKS");
        node.path("engines").forEach(engine -> engines.row(engine.path("instance").asText(), engine.path("device_blocks")));
        out.println();
        engines.print(out, "no engines");
        Columns groups = GroupsCommand.columns("GROUP");
        node.path("groups").forEach(group -> GroupsCommand.rows(groups, group.path("group").asText(), group.path("tiers")));
        out.println();
        groups.print(out, "no group has blocks here");
        Columns tenants = new Columns("NAMESPACE", "GROUP", "TIER", "BLOCKS", "BYTES");
        for (JsonNode namespace : node.path("namespaces")) {
            for (JsonNode tier : namespace.path("tiers")) {
                tenants.row(namespace.path("namespace").asText(), namespace.path("group").asText(), tier.path("tier").asText(),
                        tier.path("used_blocks"), Columns.bytes(tier.path("used_bytes").asLong()));
            }
        }
        out.println();
        tenants.print(out, "no namespace has blocks here");
        if (node.path("namespaces_left_out").asLong() > 0) {
            out.println("and " + node.path("namespaces_left_out") + " more");
        }
        Columns routes = new Columns("IN FLIGHT", "FROM", "TO", "COPIES", "BLOCKS");
        node.path("routes").forEach(route -> routes.row(route.path("group").asText().isEmpty() ? "-" : route.path("group").asText(),
                route.path("source").asText(), route.path("target").asText(), route.path("operations"), route.path("blocks")));
        out.println();
        routes.print(out, "no copy is in flight");
    }
}
