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

/** {@code tierlog drain NODE}: copies what only this node has to the store, and gives it nothing new. */
@Command(
        name = "drain",
        description = "Drain a node: what only it has is copied away, and nothing new is moved to it. --undo ends the drain.",
        footer = {"", "`tierlog nodes NAME` shows when it is drained."})
public final class DrainCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ApiOptions api;

    @Parameters(paramLabel = "NODE", description = "The node.")
    String node;

    @Option(names = "--undo", description = "End the drain: the node serves again.")
    boolean undo;

    @Option(names = "--instance", paramLabel = "NAME", description = "Only this engine instance.")
    @Nullable String instance;

    @Option(names = "--id", paramLabel = "ID", description = "Your id for the request: the same id is applied once (default: a generated one).")
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
