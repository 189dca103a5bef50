/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The report as a table for people. Pure. */
final class DemoTable {
    private static final int LABEL = 26;

    private final List<String> lines = new ArrayList<>();

    private DemoTable() {}

    /** The lines of the table, without line ends. */
    static List<String> of(DemoReport report) {
        DemoTable table = new DemoTable();
        table.reuse(report);
        table.operations(report);
        table.log(report);
        table.latency(report);
        return List.copyOf(table.lines);
    }

    private void reuse(DemoReport r) {
        title("Reuse");
        row("requests", count(r.requests()) + (r.rejected() > 0 ? ", " + count(r.rejected()) + " of them too big for the device" : ""));
        row("block accesses", count(r.blockAccesses()));
        r.hits().forEach((tier, hits) -> row("  from " + tier, share(hits, r.blockAccesses())));
        row("  computed", share(r.computedBlocks(), r.blockAccesses()));
        row("hit ratio", percent(r.hitRatio()) + " of the accesses; an infinite cache would give " + percent(r.idealHitRatio()));
        if (!r.missesByCause().isEmpty()) {
            List<String> causes = new ArrayList<>();
            r.missesByCause().forEach((cause, blocks) -> causes.add(cause.replace('_', ' ') + " " + count(blocks)));
            row("  missed up to that", String.join(", ", causes));
        }
        row("wrong content", count(r.wrongContent()) + " blocks (every byte of every load was compared)");
    }

    private void operations(DemoReport r) {
        title("Operations, counted from the decisions");
        OperationBook.Totals t = r.operations();
        row("started", count(t.started()));
        row("ended", "%s done, %s failed, %s cancelled, %s fenced".formatted(count(t.done()), count(t.failed()), count(t.cancelled()), count(t.fenced())));
        row("unfinished", count(t.unfinished()) + (t.breaches() > 0 ? ", BREACHES " + t.breaches() : ""));
        r.operationsByKind()
                .forEach((kind, started) ->
                        row("  " + kind.replace('_', ' '), count(started) + ", " + bytes(r.bytes().getOrDefault(kind, 0L)) + " moved"));
    }

    private void log(DemoReport r) {
        title("Log");
        row("records", "%s events, %s decisions, %s commands".formatted(count(r.events()), count(r.decisions()), count(r.commands())));
        row("elapsed", "%.1f s, %s events/s".formatted(r.elapsedS(), count(Math.round(r.events() / Math.max(r.elapsedS(), 0.001)))));
    }

    private void latency(DemoReport r) {
        title("Latency in ms" + " ".repeat(LABEL - 11) + "     p50       p90       p99     count");
        for (Map.Entry<String, DemoReport.Percentiles> e : r.latencyMs().entrySet()) {
            percentiles(e.getKey().replace('_', ' '), e.getValue());
        }
        DemoReport.WithoutTiers without = r.withoutTiers();
        if (without != null) {
            percentiles("the same, without tiers", without.timeToFirstTokenMs());
            row("hit ratio without tiers", percent(without.hitRatio()));
        }
    }

    private void percentiles(String label, DemoReport.Percentiles p) {
        row(label, String.format(Locale.ROOT, "%9.1f %9.1f %9.1f %9s", p.p50(), p.p90(), p.p99(), count(p.count())));
    }

    private void title(String title) {
        if (!lines.isEmpty()) {
            lines.add("");
        }
        lines.add(title);
    }

    private void row(String label, String value) {
        lines.add("  " + label + " ".repeat(Math.max(1, LABEL - label.length())) + value);
    }

    private static String share(long part, long whole) {
        return String.format(Locale.ROOT, "%10s  %5.1f %%", count(part), whole == 0 ? 0.0 : 100.0 * part / whole);
    }

    private static String percent(double ratio) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * ratio);
    }

    static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    static String bytes(long bytes) {
        if (bytes < 1 << 20) {
            return String.format(Locale.ROOT, "%.1f KiB", bytes / 1024.0);
        }
        return bytes < 1L << 30
                ? String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0)
                : String.format(Locale.ROOT, "%.2f GiB", bytes / 1073741824.0);
    }
}
