/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.control.ControlBenchReport.Latency;
import io.tierlog.ops.bench.control.ControlBenchReport.Rates;
import java.util.Formatter;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The report as a table for people. Static and without state. */
public final class ReportText {
    private static final String RATE = "  %-52s %,12.0f %12s%n";

    private ReportText() {}

    /** The whole report, in lines. */
    public static String of(ControlBenchReport report) {
        StringBuilder lines = new StringBuilder(2_048);
        Formatter out = new Formatter(lines, Locale.ROOT);
        head(out, report);
        latencies(out, report);
        throughput(out, report);
        aims(out, report);
        if (!report.accounted()) {
            out.format("%nNot everything is accounted for: the numbers cannot be trusted. --format json shows what is missing.%n");
        }
        return lines.toString();
    }

    private static void head(Formatter out, ControlBenchReport report) {
        out.format(
                "%d requests/s of %d blocks (%,d bytes a record), %d nodes, %d partitions, commit every %d ms, %d rounds, %.0f s%n%n",
                report.rate(),
                report.blocks(),
                report.recordBytes(),
                report.nodes(),
                report.partitions(),
                report.commitIntervalMs(),
                report.rounds(),
                report.elapsedS());
    }

    private static void latencies(Formatter out, ControlBenchReport report) {
        out.format("  %-52s %8s %8s %8s %8s   %s%n", "Latency, ms", "p50", "p90", "p99", "max", "x relay p50, p99");
        line(out, report, Part.HOP, report.hop());
        line(out, report, Part.RELAY, report.relay());
        line(out, report, Part.PASS_THROUGH, report.passThrough());
        line(out, report, Part.PASS_THROUGH_AFTER_COMMIT, report.passThroughAfterCommit());
        line(out, report, Part.DIRECT, report.tierlogDirect());
        line(out, report, Part.TRANSACTIONAL, report.tierlogTransactional());
        line(out, report, Part.AFTER_COMMIT, report.tierlogAfterCommit());
        out.format("  from the moment a request should have been sent to the moment the command for it was read%n%n");
    }

    private static void line(Formatter out, ControlBenchReport report, Part part, @Nullable Latency times) {
        if (times == null) {
            return;
        }
        Double p50 = report.ratios().get(part.key() + "_p50");
        Double p99 = report.ratios().get(part.key() + "_p99");
        String ratio = p50 == null || p99 == null ? "" : String.format(Locale.ROOT, "%.2f, %.2f", p50, p99);
        out.format(
                "  %-52s %8.2f %8.2f %8.2f %8.2f   %s%n", part.title(), times.p50(), times.p90(), times.p99(), times.max(), ratio);
    }

    private static void throughput(Formatter out, ControlBenchReport report) {
        Rates rates = report.throughput();
        out.format("  %-52s %12s %12s%n", "Throughput, the same records in all", "events/s", "blocks/s");
        out.format(RATE, "empty pass-through", rates.passThroughEventsPerS(), "");
        double blocksPerEvent = (double) report.blocks() / Bulk.RECORDS_A_REQUEST;
        for (Map.Entry<String, Double> entry : rates.byCommands().entrySet()) {
            String blocks = String.format(Locale.ROOT, "%,.0f", entry.getValue() * blocksPerEvent);
            out.format(RATE, "Tierlog, commands " + entry.getKey(), entry.getValue(), blocks);
        }
        out.format("  processor time of the stream thread for an event, us: %s%n", rates.streamThreadMicros());
        out.format("  %,d records each; Tierlog writes %.1f decisions for each%n%n", rates.records(), rates.decisionsPerEvent());
    }

    private static void aims(Formatter out, ControlBenchReport report) {
        out.format("  %-52s %8s %8s%n", "Ratio", "measured", "aim");
        report.aims().forEach((name, aim) -> {
            double measured = report.ratios().getOrDefault(name, 0.0);
            boolean atLeast = name.equals("throughput");
            boolean met = atLeast ? measured >= aim : measured <= aim;
            out.format("  %-52s %8.2f %3s %4.2f   %s%n", name, measured, atLeast ? ">=" : "<=", aim, met ? "met" : "not met");
        });
    }
}
