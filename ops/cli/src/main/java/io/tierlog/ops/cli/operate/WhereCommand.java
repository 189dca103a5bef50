/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.Columns;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog where}: all placements of a block. */
@Command(name = "where", description = "Show all placements of a block.")
public final class WhereCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    DirectoryOptions directory;

    @Option(names = "--namespace", paramLabel = "NAME", required = true, description = "Namespace of the block.")
    String namespace;

    @Parameters(paramLabel = "KEY", description = "Its key in hexadecimal digits.")
    String key;

    /** Made by picocli. */
    public WhereCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("namespace", namespace).put("key", key);
        JsonNode answer = directory.ask("POST", "/v1/where", body);
        directory.print(spec.commandLine().getOut(), answer, out -> {
            Columns table = new Columns("OWNER", "TIER", "INCARNATION", "INDEX", "GENERATION");
            answer.path("placements").forEach(placed -> table.row(placed.path("owner").asText(), placed.path("tier").asText(),
                    placed.path("incarnation"), placed.path("index"), placed.path("generation")));
            table.print(out, answer.path("answer").asText().equals("UNKNOWN") ? "unknown" : "no placement");
            KeyOptions.freshness(out, answer);
        });
        return 0;
    }
}
