/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** Runs the command line in this process, for tests of other packages. */
public final class MainRun {
    /** How it ended, and what it printed on both outputs. */
    public record Output(int code, String text) {}

    private MainRun() {}

    /** Runs one command with {@code home} as the home directory. */
    public static Output of(Path home, String... arguments) {
        StringWriter text = new StringWriter();
        CommandLine line = new CommandLine(new Main());
        line.setOut(new PrintWriter(text, true));
        line.setErr(new PrintWriter(text, true));
        int code = Main.run(line, List.of(arguments), Map.of(), home);
        return new Output(code, text.toString());
    }
}
