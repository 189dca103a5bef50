/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import picocli.CommandLine;

/** {@code simulate} by itself, with nothing of Kafka on the class path. */
public final class SimulateMain {
    private SimulateMain() {}

    /** Runs it and ends the process with its exit code. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new SimulateCommand()).execute(arguments));
    }
}
