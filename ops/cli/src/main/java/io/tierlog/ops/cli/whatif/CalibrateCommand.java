/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.LogFileOptions;
import io.tierlog.ops.whatif.log.RecordedLog;
import io.tierlog.ops.whatif.world.ModelFields;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog whatif calibrate}. */
@Command(
        name = "calibrate",
        description = "Measure latencies, bandwidths and costs from the operations of a log, as a file for whatif --model.",
        footer = {
            "",
            "Of each link, the operations of each size count with their median; latency and bandwidth are the least squares through those.",
            "Round trips of records and calls of engines are written as they followed each other, up to 1,000 of each. What the log does not show",
            "is as by default. Exit codes: 0 done, 2 wrong usage, or the log cannot be read."
        })
final class CalibrateCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Option(
            names = "--log",
            paramLabel = "DIR",
            required = true,
            description = "The data directory of a stopped broker or of demo --keep, or an archive.")
    Path log;

    @Mixin
    LogFileOptions files;

    @Option(names = "--out", paramLabel = "FILE", description = "Write the model there (default: print it).")
    @Nullable Path file;

    @Override
    public Integer call() {
        RecordedLog.Recorded recorded = ClusterRun.recorded(log, files.topics(), files.codec());
        PrintWriter err = spec.commandLine().getErr();
        recorded.timings().samples().forEach((what, count) -> err.println(what + ": " + count + " measured"));
        err.flush();
        write(ModelFields.write(recorded.model()));
        return 0;
    }

    private void write(String text) {
        if (file == null) {
            PrintWriter out = spec.commandLine().getOut();
            out.print(text);
            out.flush();
            return;
        }
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new CliError("--out: cannot write " + file + ": " + Causes.of(e), "name a file in a directory that exists", CliError.BAD_INPUT, e);
        }
    }
}
