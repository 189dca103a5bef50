/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import java.util.List;
import java.util.Locale;

/**
 * Makes the report of the transfer benchmark. Static and without state. GB are 10^9 bytes.
 *
 * <pre>
 *   tiers: a part for each tier, and for each layout of the device
 *     directions: tierlog is the agent's speed, others have a speed and the agent's GB/s as a share of theirs (ratio)
 *       speed: gb_per_s, p50_ms and p99_ms of a block are medians of the rounds; lowest and highest are the slowest and the fastest round
 *       aim: least ratio to the first of the others, and whether it was met; absent when there is none
 *   notes: what was not run, and why; depth: concurrent transfers on disk and store; elapsed_s: seconds of the whole run
 * </pre>
 */
final class TransferReport {
    private static final String LINE = "  %-62s %7.2f %7.2f-%-7.2f %8.2f %8.2f   %s";

    private TransferReport() {}

    static Report of(TransferBenchConfig config, List<Row> tiers, List<String> notes, double elapsedS) {
        Row report = new Row()
                .with("tiers", tiers)
                .with("notes", notes)
                .with("block_bytes", config.shape().blockBytes())
                .with("blocks", config.shape().blocks())
                .with("depth", config.shape().depth())
                .with("rounds", config.rounds())
                .rounded("elapsed_s", elapsedS);
        Report.Text text = new Report.Text().line("%d blocks of %,d bytes, %d at a time on disk and stores, %d rounds of all in turn, %.0f s",
                config.shape().blocks(), config.shape().blockBytes(), config.shape().depth(), config.rounds(), elapsedS);
        for (Row tier : tiers) {
            text.line("%n  %-62s %7s %15s %8s %8s   %s", tier.value("title"), "GB/s", "rounds", "p50 ms", "p99 ms", "Tierlog to it");
            tier.rows("directions").forEach(direction -> direction(text, direction));
        }
        notes.forEach(note -> text.line("%n%s", note));
        text.line("%nGB/s is the median of the rounds, then the slowest and the fastest; ms are of one block.");
        return new Report(report, text.toString(), true);
    }

    private static void direction(Report.Text text, Row direction) {
        line(text, direction.value("name") + ": Tierlog", direction.row("tierlog"), "");
        String aim = "";
        if (direction.has("aim")) {
            String met = Boolean.TRUE.equals(direction.value("met")) ? "met" : "not met";
            aim = String.format(Locale.ROOT, ", aim %.2f %s", direction.number("aim"), met);
        }
        for (Row other : direction.rows("others")) {
            line(text, "  " + other.value("name"), other.row("speed"), String.format(Locale.ROOT, "%.2f%s", other.number("ratio"), aim));
            aim = "";
        }
    }

    private static void line(Report.Text text, String name, Row speed, String ratio) {
        text.line(LINE, name, speed.number("gb_per_s"), speed.number("lowest"), speed.number("highest"), speed.number("p50_ms"),
                speed.number("p99_ms"), ratio);
    }
}
