/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog drain NODE}: empties a node of what only it has. */
@Command(
        name = "drain",
        description = "Have a node emptied of what only it has, and nothing new moved to it; --undo takes that back.",
        footer = {"", "`tierlog nodes NAME` says when it is drained."})
public final class DrainCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ApiOptions api;

    @Parameters(paramLabel = "NODE", description = "The node.")
    String node;

    @Option(names = "--undo", description = "Have it serve again.")
    boolean undo;

    @Option(names = "--instance", paramLabel = "NAME", description = "Only this engine instance.")
    @Nullable String instance;

    @Option(names = "--id", paramLabel = "ID", description = "Your own id for it: asked twice, it is done once (default: one is made up).")
    @Nullable String id;

    /** Made by picocli. */
    public DrainCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (instance != null) {
            body.put("instance", instance);
        }
        if (id != null) {
            body.put("id", id);
        }
        JsonNode answer = api.ask(undo ? "DELETE" : "POST", "/v1/nodes/" + ApiOptions.encoded(node) + "/drain", body);
        api.print(spec.commandLine().getOut(), answer, out -> {
            String state = answer.path("draining").asBoolean() ? answer.path("drained").asBoolean() ? "is drained" : "drains" : "serves";
            out.println(node + " " + state);
            answer.path("draining_instances").forEach(name -> out.println("instance " + name.asText() + " drains"));
        });
        return 0;
    }
}
