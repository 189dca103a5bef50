/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import io.tierlog.ops.bench.dashboard.DashboardBench.CatchUp;
import io.tierlog.ops.bench.dashboard.DashboardBench.Measured;
import io.tierlog.ops.bench.dashboard.DashboardBench.Moment;
import io.tierlog.ops.bench.dashboard.DashboardBench.Sample;
import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * The report. Valid when the page has counted each record once, and no stream ended.
 *
 * <pre>
 *   core: what the page ran on; processors: as its JVM counts them; load: of the machine, at begin and end
 *   rate: events a second that were asked for; written: what was written, each a second
 *   catch_up: the log that was there before, with the start of the JVM
 *   lag: of the overview behind the log when it was made; a row for each third of the time; delivery_ms until a browser had it
 *   core_share: processor time of the page's process, of one core; us_per_event: with all records that an event leads to
 *   memory: begin, middle, end; heap after a collection
 *   streams: by page; updates_per_s of the slowest; missed updates of all
 *   unread: records that the page had not counted when all were written and time had passed
 * </pre>
 */
final class DashboardReport {
    /** A page that is older than this has fallen behind. */
    private static final long MOST_LAG_MS = 3_000;

    /** A log that was written at less of its rate says nothing about the page. */
    private static final double LEAST_RATE = 0.98;

    /** A page comes once a second, and the time to make it. */
    private static final double LEAST_UPDATES = 0.5;

    private static final double MIB = 1 << 20;
    private static final int THIRDS = 3;

    private DashboardReport() {}

    static Report of(DashboardBenchConfig config, Measured measured) {
        Moment first = measured.moments().getFirst();
        Moment last = measured.moments().getLast();
        double seconds = (last.nanos() - first.nanos()) / 1e9;
        LoadLog.Written written = last.written().minus(first.written());
        double eventsPerS = written.events() / seconds;
        double coreShare = (last.cpuNs() - first.cpuNs()) / 1e9 / seconds;
        List<Row> lags = lags(measured.samples());
        List<Row> streams = streams(measured, seconds);
        long ended = last.browsers().stream().filter(Browsers.Counts::ended).count();
        String keepsUp = keepsUp(eventsPerS / config.load().rate(), lags, streams);
        Row report = new Row()
                .with("core", measured.core().name()).with("processors", measured.processors())
                .with("load", measured.load().stream().map(Row::round).toList())
                .with("nodes", config.nodes().count()).with("partitions", config.nodes().partitions()).with("browsers", config.browsers())
                .with("past_hours", config.load().pastHours()).with("heap_mb", config.heapMb())
                .rounded("seconds", seconds).with("rate", config.load().rate())
                .with("written", new Row().rounded("events", eventsPerS).rounded("decisions", written.decisions() / seconds)
                        .rounded("commands", written.commands() / seconds).rounded("placements", written.placements() / seconds))
                .with("catch_up", catchUp(measured.catchUp()))
                .with("lag", lags)
                .rounded("core_share", coreShare)
                .rounded("us_per_event", coreShare * 1e6 / eventsPerS)
                .rounded("us_per_record", coreShare * 1e6 * seconds / Math.max(1, written.read()))
                .with("memory", measured.moments().stream().map(DashboardReport::memory).toList())
                .with("streams", streams)
                .with("ended_streams", ended)
                .with("unread", measured.unread())
                .with("keeps_up", keepsUp);
        return new Report(report, text(report), measured.unread() == 0 && ended == 0);
    }

    /** "yes", or why not. */
    static String keepsUp(double ofRate, List<Row> lags, List<Row> streams) {
        if (ofRate < LEAST_RATE) {
            return String.format(Locale.ROOT, "not known: the log was written at %.0f %% of the rate", 100 * ofRate);
        }
        if (lags.isEmpty()) {
            return "no: the overview did not come";
        }
        double slowest = streams.stream().mapToDouble(row -> row.number("updates_per_s")).min().orElse(0);
        if (lags.getLast().number("p50_ms") > MOST_LAG_MS) {
            return String.format(Locale.ROOT, "no: at the end it is %.1f s behind", lags.getLast().number("p50_ms") / 1e3);
        }
        return slowest < LEAST_UPDATES ? String.format(Locale.ROOT, "no: a page comes every %.1f s", 1 / slowest) : "yes";
    }

    private static Row catchUp(CatchUp all) {
        double seconds = all.nanos() / 1e9;
        return new Row().with("records", all.records()).rounded("seconds", seconds).rounded("records_per_s", all.records() / seconds)
                .rounded("cpu_us_per_record", all.cpuNs() / 1e3 / Math.max(1, all.records()));
    }

