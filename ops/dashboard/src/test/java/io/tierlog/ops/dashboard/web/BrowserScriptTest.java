/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The browser's side of a stream in Node, without a browser: {@code src/test/web/live.test.mjs}. */
class BrowserScriptTest {
    private static final Path NODE = Path.of("/usr/bin/node");
    private static final Path TESTS = Path.of(System.getProperty("tierlog.root"), "ops", "dashboard", "src", "test", "web", "live.test.mjs");

    @TempDir
    Path directory;

    @Test
    void theBrowserFollowsItsPageThroughFailures() throws Exception {
        assumeTrue(Files.isExecutable(NODE) && run("--help").text().contains("--test"), "NOT RUN: the browser's script needs nodejs 20 or later");
        Outcome tests = run("--test", TESTS.toString());
        assertEquals(0, tests.code(), tests::text);
        assertTrue(tests.text().contains("pass 5"), tests::text);
    }

    private record Outcome(int code, String text) {}

    private Outcome run(String... arguments) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(NODE.toString()).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.command().addAll(List.of(arguments));
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(120, TimeUnit.SECONDS);
            return new Outcome(ended ? process.exitValue() : -1, Files.readString(output));
        } finally {
            process.destroyForcibly();
        }
    }
}
