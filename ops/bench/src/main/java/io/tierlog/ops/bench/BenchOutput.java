/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.bench.report.Report;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Output of every benchmark: steps to stderr as they begin, the report to stdout when it is complete. Confined to the command's thread. */
final class BenchOutput {
    private static final int INVALID = 1;

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Format format = Format.text;

    /** What {@code --format} takes; the names are what a user types. */
    enum Format {
        /** For people. */
        text,
        /** For programs: one JSON object on stdout, nothing else. */
        json
    }

    /** Prints that a step begins. */
    void step(String step) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(step);
        err.flush();
    }

    /** Prints {@code report} in the requested format; returns the exit code, 1 when the report is not valid. */
    int print(Report report) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        switch (format) {
            case text -> out.print(report.text());
            case json -> out.println(new ObjectMapper().writeValueAsString(report.json()));
        }
        out.flush();
        return report.valid() ? 0 : INVALID;
    }
}
