/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Causes;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.cli.command.CliError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How full tiers were over time, as CSV. Without state. */
final class SeriesFile {
    private SeriesFile() {}

    /** Writes a line for each sample, times in milliseconds since the first; a file that cannot be written is a {@link CliError}. */
    static void write(Path file, List<LogSummary.Sample> samples) {
        List<String> lines = new ArrayList<>(samples.size() + 1);
        lines.add("ms,node,tier,used_blocks,pins,capacity_blocks");
        for (LogSummary.Sample s : samples) {
            long ms = s.atMs() - samples.getFirst().atMs();
            lines.add(ms + "," + s.node() + "," + s.tier() + "," + s.used() + "," + s.pins() + "," + s.capacity());
        }
        try {
            Files.write(file, lines);
        } catch (IOException e) {
            throw new CliError("cannot write the series: " + Causes.of(e), "give another file with --series", CliError.BAD_INPUT, e);
        }
    }
}
