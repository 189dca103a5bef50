/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.Columns;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog exist}: whether any tier serves blocks. */
@Command(
        name = "exist",
        description = "Show whether any tier of any node, or the store, serves blocks.",
        footer = {"", "Exit code 0 when all are found, 1 when one is missing or its state is unknown."})
public final class ExistCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    DirectoryOptions directory;

    @Mixin
    KeyOptions keys;

    @Option(names = "--prefetch", description = "Promote blocks that are only on a disk.")
    boolean prefetch;

    @Option(names = "--node", paramLabel = "NAME", description = "With --prefetch: on this node, if its disk has them.")
    String node = "";

    /** Made by picocli. */
    public ExistCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        List<String> all = keys.all();
        ObjectNode body = keys.body();
        if (prefetch) {
            body.put("prefetch_to_memory", true);
            if (!node.isEmpty()) {
                body.put("node", node);
            }
        }
        JsonNode answer = directory.ask("POST", "/v1/batch_exist", body);
        directory.print(spec.commandLine().getOut(), answer, out -> {
            Columns table = new Columns("KEY", "ANSWER");
            for (int i = 0; i < all.size(); i++) {
                table.row(all.get(i), answer.path("answers").path(i).asText());
            }
            table.print(out, "no keys");
            KeyOptions.freshness(out, answer);
        });
        boolean found = true;
        for (JsonNode each : answer.path("answers")) {
            found &= each.asText().equals("FOUND");
        }
        return found ? 0 : 1;
    }
}
