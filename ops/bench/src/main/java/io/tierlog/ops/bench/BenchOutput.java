/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.util.function.Function;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How every benchmark speaks: steps to stderr as they come, the report to stdout once it is whole. Confined to the command's thread. */
final class BenchOutput {
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

    /** Says that a step begins. */
    void step(String step) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(step);
        err.flush();
    }

    /**
     * Prints {@code report} as asked for.
     *
     * @param text how it reads for people, with the last line ended
     * @throws JsonProcessingException when the report cannot be written as JSON
     */
    <R> void print(R report, Function<R, String> text) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        switch (format) {
            case text -> out.print(text.apply(report));
            case json -> out.println(new ObjectMapper().writeValueAsString(report));
        }
        out.flush();
    }
}
