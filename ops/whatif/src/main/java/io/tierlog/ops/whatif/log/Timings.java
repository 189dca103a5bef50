/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.log;

import io.tierlog.ops.whatif.world.Delays;
import io.tierlog.ops.whatif.world.HardwareModel;
import io.tierlog.ops.whatif.world.HardwareModel.Engine;
import io.tierlog.ops.whatif.world.HardwareModel.Link;
import io.tierlog.ops.whatif.world.HardwareModel.Log;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How long things took in a log, by the clocks of the agents, and the model that fits. Of each link, the operations of each size count with their
 * median; latency and bandwidth are the least squares through those. Round trips of records and calls count one by one. Memory: a few numbers for
 * each operation and request. Not thread-safe.
 */
public final class Timings {
    /** Fewer than these say nothing. */
    private static final int LEAST_SAMPLES = 8;

    private static final long MICROS_IN_S = 1_000_000;
    private static final long MICROS_IN_MS = 1_000;
    private static final long NANOS_IN_MS = 1_000_000;

    /** Durations in microseconds by link and bytes. */
    private final Map<String, TreeMap<Long, List<Long>>> durations = new TreeMap<>();
    /** Prefetches and write-backs by id. */
    private final Map<String, OperationIssued> issued = new HashMap<>();
    private final Map<String, RequestSubmitted> submitted = new HashMap<>();
    private final Map<String, Long> submittedMs = new HashMap<>();
    private final Map<String, Long> finishedMs = new HashMap<>();
    private final List<Measured> roundTrips = new ArrayList<>();
    private final List<Measured> calls = new ArrayList<>();
    private long firstMs = Long.MAX_VALUE;

    /** By the clock of an agent, in ms since 1970. */
    private record Measured(long fromMs, long micros) {}

    private long decodedMs;
    private long decodedTokens;

    void issued(OperationIssued fact) {
        if (fact.kind() == OperationKind.PREFETCH || fact.kind() == OperationKind.WRITE_BACK) {
            issued.put(fact.operation(), fact);
        }
    }

    void event(Event event) {
        switch (event) {
            case RequestSubmitted e -> {
                submitted.put(e.request(), e);
                submittedMs.put(e.request(), e.envelope().timeMs());
                firstMs = Math.min(firstMs, e.envelope().timeMs());
            }
            case RequestFinished e -> finishedMs.put(e.request(), e.envelope().timeMs());
            case OperationStarted e -> arrived(e.operation(), e.envelope().timeMs());
            // The wait of its request was over: without these the longest round trips would be missing.
            case CommandRefused e when e.operation() != null && e.reason() == OperationReason.MOVED_ON ->
                arrived(e.operation(), e.envelope().timeMs());
            case RequestPrefilled e -> {
                RequestSubmitted asked = submitted.remove(e.request());
                if (asked != null && asked.answered() && e.loadedBlocks() == 0) {
                    note(calls, asked.envelope().timeMs(), e.envelope().timeMs());
                }
            }
            case PrefetchDone e -> {
                OperationIssued fetch = issued.get(e.operation());
                if (fetch != null && (fetch.from() == Tier.STORE || fetch.from() == Tier.DISK)) {
                    took(fetch.from() == Tier.STORE ? "store_read" : "disk_read", e.movedBytes(), e.durationMicros());
                }
            }
            case PromoteDone e -> took("disk_read", e.movedBytes(), e.durationMicros());
            case WriteBackDone e -> took("save", e.movedBytes(), e.durationMicros());
            case LoadBackDone e -> took("load", e.movedBytes(), e.durationMicros());
            case BackUpDone e -> took("store_write", e.movedBytes(), e.durationMicros());
            case CopyDone e when e.target() == Tier.DISK && e.source() == Tier.HOST -> took("disk_write", e.movedBytes(), e.durationMicros());
            default -> {}
        }
    }

    /** From what the agent reported to the arrival of the command that the controller issued for it: there and back on the log. */
    private void arrived(String operation, long atMs) {
        OperationIssued of = issued.get(operation);
        if (of == null || of.request() == null) {
            return;
        }
        Long since = of.kind() == OperationKind.WRITE_BACK ? finishedMs.remove(of.request()) : submittedMs.get(of.request());
        if (since != null) {
            note(roundTrips, since, atMs);
        }
    }

    /** Clocks of agents may be set: what would take less than nothing, or longer than a model may have, does not count. */
    private static void note(List<Measured> measured, long fromMs, long toMs) {
        if (toMs >= fromMs && toMs - fromMs <= Delays.MOST_MICROS / MICROS_IN_MS) {
            measured.add(new Measured(fromMs, (toMs - fromMs) * MICROS_IN_MS));
        }
    }


