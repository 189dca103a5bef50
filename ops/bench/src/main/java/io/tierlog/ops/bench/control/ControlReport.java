/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * Makes the report of the control benchmark. Static and without state. Times are milliseconds; a part that was not requested is absent.
 *
 * <pre>
 *   one object for each {@link Part}, and tierlog_before_commit, the one that the ratios are about:
 *     p50, p90, p99, max, count (answers that were timed), round_p50 (the median of each round), requests (with those of the warm-up)
 *   recorded, event_us, request_bytes, profile: as {@link RecordedReport} says
 *   throughput: records that place no block, processed in a second; stream_thread_us_per_event is the processor time of the stream threads,
 *     steadier than the rates on a machine that does other things too; written counts decisions and commands by type
 *   ratios: latencies against the relay, throughput against the empty pass-through
 *   aims: what the ratios, the stream thread's time for a recorded event and the bytes of a request should be
 *   accounted: every request was answered exactly once, every bulk record led to what it must lead to, and recorded events to the same
 *     decisions
 * </pre>
 */
final class ControlReport {
    private static final double MICROS_PER_MS = 1_000;
    private static final String THROUGHPUT = "throughput";
    private static final String RATE = "  %-52s %,12.0f %12s";

    private static final String RECORDED_THROUGHPUT = "recorded_throughput";

    private static final String STREAM_THREAD = "stream_thread_us";
    private static final String WRITTEN = "request_bytes_written";
    private static final String KEPT = "request_bytes_kept";

    /** Aims by what is measured: throughput at least, the others at most. */
    private static final Map<String, Double> AIMS = aims();

    private ControlReport() {}

    private static Map<String, Double> aims() {
        Map<String, Double> aims = new LinkedHashMap<>();
        aims.put("submit_to_command_p50", 1.3);
        aims.put("submit_to_command_p99", 3.0);
        aims.put("submit_to_command_p50_full", 1.3);
        aims.put("submit_to_command_p99_full", 3.0);
        aims.put(THROUGHPUT, 0.7);
        aims.put(RECORDED_THROUGHPUT, 0.5);
        aims.put(STREAM_THREAD, 60.0);
        aims.put(WRITTEN, 12_000.0);
        aims.put(KEPT, 4_000.0);
        return aims;
    }

    static Report of(ControlBenchConfig config, ControlBench.Measured measured, double elapsedS) {
        CommandDelivery primary = config.commands().getFirst();
        Map<Part, Row> latency = new EnumMap<>(Part.class);
        measured.latency.forEach((part, result) -> latency.put(part, latency(result)));
        Row before = required(latency, primary == CommandDelivery.DIRECT ? Part.DIRECT : Part.TRANSACTIONAL);
        Row report = new Row();
        for (Part part : Part.values()) {
            report.with("tierlog_before_commit", part == Part.DIRECT ? before : null);
            report.with(part.key(), latency.get(part));
        }
        Row rates = rates(config, measured, primary);
        Replay.Result recorded = Objects.requireNonNull(measured.recorded, "recorded events were not measured");
        RecordedReport.add(report, recorded, measured.profile);
        report.with(THROUGHPUT, rates)
                .with("ratios", ratios(before, rates, latency).with(RECORDED_THROUGHPUT, RecordedReport.ratio(recorded)))
                .with("aims", AIMS)
                .with("record_bytes", measured.recordBytes)
                .with("measured_from", "the moment a request should have been sent")
                .with("rate", config.load().rate())
                .with("rounds", config.load().rounds())
                .with("blocks", config.shape().blocks())
                .with("nodes", config.shape().nodes())
                .with("host_blocks", config.shape().hostBlocks())
                .with("partitions", config.shape().partitions())
                .with("commit_interval_ms", config.tuning().commitIntervalMs())
                .with("record_cache_bytes", config.tuning().recordCacheBytes())
                .with("accounted", accounted(measured))
                .rounded("elapsed_s", elapsedS);
        return new Report(report, text(report), accounted(measured));
    }

