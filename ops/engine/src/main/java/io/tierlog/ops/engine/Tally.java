/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Counts what happens in a run. Thread-safe: one lock, taken a few times a request. */
final class Tally {
    private static final long MAX_MICROS = TimeUnit.HOURS.toMicros(1);
    private static final int DIGITS = 3;

    private final long startNanos = System.nanoTime();
    private final List<Counts> nodes = new ArrayList<>();
    private final List<RunReport.Tenant> tenants = new ArrayList<>();
    private final Histogram answer = histogram();
    private final Histogram ready = histogram();
    private final Histogram load = histogram();
    private final Histogram firstToken = histogram();
    private final TreeMap<String, Long> refusals = new TreeMap<>();
    private Optional<String> firstWrong = Optional.empty();
    private long ideal;
    private long beyondIdeal;

    Tally(int nodeCount, List<String> tenantNames) {
        tenantNames.forEach(name -> tenants.add(new RunReport.Tenant(name, 0, 0, Hits.NONE)));
        for (int i = 0; i < nodeCount; i++) {
            nodes.add(new Counts());
        }
    }

    /** Numbers of one node; guarded by the tally. */
    private static final class Counts {
        private int done;
        private int rejected;
        private long accesses;
        private Hits hits = Hits.NONE;
        private long computed;
        private long loadedBytes;
        private long wrong;
        private int resubmitted;
        private int lostSessions;
    }

    private static Histogram histogram() {
        return new Histogram(MAX_MICROS, DIGITS);
    }

    private static Latency micros(Histogram times) {
        return Latency.of(times, TimeUnit.MICROSECONDS);
    }

    synchronized void served(int node, Outcome outcome) {
        Counts counts = nodes.get(node);
        counts.done++;
        counts.accesses += outcome.request().accesses();
        counts.hits = counts.hits.plus(outcome.hits());
        counts.computed += outcome.computed();
        RunReport.Tenant tenant = tenants.get(outcome.request().tenant());
        tenants.set(
                outcome.request().tenant(),
                new RunReport.Tenant(
                        tenant.name(),
                        tenant.requests() + 1,
                        tenant.blockAccesses() + outcome.request().accesses(),
                        tenant.hits().plus(outcome.hits())));
        ideal += outcome.ideal();
        beyondIdeal += outcome.beyondIdeal();
        record(answer, outcome.times().answer());
        record(ready, outcome.times().ready());
        record(load, outcome.times().load());
        record(firstToken, OptionalLong.of(outcome.times().firstToken()));
    }

    private static void record(Histogram histogram, OptionalLong nanos) {
        nanos.ifPresent(value -> histogram.recordValue(Math.min(MAX_MICROS, TimeUnit.NANOSECONDS.toMicros(value))));
    }

    synchronized void rejected(int node) {
        nodes.get(node).rejected++;
    }

    synchronized void loaded(int node, long bytes) {
        nodes.get(node).loadedBytes += bytes;
    }

    synchronized void wrongContent(int node, String what) {
        nodes.get(node).wrong++;
        if (firstWrong.isEmpty()) {
            firstWrong = Optional.of(what);
        }
    }

    synchronized void refused(String what) {
        refusals.merge(what, 1L, Long::sum);
    }

    synchronized void resubmitted(int node) {
        nodes.get(node).resubmitted++;
    }

    synchronized void sessionLost(int node) {
        nodes.get(node).lostSessions++;
    }

    synchronized Progress progress(int total, int running) {
        int done = 0;
        Hits hits = Hits.NONE;
        long computed = 0;
        long bytes = 0;
        long wrong = 0;
        for (Counts counts : nodes) {
            done += counts.done + counts.rejected;
            hits = hits.plus(counts.hits);
            computed += counts.computed;
            bytes += counts.loadedBytes;
            wrong += counts.wrong;
        }
        return new Progress(done, total, running, hits, computed, bytes, wrong, elapsedMs());
    }

    private long elapsedMs() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }

    /** The report; {@code misses} by the ledger, {@code pools} of the nodes at the end. */
    synchronized RunReport report(List<EngineNode> names, MissLedger ledger, List<RunReport.PoolEnd> pools) {
        List<RunReport.Node> reports = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            Counts counts = nodes.get(i);
            reports.add(new RunReport.Node(
                    names.get(i).name(),
                    counts.done,
                    counts.rejected,
                    counts.accesses,
                    counts.hits,
                    counts.computed,
                    counts.loadedBytes,
                    counts.wrong,
                    counts.resubmitted,
                    counts.lostSessions,
                    pools.get(i)));
        }
        return new RunReport(
                reports,
                tenants,
                new RunReport.Ideal(ideal, beyondIdeal, ledger.settle()),
                new RunReport.Latencies(micros(answer), micros(ready), micros(load), micros(firstToken)),
                refusals,
                firstWrong,
                elapsedMs());
    }
}
