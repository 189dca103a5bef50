/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The system's Python, for the other side of a test. */
public final class Python {
    private static final String PYTHON = "/usr/bin/python3";

    private Python() {}

    /** Whether it is there and has these packages. */
    public static boolean has(String... packages) throws IOException, InterruptedException {
        if (!Files.isExecutable(Path.of(PYTHON))) {
            return false;
        }
        Process look = new ProcessBuilder(PYTHON, "-c", "import " + String.join(", ", packages)).redirectErrorStream(true).start();
        look.getInputStream().readAllBytes();
        return look.waitFor() == 0;
    }

    /** Starts a script of the test resources; its warnings go where those of this process go. */
    public static Process start(String script, String... arguments) throws IOException {
        // From the sources, since classes may come from a jar; -B writes no compiled scripts there.
        List<String> command = new ArrayList<>(List.of(PYTHON, "-B", Path.of("src", "test", "resources", script).toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