    /** A row for each third of the samples. */
    static List<Row> lags(List<Sample> samples) {
        List<Row> rows = new ArrayList<>();
        for (int third = 0; third < THIRDS; third++) {
            List<Sample> part = samples.subList(third * samples.size() / THIRDS, (third + 1) * samples.size() / THIRDS);
            if (!part.isEmpty()) {
                rows.add(new Row().with("p50_ms", percentile(part, 0.5, sample -> sample.lag().ms()))
                        .with("max_ms", percentile(part, 1, sample -> sample.lag().ms()))
                        .with("p50_records", percentile(part, 0.5, sample -> sample.lag().records()))
                        .with("max_records", percentile(part, 1, sample -> sample.lag().records()))
                        .with("p50_delivery_ms", percentile(part, 0.5, Sample::deliveryMs))
                        .with("max_delivery_ms", percentile(part, 1, Sample::deliveryMs)));
            }
        }
        return rows;
    }

    private static long percentile(List<Sample> samples, double share, ToLongFunction<Sample> value) {
        long[] sorted = samples.stream().mapToLong(value).sorted().toArray();
        return sorted[(int) Math.min(sorted.length - 1, Math.round(share * (sorted.length - 1)))];
    }

    private static Row memory(Moment moment) {
        return new Row().rounded("heap_mb", moment.memory().heap() / MIB).rounded("resident_mb", moment.memory().resident() / MIB);
    }

    /** Browsers of one page together. */
    private static List<Row> streams(Measured measured, double seconds) {
        Map<String, List<Browsers.Counts>> byPage = new TreeMap<>();
        for (int i = 0; i < measured.pages().size(); i++) {
            String page = measured.pages().get(i).replaceFirst("&node=.*", "");
            byPage.computeIfAbsent(page, _ -> new ArrayList<>())
                    .add(measured.moments().getLast().browsers().get(i).minus(measured.moments().getFirst().browsers().get(i)));
        }
        List<Row> rows = new ArrayList<>();
        byPage.forEach((page, counts) -> {
            LongStream updates = counts.stream().mapToLong(Browsers.Counts::updates);
            rows.add(new Row().with("page", page).with("browsers", counts.size())
                    .rounded("updates_per_s", updates.min().orElse(0) / seconds)
                    .rounded("kb_per_s", counts.stream().mapToLong(Browsers.Counts::bytes).sum() / seconds / counts.size() / 1e3)
                    .with("missed", counts.stream().mapToLong(Browsers.Counts::missed).sum()));
        });
        return rows;
    }

    private static String text(Row report) {
        Row written = report.row("written");
        Row catchUp = report.row("catch_up");
        List<?> load = (List<?>) report.value("load");
        Report.Text text = new Report.Text()
                .line("The live page on %s, heap of %d MiB; %d nodes, %d partitions, %d browsers, load of the machine %s to %s",
                        report.value("core"), report.value("heap_mb"), report.value("nodes"), report.value("partitions"), report.value("browsers"),
                        load.getFirst(), load.getLast())
                .line("%n  catching up at the start: %,d records in %.1f s, %,.0f records/s, %.0f us of processor time a record",
                        catchUp.value("records"), catchUp.number("seconds"), catchUp.number("records_per_s"), catchUp.number("cpu_us_per_record"))
                .line("  then for %.0f s: %,.0f events/s, %,.0f decisions/s, %,.0f commands/s, %,.0f placements/s",
                        report.number("seconds"), written.number("events"), written.number("decisions"), written.number("commands"),
                        written.number("placements"))
                .line("  processor time: %.2f of a core, %.0f us an event, %.0f us a record",
                        report.number("core_share"), report.number("us_per_event"), report.number("us_per_record"))
                .line("%n  %-12s %12s %12s %14s %14s %16s", "lag", "p50 ms", "max ms", "p50 records", "max records", "p50 to browser");
        List<String> parts = List.of("begin", "middle", "end");
        List<Row> lags = report.rows("lag");
        for (int i = 0; i < lags.size(); i++) {
            Row lag = lags.get(i);
            text.line("  %-12s %,12d %,12d %,14d %,14d %,13d ms", parts.get(Math.min(i, parts.size() - 1)), lag.value("p50_ms"), lag.value("max_ms"),
                    lag.value("p50_records"), lag.value("max_records"), lag.value("p50_delivery_ms"));
        }
        text.line("%n  %-12s %12s %12s", "memory, MiB", "heap", "resident");
        for (int i = 0; i < parts.size(); i++) {
            Row memory = report.rows("memory").get(i);
            text.line("  %-12s %12.1f %12.1f", parts.get(i), memory.number("heap_mb"), memory.number("resident_mb"));
        }
        text.line("%n  %-24s %10s %12s %14s %10s", "stream", "browsers", "updates/s", "KB/s each", "missed");
        for (Row row : report.rows("streams")) {
            text.line("  %-24s %10d %12.2f %14.1f %10d", row.value("page"), row.value("browsers"), row.number("updates_per_s"),
                    row.number("kb_per_s"), row.value("missed"));
        }
        if (report.number("unread") != 0 || report.number("ended_streams") != 0) {
            text.line("%n  WRONG: %d records not counted at the end, %d streams ended", report.value("unread"), report.value("ended_streams"));
        }
        return text.line("%n  keeps up: %s", report.value("keeps_up")).toString();
    }
}
