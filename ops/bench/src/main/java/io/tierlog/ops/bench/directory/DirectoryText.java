/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import java.util.Formatter;
import java.util.Locale;

/** The report as tables for people. Static and without state. */
public final class DirectoryText {
    private DirectoryText() {}

    /** The whole report, in lines. */
    public static String of(DirectoryReport report) {
        StringBuilder lines = new StringBuilder(4_096);
        Formatter out = new Formatter(lines, Locale.ROOT);
        out.format("%d callers, servers in processes of their own, %s, %.0f s%n", report.clients(), report.redis(), report.elapsedS());
        for (DirectoryReport.Round round : report.rounds()) {
            Double redis = round.redisBytes();
            out.format("%n%,d blocks, one placement each: loaded in %.0f s; bytes a block: index %.0f, process %.0f, disk %.0f%s%n",
                    round.blocks(), round.loadS(), round.indexBytes(), round.residentBytes(), round.diskBytes(),
                    redis == null ? "" : String.format(Locale.ROOT, "; Redis %.0f", redis));
            out.format("  %-7s %6s %8s  %-24s %14s %16s %10s %10s%n",
                    "ask", "batch", "present", "way", "keys/s", "keys/s of a core", "p50 us", "p99 us");
            for (DirectoryReport.Row row : round.rows()) {
                out.format("  %-7s %6d %6d %%  %-24s %,14.0f %,16.0f %10.1f %10.1f%s%n",
                        row.ask(), row.batch(), row.present(), row.way(), row.keysPerS(), row.keysPerCore(),
                        row.p50Us(), row.p99Us(), row.wrong() == 0 ? "" : "  " + row.wrong() + " WRONG");
            }
        }
        out.format("%nA core is the server's processor time; in process it is the caller's as well. p50 and p99 are of one batch.%n");
        return lines.toString();
    }
}
