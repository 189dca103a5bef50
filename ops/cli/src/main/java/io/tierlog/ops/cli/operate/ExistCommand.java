/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.Columns;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog exist}: whether blocks serve anywhere. */
@Command(
        name = "exist",
        description = "Show whether blocks serve anywhere.",
        footer = {"", "Exit code 0 when all are found, 1 when one is not or nobody can say."})
public final class ExistCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    DirectoryOptions directory;

    @Mixin
    KeyOptions keys;

    @Option(names = "--prefetch", description = "Have those promoted that are only on a disk.")
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
            table.print(out, "nothing was asked");
            KeyOptions.freshness(out, answer);
        });
        boolean found = true;
        for (JsonNode each : answer.path("answers")) {
            found &= each.asText().equals("FOUND");
        }
        return found ? 0 : 1;
    }
}
