/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code tierlog bench}: the group of the benchmarks. */
@Command(
        name = "bench",
        description = "Measure Tierlog on this machine.",
        synopsisSubcommandLabel = "BENCHMARK",
        subcommands = {
            BenchControlCommand.class, BenchDashboardCommand.class, BenchDirectoryCommand.class, BenchRestoreCommand.class, BenchTransferCommand.class
        })
public final class BenchCommand implements Runnable {
    @Spec
    CommandSpec spec;

    /** Refuses a command line without a benchmark. */
    @Override
    public void run() {
        CommandLine line = spec.commandLine();
        throw new ParameterException(line, "Missing the benchmark: " + String.join(", ", line.getSubcommands().keySet()));
    }
}
