/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import java.util.List;
import java.util.Locale;

/**
 * Makes the report of the directory benchmark. Static and without state.
 *
 * <pre>
 *   rounds: one for each number of blocks
 *     load_s: from the first placement written until the directory holds all of them
 *     index_, resident_, disk_, redis_bytes_per_block: off-heap index, whole process, state on disk, and what Redis reports
 *     rows: for each operation (ask), batch and share of keys that are held (present, in percent), each path (way)
 *       keys_per_core_s: keys for each second of the server's processor; in process that includes the caller's
 *       wrong: wrong answers
 *   clients: concurrent callers; redis: its version, or why it was not run; elapsed_s: seconds of the whole run
 * </pre>
 */
final class DirectoryReport {
    private DirectoryReport() {}

    static Report of(List<Row> rounds, int clients, String redis, double elapsedS) {
        Row report = new Row().with("rounds", rounds).with("clients", clients).with("redis", redis).with("elapsed_s", elapsedS);
        boolean right = rounds.stream().flatMap(round -> round.rows("rows").stream()).allMatch(row -> row.number("wrong") == 0);
        Report.Text text = new Report.Text().line("%d callers, servers in processes of their own, %s, %.0f s", clients, redis, elapsedS);
        rounds.forEach(round -> round(text, round));
        text.line("%nA core is the server's processor time; in process it includes the caller's. p50 and p99 are of one batch.");
        return new Report(report, text.toString(), right);
    }

    private static void round(Report.Text text, Row round) {
        text.line("%n%,d blocks, one placement each: loaded in %.0f s; bytes a block: index %.0f, process %.0f, disk %.0f%s",
                        round.value("blocks"), round.number("load_s"), round.number("index_bytes_per_block"),
                        round.number("resident_bytes_per_block"), round.number("disk_bytes_per_block"),
                        round.has("redis_bytes_per_block")
                                ? String.format(Locale.ROOT, "; Redis %.0f", round.number("redis_bytes_per_block"))
                                : "")
                .line("  %-7s %6s %8s  %-24s %14s %16s %10s %10s",
                        "ask", "batch", "present", "way", "keys/s", "keys/s of a core", "p50 us", "p99 us");
        for (Row row : round.rows("rows")) {
            text.line("  %-7s %6d %6d %%  %-24s %,14.0f %,16.0f %10.1f %10.1f%s",
                    row.value("ask"), row.value("batch"), row.value("present"), row.value("way"), row.number("keys_per_s"),
                    row.number("keys_per_core_s"), row.number("p50_us"), row.number("p99_us"),
                    row.number("wrong") == 0 ? "" : "  " + row.value("wrong") + " WRONG");
        }
    }
}
