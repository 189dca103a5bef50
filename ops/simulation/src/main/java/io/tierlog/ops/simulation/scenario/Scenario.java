/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** A scenario file from its path to its last line. Without state. */
public final class Scenario {
    private Scenario() {}

    /**
     * Runs a file.
     *
     * @param out receives every line of its output
     * @return true when every expectation and every invariant held
     * @throws ScenarioError when the file is wrong
     * @throws IOException when it cannot be read
     */
    public static boolean run(Path path, Mode mode, Consumer<ObjectNode> out) throws IOException {
        List<String> lines;
        try {
            lines = Files.readAllLines(path, StandardCharsets.UTF_8);
        } catch (CharacterCodingException e) {
            throw new ScenarioError(0, "this is no UTF-8 text");
        }
        return new ScenarioRun(ScenarioFile.parse(lines), mode, out).run();
    }

    /**
     * Reads the lines of a file and runs nothing.
     *
     * @throws ScenarioError when a line is wrong
     */
    public static void check(List<String> lines) {
        ScenarioFile _ = ScenarioFile.parse(lines);
    }

    /** A first line with every field and its default. */
    public static ObjectNode defaults() {
        return WorldSpec.defaults();
    }
}
