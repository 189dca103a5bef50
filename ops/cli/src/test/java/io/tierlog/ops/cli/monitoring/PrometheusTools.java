/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The programs of Debian's package prometheus; a test that finds none of them is not run. */
final class PrometheusTools {
    private static final Path BIN = Path.of("/usr/bin");

    private PrometheusTools() {}

    /** The path of a program; the test ends as not run when it is missing. */
    static Path require(String program) {
        Path path = BIN.resolve(program);
        assumeTrue(Files.isExecutable(path), "NOT RUN: " + program + " is missing; apt-get install prometheus");
        return path;
    }

    /** Runs promtool; returns what it printed, and demands that it found nothing wrong. */
    static String promtool(Path directory, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(require("promtool").toString()));
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile("promtool", ".out");
        try {
            Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
                    .redirectOutput(out.toFile()).start();
            boolean ended = process.waitFor(60, TimeUnit.SECONDS);
            process.destroyForcibly();
            String text = Files.readString(out);
            assertEquals(List.of(true, 0), List.of(ended, ended ? process.exitValue() : -1), text);
            return text;
        } finally {
            Files.delete(out);
        }
    }
}
