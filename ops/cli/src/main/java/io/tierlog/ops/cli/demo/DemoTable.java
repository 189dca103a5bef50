/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static io.tierlog.ops.cli.command.Sections.bytes;
import static io.tierlog.ops.cli.command.Sections.count;
import static io.tierlog.ops.cli.command.Sections.ratio;
import static io.tierlog.ops.cli.command.Sections.share;

import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.Percentiles;
import io.tierlog.ops.cli.audit.SummaryText;
import io.tierlog.ops.cli.command.Sections;
import io.tierlog.ops.cli.demo.events.RouterView;
import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.Latency;
import io.tierlog.ops.engine.MissCause;
import io.tierlog.ops.engine.RunReport;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** The report as a table for people: first what the tiers gained, then where blocks came from, then what the log recorded. Pure. */
final class DemoTable {
    private final Sections sections = new Sections();

    private DemoTable() {}

    /** The lines of the table, without line ends. */
    static List<String> of(DemoReport report) {
        DemoTable table = new DemoTable();
        table.result(report);
        table.reuse(report.run());
        table.latency(report);
        report.router().ifPresent(table::router);
        report.log().ifPresent(log -> table.log(log, report.run().hits().disk()));
        return table.sections.lines();
    }

    private void result(DemoReport report) {
        RunReport run = report.run();
        double ideal = run.blockAccesses() == 0 ? 0 : (double) run.ideal().hits() / run.blockAccesses();
        sections.title("Result");
        sections.row("hit ratio", ratio(run.hitRatio()) + report.without().map(other -> "; without the tiers " + ratio(other.hitRatio())).orElse("")
                + "; an infinite cache shared by all nodes would have " + ratio(ideal));
        sections.row("prefill saved", percent(run.hitRatio()) + " of " + count(run.blockAccesses()) + " prompt blocks were not computed"
                + report.without().map(other -> "; without the tiers " + percent(other.hitRatio())).orElse(""));
        sections.row("time to first token, p50", ms(run.latencies().timeToFirstToken())
                + report.without().map(other -> "; without the tiers " + ms(other.latencies().timeToFirstToken())).orElse(""));
        sections.row("wrong content", count(run.wrongContent()) + " blocks; all " + bytes(run.loadedBytes()) + " loaded were compared");
        run.firstWrong().ifPresent(what -> sections.row("  the first", what));
    }

    private void reuse(RunReport run) {
        long all = run.blockAccesses();
        sections.title("Reuse, in blocks of prompts");
        sections.row("requests", count(run.requests()) + (run.rejected() > 0 ? ", and " + count(run.rejected()) + " too large for the device" : ""));
        sections.row("block accesses", count(all));
        Hits hits = run.hits();
        sections.row("  reused on the device", share(hits.device(), all));
        sections.row("  loaded from the host", share(hits.host(), all));
        sections.row("  fetched from disk", share(hits.disk(), all));
        sections.row("  fetched from the store", share(hits.store(), all));
        sections.row("  computed", share(run.computedBlocks(), all));
        long missed = run.ideal().misses().values().stream().mapToLong(Long::longValue).sum();
        if (missed > 0) {
            sections.row("computed, though seen before", share(missed, all) + "  the infinite cache would have had them");
            new TreeMap<>(run.ideal().misses()).forEach(
                    (cause, blocks) -> sections.row("  " + cause.label().replace('_', ' '), share(blocks, all) + "  " + explained(cause)));
        }
        if (run.tenants().size() > 1) {
            run.tenants().forEach(tenant -> sections.row("hit ratio of " + tenant.name(), ratio(tenant.hitRatio()) + " of "
                    + count(tenant.blockAccesses()) + " blocks in " + count(tenant.requests()) + " requests"));
        }
    }

    private static String explained(MissCause cause) {
        return switch (cause) {
            case IN_FLIGHT -> "an earlier request was still computing or storing them";
            case EVICTED_BEFORE_BACKUP -> "they left every tier before they were stored";
            case BELOW_THRESHOLD -> "too few to fetch: see --prefetch-threshold";
            case PARTIAL_BLOCK -> "the block of the last token is always computed";
            case NOT_REUSE_ELIGIBLE -> "the request may not reuse a prefix";
            case TOO_SHORT_CHAIN -> "a block before them in the prompt was missing";
            case WAIT_EXPIRED -> "the fetch took longer than --prefetch-wait-ms";
            case CONTROLLER_BEHIND -> "the controller was behind, so they were computed at once";
            case NO_ROOM -> "no free page on the host for the fetch: see --host";
            case FETCH_FAILED -> "the fetch failed, or a part of it";
            case LOAD_FAILED -> "the host had them, and the load failed";
            case WRONG_CONTENT -> "their bytes were wrong, so they were computed";
            case AGENT_BUSY -> "the agent was not on the log yet, or overloaded";
            case NO_AGENT -> "no agent was connected";
            case NOTHING_BELOW -> "the agent found no tier that has them";
            case OTHER -> "the store had them, and the agent did not find them";
        };
    }

    private void latency(DemoReport report) {
        sections.title(Sections.timesTitle());
        report.log().ifPresent(log -> {
            Percentiles times = log.requests().submitToCommand();
            sections.row("submit to command", Sections.times(times.p50(), times.p90(), times.p99(), times.count()));
        });
        RunReport.Latencies latencies = report.run().latencies();
        times("submit to ready", latencies.submitToReady());
        times("  those that waited", latencies.waited());
        times("load", latencies.load());
        times("time to first token", latencies.timeToFirstToken());
        report.without().ifPresent(other -> times("  without the tiers", other.latencies().timeToFirstToken()));
        sections.row("elapsed", String.format(Locale.ROOT, "%.1f s", report.run().elapsedMs() / 1000.0));
    }

    private void log(LogSummary log, long fetchedFromDisk) {
        SummaryText text = new SummaryText(sections);
        text.operations(log.operations());
        text.watermarks(log);
        text.placements(log.placements());
        text.lastCopiesLost(log.placements());
        text.promotions(log.promotions(), fetchedFromDisk);
        text.peerReads(log.peerReads());
        text.records(log);
    }

    private void times(String label, Latency latency) {
        sections.row(label, Sections.times(latency.p50(), latency.p90(), latency.p99(), latency.count()));
    }

    private void router(RouterView seen) {
        sections.title("Engines that publish events");
        seen.served().forEach((node, requests) -> sections.row(node, count(requests) + " requests"));
        sections.row("sent to a prefix", count(seen.followed()) + " requests, by the directory's answers");
        sections.row("prompts compared", count(seen.prompts()) + " at the end: " + count(seen.wrong()) + " wrong, " + count(seen.unknown())
                + " with UNKNOWN blocks");
    }

    private static String ms(Latency latency) {
        return String.format(Locale.ROOT, "%.1f ms", latency.p50());
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }
}
