/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.Columns;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Keys of one namespace, on the command line or in a file, in the order of the prompt. */
public final class KeyOptions {
    @Option(names = "--namespace", paramLabel = "NAME", required = true, description = "Namespace of the blocks.")
    String namespace;

    @Parameters(arity = "0..*", paramLabel = "KEY", description = "Keys of blocks in hexadecimal digits, in the order of the prompt.")
    List<String> keys = List.of();

    @Option(names = "--keys-file", paramLabel = "FILE", description = "File with a key on each line.")
    @Nullable Path file;

    /** Made by picocli. */
    public KeyOptions() {}

    /** All keys that are named. */
    List<String> all() {
        List<String> all = new ArrayList<>(keys);
        Path named = file;
        if (named != null) {
            try {
                Files.readAllLines(named).stream().map(String::strip).filter(line -> !line.isEmpty()).forEach(all::add);
            } catch (IOException e) {
                throw new CliError("cannot read " + named + ": " + Causes.of(e), "look at --keys-file", CliError.BAD_INPUT, e);
            }
        }
        if (all.isEmpty()) {
            throw new CliError("no keys were given", "give their keys, or --keys-file FILE", CliError.BAD_INPUT);
        }
        return all;
    }

    /** The body of a request for all of them. */
    ObjectNode body() {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("namespace", namespace);
        all().forEach(body.putArray("keys")::add);
        return body;
    }

    /** Prints how old an answer may be. */
    static void freshness(PrintWriter out, JsonNode answer) {
        out.println((answer.path("stale").asBoolean() ? "stale, " : "") + answer.path("behind_records") + " records behind, as of "
                + Columns.time(answer.path("as_of_ms").asLong()));
    }
}
