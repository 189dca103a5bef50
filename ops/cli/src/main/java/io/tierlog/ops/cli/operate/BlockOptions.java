/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Blocks named on the command line or in a file. */
public final class BlockOptions {
    @Option(names = "--keys", paramLabel = "HEX", split = ",", description = "Keys of blocks of --namespace, in hexadecimal digits.")
    List<String> keys = List.of();

    @Option(names = "--namespace", paramLabel = "NAME", description = "Namespace of --keys.")
    @Nullable String namespace;

    @Option(names = "--keys-file", paramLabel = "FILE", description = "File with a block on each line: NAMESPACE HEX.")
    @Nullable Path file;

    /** Made by picocli. */
    public BlockOptions() {}

    /** All named blocks, as the API takes them. */
    ArrayNode read() {
        ArrayNode blocks = JsonNodeFactory.instance.arrayNode();
        if (!keys.isEmpty() && namespace == null) {
            throw new CliError("--keys need the --namespace they are in", "give --namespace NAME", CliError.BAD_INPUT);
        }
        keys.forEach(key -> blocks.addObject().put("namespace", namespace).put("key", key));
        Path named = file;
        if (named != null) {
            lines(named).stream().filter(line -> !line.isBlank()).forEach(line -> {
                int blank = line.strip().lastIndexOf(' ');
                if (blank < 0) {
                    throw new CliError("'" + line + "' in " + named + " is not a block", "write NAMESPACE HEX on each line", CliError.BAD_INPUT);
                }
                blocks.addObject().put("namespace", line.strip().substring(0, blank).strip()).put("key", line.strip().substring(blank + 1));
            });
        }
        return blocks;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new CliError("cannot read " + file + ": " + Causes.of(e), "look at --keys-file", CliError.BAD_INPUT, e);
        }
    }
}