    void decoded(long ms, int tokens) {
        if (tokens > 0 && ms >= 0) {
            decodedMs += ms;
            decodedTokens += tokens;
        }
    }

    private void took(String link, long bytes, long micros) {
        if (bytes > 0) {
            durations.computeIfAbsent(link, _ -> new TreeMap<>()).computeIfAbsent(bytes, _ -> new ArrayList<>()).add(micros);
        }
    }

    /** Operations and waits by what they calibrate, count. */
    public Map<String, Integer> samples() {
        Map<String, Integer> counts = new TreeMap<>();
        durations.forEach((link, sizes) -> counts.put(link, sizes.values().stream().mapToInt(List::size).sum()));
        counts.put("log", roundTrips.size());
        counts.put("engine.call_us", calls.size());
        return counts;
    }

    /**
     * The model of what was measured; the rest is as in {@code base}.
     *
     * @param blockBytes bytes of a block
     */
    public HardwareModel model(HardwareModel base, long blockBytes) {
        Map<String, Link> fitted = new HashMap<>();
        durations.forEach((name, sizes) -> {
            Link link = base.links().get(name);
            if (link != null && sizes.values().stream().mapToInt(List::size).sum() >= LEAST_SAMPLES) {
                fitted.put(name, fit(link, sizes, blockBytes));
            }
        });
        HardwareModel model = base.withLinks(fitted);
        if (roundTrips.size() >= LEAST_SAMPLES) {
            long halfMicros = medianMicros(roundTrips) / 2;
            model = model.with(new Log(halfMicros, halfMicros, base.log().commitMicros(), delays(roundTrips)));
        }
        Engine engine = model.engine();
        return model.with(new Engine(
                calls.size() >= LEAST_SAMPLES ? medianMicros(calls) : engine.callMicros(), engine.prefillNanosPerToken(),
                decodedTokens >= LEAST_SAMPLES ? decodedMs * NANOS_IN_MS / decodedTokens : engine.decodeNanosPerToken(), engine.prefills(),
                calls.size() >= LEAST_SAMPLES ? delays(calls) : engine.calls()));
    }

    private Delays delays(List<Measured> measured) {
        return Delays.of(measured.stream().map(one -> new Delays.Sample(Math.max(0, one.fromMs - firstMs), one.micros)).toList());
    }

    private static long medianMicros(List<Measured> measured) {
        return median(measured.stream().map(Measured::micros).toList());
    }

    /**
     * An operation alone on its link takes {@code rounds * latency + bytes of the busiest worker / bandwidth}: two unknowns, least squares over the
     * medians, each with the weight of its operations.
     */
    private static Link fit(Link link, Map<Long, List<Long>> sizes, long blockBytes) {
        double rr = 0;
        double rb = 0;
        double bb = 0;
        double rt = 0;
        double bt = 0;
        for (Map.Entry<Long, List<Long>> size : sizes.entrySet()) {
            long blocks = Math.ceilDiv(size.getKey(), blockBytes);
            long pieces = Math.ceilDiv(blocks, link.pieceBlocks());
            double rounds = Math.ceilDiv(pieces, link.workers());
            double bytes = size.getKey() / (double) Math.min(pieces, link.workers());
            double micros = median(size.getValue());
            int weight = size.getValue().size();
            rr += weight * rounds * rounds;
            rb += weight * rounds * bytes;
            bb += weight * bytes * bytes;
            rt += weight * rounds * micros;
            bt += weight * bytes * micros;
        }
        double determinant = rr * bb - rb * rb;
        double latency = determinant <= 1e-9 * rr * bb ? 0 : (rt * bb - bt * rb) / determinant;
        double microsPerByte = determinant <= 1e-9 * rr * bb ? bt / bb : (bt * rr - rt * rb) / determinant;
        if (latency < 0) {
            latency = 0;
            microsPerByte = bt / bb;
        } else if (microsPerByte <= 0) {
            latency = rt / rr;
            microsPerByte = 0;
        }
        long bytesPerSecond = microsPerByte <= 0 ? Long.MAX_VALUE / MICROS_IN_S : Math.max(1, Math.round(MICROS_IN_S / microsPerByte));
        return link.with(Math.round(latency), bytesPerSecond);
    }

    private static long median(List<Long> values) {
        List<Long> sorted = values.stream().sorted().toList();
        return sorted.get(sorted.size() / 2);
    }
}
