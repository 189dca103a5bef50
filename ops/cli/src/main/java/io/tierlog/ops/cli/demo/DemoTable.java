/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.Latency;
import io.tierlog.ops.engine.RunReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** The report as a table for people. Pure. */
final class DemoTable {
    private static final int LABEL = 30;

    private final List<String> lines = new ArrayList<>();

    private DemoTable() {}

    /** The lines of the table, without line ends. */
    static List<String> of(DemoReport report) {
        DemoTable table = new DemoTable();
        table.reuse(report.run());
        report.log().ifPresent(table::log);
        report.log().ifPresent(table::levels);
        report.log().ifPresent(log -> table.promotions(log.promotions(), report.run().hits().disk()));
        report.log().ifPresent(log -> table.peers(log.peers()));
        table.latency(report);
        return List.copyOf(table.lines);
    }

    private void reuse(RunReport run) {
        title("Reuse");
        row("requests", count(run.requests()) + (run.rejected() > 0 ? ", and " + count(run.rejected()) + " too big for the device" : ""));
        row("block accesses", count(run.blockAccesses()));
        Hits hits = run.hits();
        row("  reused on the device", share(hits.device(), run.blockAccesses()));
        row("  loaded from the host", share(hits.host(), run.blockAccesses()));
        row("  fetched from disk", share(hits.disk(), run.blockAccesses()));
        row("  fetched from the store", share(hits.store(), run.blockAccesses()));
        row("  computed", share(run.computedBlocks(), run.blockAccesses()));
        double ideal = run.blockAccesses() == 0 ? 0 : (double) run.ideal().hits() / run.blockAccesses();
        row("hit ratio", ratio(run.hitRatio()) + "; an infinite cache shared by all nodes would give " + ratio(ideal));
        new TreeMap<>(run.ideal().misses()).forEach((cause, blocks) -> row("  missed: " + cause.label().replace('_', ' '), count(blocks)));
        row("wrong content", count(run.wrongContent()) + " blocks; all " + bytes(run.loadedBytes()) + " loaded were compared");
        run.firstWrong().ifPresent(what -> row("  the first", what));
        if (run.tenants().size() > 1) {
            run.tenants().forEach(tenant -> row("hit ratio of " + tenant.name(), ratio(tenant.hitRatio()) + " of "
                    + count(tenant.blockAccesses()) + " blocks in " + count(tenant.requests()) + " requests"));
        }
    }

    private void levels(LogSummary log) {
        if (!log.levels().stays().isEmpty()) {
            title("Water levels: at the high mark, or on the way down from it");
            log.levels().stays().forEach((level, stay) -> row(
                    level.node() + " " + level.tier() + (level.group().isEmpty() ? "" : " of " + level.group()),
                    pad(count(stay.crossings())) + " times, longest " + count(stay.longestMs()) + " ms, in all " + count(stay.sumMs()) + " ms"));
            row("longest copy or drop", pad(count(log.levels().longestBatchMs())) + " ms, of " + count(log.levels().batches()));
        }
        title("Most blocks at once, and at the end");
        log.resident().most().forEach((place, most) -> row(place.node() + " " + place.tier() + " of " + place.namespace(),
                pad(count(most)) + pad(count(log.resident().end().getOrDefault(place, 0L)))));
        log.resident().lost().forEach((loss, blocks) -> row("last copies lost on " + loss.tier() + ": " + loss.reason(), pad(count(blocks))));
    }

    private void log(LogSummary log) {
        title("Operations, counted from the decisions on the log");
        OperationBook.Totals totals = log.counts().operations();
        row("started", count(totals.started()));
        row("  done", count(totals.done()));
        row("  failed", count(totals.failed()));
        row("  cancelled", count(totals.cancelled()));
        row("  fenced", count(totals.fenced()));
        row("  unfinished", count(totals.unfinished()));
        if (totals.breaches() > 0) {
            row("  BREACHES", count(totals.breaches()) + " ends without a start, or second ones: please report this");
        }
        log.startedByKind()
                .forEach((kind, started) ->
                        row(kind.replace('_', '-'), pad(count(started)) + "  " + bytes(log.bytesByKind().getOrDefault(kind, 0L))));
        title("Records");
        row("events", count(log.counts().events()));
        row("decisions", count(log.counts().decisions()));
        row("commands", count(log.counts().commands()));
        row("waits for a fetch expired", count(log.counts().waitsExpired()));
        if (log.counts().recovered() > 0) {
            row("blocks found on disk again", count(log.counts().recovered()));
        }
    }

    private void promotions(PromotionCount.Counts promotions, long fetchedFromDisk) {
        if (promotions.replies().isEmpty()) {
            return;
        }
        title("Promotions from the disk ahead of requests, in blocks");
        promotions.replies().forEach((reply, blocks) -> row("told: " + reply, pad(count(blocks))));
        promotions.outcomes().forEach((outcome, blocks) -> row("became: " + outcome, pad(count(blocks))));
        row("of what was on disk, in memory when read", String.format(Locale.ROOT, "%9.1f %%", 100 * promotions.inMemory(fetchedFromDisk)));
    }

    private void peers(PeerCount.Counts peers) {
        if (peers.asked() == 0) {
            return;
        }
        title("Reads from other nodes");
        row("asked for", pad(count(peers.asked())) + "  of " + count(peers.askedBlocks()) + " blocks");
        row("  granted", pad(count(peers.granted())));
        peers.refused().forEach((reason, reads) -> row("  refused: " + reason, pad(count(reads))));
        peers.ended().forEach((reason, reads) -> row("  granted, ended: " + reason, pad(count(reads))));
        row("blocks fetched", pad(count(peers.fetchedBlocks())));
        row("blocks sent", pad(count(peers.sentBlocks())) + "  " + bytes(peers.sentBytes()));
    }

    private void latency(DemoReport report) {
        title("Times in ms" + " ".repeat(LABEL - 9) + "     p50       p90       p99     count");
        report.log().ifPresent(log -> times("submit to command", log.submitToCommand()));
        RunReport.Latencies latencies = report.run().latencies();
        times("submit to ready", latencies.submitToReady());
        times("  those that waited", latencies.waited());
        times("load", latencies.load());
        times("time to first token", latencies.timeToFirstToken());
        report.without().ifPresent(other -> {
            times("  without the tiers", other.latencies().timeToFirstToken());
            row("hit ratio without the tiers", ratio(other.hitRatio()));
        });
        row("elapsed", String.format(Locale.ROOT, "%.1f s", report.run().elapsedMs() / 1000.0));
    }

    private void times(String label, Latency latency) {
        row(
                label,
                String.format(
                        Locale.ROOT, "%10.1f%10.1f%10.1f%10s", latency.p50(), latency.p90(), latency.p99(), count(latency.count())));
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

    private static String pad(String text) {
        return String.format(Locale.ROOT, "%10s", text);
    }

    private static String share(long part, long whole) {
        return pad(count(part)) + String.format(Locale.ROOT, "  %5.1f %%", whole == 0 ? 0.0 : 100.0 * part / whole);
    }

    private static String ratio(double ratio) {
        return String.format(Locale.ROOT, "%.4f", ratio);
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
