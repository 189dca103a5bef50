/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.cli.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/**
 * How a command of {@code tierlog} ended in this process, and what it printed on both outputs.
 *
 * @param code its exit code
 */
record CommandRun(int code, String text) {
    /** Runs a command against the cluster at {@code servers}. */
    static CommandRun of(TierlogCluster cluster, String servers, Map<String, String> properties, String... command) throws IOException {
        List<String> all = new ArrayList<>(List.of(command));
        all.addAll(List.of("--bootstrap-servers", servers, "--client-config",
                cluster.access().file("command", properties).toString(), "--connect-timeout", "30"));
        if (!command[0].equals("acls") && !command[0].equals("topics")) {
            all.addAll(List.of("--registry-url", cluster.registryUrl()));
        }
        return run(all, cluster.directory());
    }

    /** Runs a command that needs no cluster, and must succeed. */
    static void succeedsAlone(Path directory, String... command) {
        CommandRun run = alone(directory, command);
        assertEquals(0, run.code(), run::text);
    }

    /** Runs a command that needs no cluster; {@code directory} is its working directory. */
    static CommandRun alone(Path directory, String... command) {
        return run(List.of(command), directory);
    }

    private static CommandRun run(List<String> all, Path directory) {
        StringWriter text = new StringWriter();
        CommandLine line = new CommandLine(new Main());
        line.setOut(new PrintWriter(text, true));
        line.setErr(new PrintWriter(text, true));
        int code = Main.run(line, all, Map.of(), directory);
        return new CommandRun(code, text.toString());
    }

    /** Runs a command that must succeed. */
    static CommandRun succeeds(TierlogCluster cluster, Map<String, String> properties, String... command) throws IOException {
        CommandRun run = of(cluster, cluster.brokers().outsideServers(), properties, command);
        assertEquals(0, run.code(), run::text);
        return run;
    }
}
