/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.ops.cli.command.Columns;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog groups}: use of groups against their quotas. */
@Command(name = "groups", description = "Show how much of its quotas each group uses, over all nodes.")
public final class GroupsCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ApiOptions api;

    @Option(names = "--by-node", description = "One row for each node.")
    boolean byNode;

    /** Made by picocli. */
    public GroupsCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        JsonNode answer = api.ask("GET", "/v1/groups", null);
        api.print(spec.commandLine().getOut(), answer, out -> {
            Columns table = columns(byNode ? "GROUP ON NODE" : "GROUP");
            for (JsonNode group : answer.path("groups")) {
                String name = group.path("group").asText();
                if (byNode) {
                    group.path("nodes").forEach(node -> rows(table, name + " on " + node.path("node").asText(), node.path("tiers")));
                } else {
                    rows(table, name, group.path("tiers"));
                }
            }
            table.print(out, "no group has a quota or blocks");
        });
        return 0;
    }

    static Columns columns(String first) {
        return new Columns(first, "TIER", "USED", "LEAVING", "QUOTA", "SHARE", "EVICTING");
    }

    static void rows(Columns table, String name, JsonNode tiers) {
        for (JsonNode tier : tiers) {
            boolean quota = !tier.path("quota_bytes").isNull();
            table.row(name, tier.path("tier").asText(), Columns.bytes(tier.path("used_bytes").asLong()),
                    Columns.bytes(tier.path("leaving_bytes").asLong()), quota ? Columns.bytes(tier.path("quota_bytes").asLong()) : "-",
                    quota ? Columns.percent(tier.path("share").asDouble()) : "-", tier.path("in_relief").asBoolean() ? "yes" : "no");
        }
    }
}