    private static Row required(Map<Part, Row> latency, Part part) {
        return Objects.requireNonNull(latency.get(part), () -> part + " was not measured");
    }

    private static Row latency(LatencyResult result) {
        Histogram micros = result.micros();
        Arrivals.Count count = result.count();
        return new Row()
                .with("p50", ms(micros.getValueAtPercentile(50)))
                .with("p90", ms(micros.getValueAtPercentile(90)))
                .with("p99", ms(micros.getValueAtPercentile(99)))
                .with("max", ms(micros.getMaxValue()))
                .with("count", micros.getTotalCount())
                .with("round_p50", result.roundMedians().stream().map(ControlReport::ms).toList())
                .with("requests", new Row()
                        .with("sent", count.sent())
                        .with("answered", count.answered())
                        .with("missing", count.missing())
                        .with("repeated", count.repeated())
                        .with("foreign", count.foreign()));
    }

    private static double ms(long micros) {
        return Row.round(micros / MICROS_PER_MS);
    }

    private static Row ratios(Row before, Row rates, Map<Part, Row> latency) {
        Row relay = required(latency, Part.RELAY);
        Row full = required(latency, Part.FULL);
        Row ratios = new Row()
                .with("submit_to_command_p50", ratio(before.number("p50"), relay.number("p50")))
                .with("submit_to_command_p99", ratio(before.number("p99"), relay.number("p99")))
                .with("submit_to_command_p50_full", ratio(full.number("p50"), relay.number("p50")))
                .with("submit_to_command_p99_full", ratio(full.number("p99"), relay.number("p99")))
                .with(THROUGHPUT, ratio(rates.number("tierlog_events_per_s"), rates.number("pass_through_events_per_s")));
        latency.forEach((part, times) -> {
            if (part != Part.HOP && part != Part.RELAY) {
                ratios.with(part.key() + "_p50", ratio(times.number("p50"), relay.number("p50")));
                ratios.with(part.key() + "_p99", ratio(times.number("p99"), relay.number("p99")));
            }
        });
        return ratios;
    }

    private static double ratio(double of, double to) {
        return to == 0 ? 0 : Row.round(of / to);
    }

    private static Row rates(ControlBenchConfig config, ControlBench.Measured measured, CommandDelivery primary) {
        Map<String, Double> byCommands = new TreeMap<>();
        Map<String, Double> micros = new TreeMap<>();
        Map<String, Map<String, Long>> written = new TreeMap<>();
        micros.put(Part.PASS_THROUGH.key(), streamThreadMicros(measured.passThrough.speed()));
        measured.controllers.forEach((commands, result) -> {
            String name = commands.name().toLowerCase(Locale.ROOT);
            byCommands.put(name, Row.round(result.speed().perSecond()));
            micros.put(name, streamThreadMicros(result.speed()));
            written.put(name, result.written());
        });
        Bulk.Result result = measured.controllers.getOrDefault(primary, Bulk.Result.NOTHING);
        double perSecond = result.speed().perSecond();
        return new Row()
                .rounded("pass_through_seconds", measured.passThrough.speed().seconds())
                .rounded("tierlog_seconds", result.speed().seconds())
                .rounded("pass_through_events_per_s", measured.passThrough.speed().perSecond())
                .rounded("tierlog_events_per_s", perSecond)
                .rounded("tierlog_blocks_per_s", perSecond / Bulk.RECORDS_A_REQUEST * config.shape().blocks())
                .with("by_commands", byCommands)
                .with("stream_thread_us_per_event", micros)
                .with("decisions_per_event", ratio((double) result.decisions(), (double) result.events()))
                .with("records", measured.passThrough.events())
                .with("passed_through", measured.passThrough.total())
                .with("written", written);
    }

    private static double streamThreadMicros(Throughput.Speed speed) {
        return Row.round(speed.microsPerRecord(speed.cpu().streamThread()));
    }

