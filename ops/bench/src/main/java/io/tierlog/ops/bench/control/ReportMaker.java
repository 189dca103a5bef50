/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.ops.bench.control.ControlBenchReport.Latency;
import io.tierlog.ops.bench.control.ControlBenchReport.Rates;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** From what was measured to what is reported: ratios, and whether everything is accounted for. Static and without state. */
final class ReportMaker {
    private ReportMaker() {}

    static ControlBenchReport make(ControlBenchConfig config, ControlBench.Measured measured, double elapsedS) {
        CommandDelivery primary = config.commands().getFirst();
        Map<Part, Latency> latency = new EnumMap<>(Part.class);
        measured.latency.forEach((part, result) -> latency.put(part, ControlBenchReport.latency(result)));
        Latency relay = required(latency, Part.RELAY);
        Latency before = required(latency, primary == CommandDelivery.DIRECT ? Part.DIRECT : Part.TRANSACTIONAL);
        Rates rates = rates(config, measured, primary);
        return new ControlBenchReport(
                required(latency, Part.HOP),
                relay,
                required(latency, Part.PASS_THROUGH),
                latency.get(Part.PASS_THROUGH_AFTER_COMMIT),
                before,
                latency.get(Part.DIRECT),
                latency.get(Part.TRANSACTIONAL),
                latency.get(Part.AFTER_COMMIT),
                rates,
                ratios(relay, before, rates, latency),
                ControlBenchReport.AIMS,
                measured.recordBytes,
                "the moment a request should have been sent",
                config.load().rate(),
                config.load().rounds(),
                config.shape().blocks(),
                config.shape().nodes(),
                config.shape().partitions(),
                config.tuning().commitIntervalMs(),
                config.tuning().recordCacheBytes(),
                accounted(latency, measured),
                elapsedS);
    }

    private static Map<String, Double> ratios(Latency relay, Latency before, Rates rates, Map<Part, Latency> latency) {
        Map<String, Double> ratios = new LinkedHashMap<>();
        ratios.put("submit_to_command_p50", ratio(before.p50(), relay.p50()));
        ratios.put("submit_to_command_p99", ratio(before.p99(), relay.p99()));
        ratios.put("throughput", ratio(rates.tierlogEventsPerS(), rates.passThroughEventsPerS()));
        latency.forEach((part, times) -> {
            if (part != Part.HOP && part != Part.RELAY) {
                ratios.put(part.key() + "_p50", ratio(times.p50(), relay.p50()));
                ratios.put(part.key() + "_p99", ratio(times.p99(), relay.p99()));
            }
        });
        return ratios;
    }

    private static Rates rates(ControlBenchConfig config, ControlBench.Measured measured, CommandDelivery primary) {
        Map<String, Double> byCommands = new TreeMap<>();
        Map<String, Double> micros = new TreeMap<>();
        micros.put(Part.PASS_THROUGH.key(), ControlBenchReport.round(measured.passThrough.seen().cpuMicrosPerRecord()));
        Map<String, Map<String, Long>> written = new TreeMap<>();
        measured.controllers.forEach((commands, result) -> {
            byCommands.put(ControlBenchReport.name(commands), ControlBenchReport.round(result.seen().perSecond()));
            micros.put(ControlBenchReport.name(commands), ControlBenchReport.round(result.seen().cpuMicrosPerRecord()));
            written.put(ControlBenchReport.name(commands), result.out());
        });
        Bulk.Result result = measured.controllers.getOrDefault(primary, Bulk.Result.NOTHING);
        double perSecond = result.seen().perSecond();
        long decisions = result.out().entrySet().stream()
                .filter(entry -> !Bulk.isCommand(entry.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
        return new Rates(
                ControlBenchReport.round(measured.passThrough.seen().perSecond()),
                ControlBenchReport.round(perSecond),
                ControlBenchReport.round(perSecond / Bulk.RECORDS_A_REQUEST * config.shape().blocks()),
                byCommands,
                micros,
                ratio((double) decisions, (double) result.events()),
                measured.passThrough.events(),
                measured.passThrough.out().values().stream().mapToLong(Long::longValue).sum(),
                written);
    }

    private static boolean accounted(Map<Part, Latency> latency, ControlBench.Measured measured) {
        return latency.values().stream().allMatch(times -> times.requests().isClean())
                && passed(measured.passThrough)
                && measured.controllers.values().stream().allMatch(ReportMaker::decided);
    }

    private static boolean passed(Bulk.Result result) {
        return result.out().values().stream().mapToLong(Long::longValue).sum() == result.events();
    }

    /** Every request was admitted, resumed and released, and nothing was refused. */
    private static boolean decided(Bulk.Result result) {
        long requests = result.events() / Bulk.RECORDS_A_REQUEST;
        return result.count("RequestAdmitted") == requests
                && result.count("ResumeRequest") == requests
                && result.count("ReleaseRequest") == requests
                && result.count("InputRefused") == 0
                && result.count("InputSkipped") == 0;
    }

    private static Latency required(Map<Part, Latency> latency, Part part) {
        @Nullable Latency found = latency.get(part);
        if (found == null) {
            throw new IllegalStateException(part + " was not measured");
        }
        return found;
    }

    private static double ratio(double of, double to) {
        return to == 0 ? 0 : ControlBenchReport.round(of / to);
    }
}
