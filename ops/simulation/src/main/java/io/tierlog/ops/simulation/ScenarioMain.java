/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation;

import picocli.CommandLine;

/** {@code scenario} by itself, with nothing of Kafka on the class path. */
public final class ScenarioMain {
    private ScenarioMain() {}

    /** Runs it and ends the process with its exit code. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new ScenarioCommand()).execute(arguments));
    }
}