    private static boolean accounted(ControlBench.Measured measured) {
        return measured.recorded != null
                && measured.recorded.same()
                && measured.latency.values().stream().allMatch(result -> result.count().isClean())
                && measured.passThrough.total() == measured.passThrough.events()
                && measured.controllers.values().stream().allMatch(ControlReport::decided);
    }

    /** Every request was admitted, resumed and released, and no input was refused or skipped. */
    private static boolean decided(Bulk.Result result) {
        long requests = result.events() / Bulk.RECORDS_A_REQUEST;
        return result.count("RequestAdmitted") == requests
                && result.count("ResumeRequest") == requests
                && result.count("ReleaseRequest") == requests
                && result.count("InputRefused") == 0
                && result.count("InputSkipped") == 0;
    }

    private static String text(Row report) {
        Report.Text text = new Report.Text()
                .line("%d requests/s of %d blocks (%,d bytes a record), %d nodes, %d partitions, commit every %d ms, %d rounds, %.0f s%n",
                        report.value("rate"), report.value("blocks"), report.value("record_bytes"), report.value("nodes"),
                        report.value("partitions"), report.value("commit_interval_ms"), report.value("rounds"), report.value("elapsed_s"))
                .line("  %-52s %8s %8s %8s %8s   %s", "Latency, ms", "p50", "p90", "p99", "max", "x relay p50, p99");
        for (Part part : Part.values()) {
            if (report.has(part.key())) {
                latencyLine(text, part, report.row(part.key()), report.row("ratios"));
            }
        }
        text.line("  from the moment a request should have been sent to the moment its command was read%n");
        throughput(text, report.row(THROUGHPUT), report.number("blocks") / Bulk.RECORDS_A_REQUEST);
        RecordedReport.text(text, report);
        text.line("  %-52s %8s %8s", "Ratio, time or size", "measured", "aim");
        AIMS.forEach((name, aim) -> {
            double measured = measured(report, name);
            boolean atLeast = name.endsWith(THROUGHPUT);
            boolean met = atLeast ? measured >= aim : measured <= aim;
            text.line("  %-52s %8.2f %3s %4.2f   %s", name, measured, atLeast ? ">=" : "<=", aim, met ? "met" : "not met");
        });
        if (!Boolean.TRUE.equals(report.value("accounted"))) {
            text.line("%nNot everything is accounted for: the numbers cannot be trusted. --format json shows what is missing.");
        }
        return text.toString();
    }

    private static double measured(Row report, String name) {
        return switch (name) {
            case STREAM_THREAD -> report.row("event_us").number("stream_thread");
            case WRITTEN -> report.row("request_bytes").number("written");
            case KEPT -> report.row("request_bytes").number("kept");
            default -> report.row("ratios").number(name);
        };
    }

    private static void latencyLine(Report.Text text, Part part, Row times, Row ratios) {
        String p50 = part.key() + "_p50";
        String ratio = ratios.has(p50)
                ? String.format(Locale.ROOT, "%.2f, %.2f", ratios.number(p50), ratios.number(part.key() + "_p99"))
                : "";
        text.line("  %-52s %8.2f %8.2f %8.2f %8.2f   %s",
                part.title(), times.number("p50"), times.number("p90"), times.number("p99"), times.number("max"), ratio);
    }

    private static void throughput(Report.Text text, Row rates, double blocksPerEvent) {
        text.line("  %-52s %12s %12s", "Throughput, records that place no block", "events/s", "blocks/s")
                .line(RATE, "empty pass-through", rates.number("pass_through_events_per_s"), "");
        ((Map<?, ?>) rates.value("by_commands")).forEach((commands, perSecond) -> text.line(
                RATE, "Tierlog, commands " + commands, perSecond, String.format(Locale.ROOT, "%,.0f", (Double) perSecond * blocksPerEvent)));
        text.line("  processor time of the stream thread for an event, us: %s", rates.value("stream_thread_us_per_event"))
                .line("  %,d records each; Tierlog writes %.1f decisions for each%n", rates.value("records"), rates.number("decisions_per_event"));
    }
}
