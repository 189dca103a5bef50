/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.schemas.OperationKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What came of the episodes, as a table and as JSON. Safe for several threads. */
public final class SimulationReport {
    private static final int TRACE_SHOWN = 24;

    private final long seed;
    private final long wanted;
    private final Map<FaultKind, Long> faults = new EnumMap<>(FaultKind.class);
    private final Map<OperationKind, Long> operations = new EnumMap<>(OperationKind.class);
    private final Map<MigrationCount, Long> migrations = new EnumMap<>(MigrationCount.class);
    private final Map<FetchCount, Long> fetches = new EnumMap<>(FetchCount.class);
    private final Map<ExpiryCount, Long> expiries = new EnumMap<>(ExpiryCount.class);
    private final List<Postmortem> failures = new ArrayList<>();
    private Episode.Counts sum = Episode.Counts.NONE;
    private long episodes;
    private long twoRanks;
    private long failed;
    private Duration elapsed = Duration.ZERO;
    private String shortfall = "";

    SimulationReport(long seed, long wanted) {
        this.seed = seed;
        this.wanted = wanted;
    }

    synchronized void add(Episode.Result result) {
        Episode.Counts c = result.counts();
        episodes++;
        twoRanks += c.ranks() > 1 ? 1 : 0;
        failed += result.failure() == null ? 0 : 1;
        sum = new Episode.Counts(
                sum(sum.asked(), c.asked()), sum.steps() + c.steps(), sum.events() + c.events(), sum.records() + c.records(),
                sum.readsChecked() + c.readsChecked(), sum.writesChecked() + c.writesChecked(), sum.wrong() + c.wrong(),
                sum.nodes() + c.nodes(), 0);
        result.faults().forEach((kind, count) -> faults.merge(kind, count, Long::sum));
        result.migrations().forEach((what, count) -> migrations.merge(what, count, Long::sum));
        result.fetches().forEach((what, count) -> fetches.merge(what, count, Long::sum));
        result.expiries().forEach((what, count) -> expiries.merge(what, count, Long::sum));
        result.operations().forEach((kind, count) -> operations.merge(kind, count, Long::sum));
    }

    private static Episode.Asked sum(Episode.Asked a, Episode.Asked b) {
        return new Episode.Asked(a.inputs() + b.inputs(), a.requests() + b.requests(), a.retries() + b.retries());
    }

    synchronized void add(Postmortem failure) {
        failures.add(failure);
    }

    /** The run of an episode failed, and its outcome is unknown: that is a violation. */
    synchronized void broken(Postmortem failure) {
        failures.add(failure);
        failed = Math.max(failed, failures.size());
    }

    synchronized void elapsed(Duration time) {
        elapsed = time;
    }

    synchronized void shortfall(String why) {
        shortfall = why;
    }

    /** Episodes that were asked for. */
    public long wanted() {
        return wanted;
    }

    /** Why fewer were run than were asked for; empty when all were. */
    public synchronized String shortfall() {
        return shortfall;
    }

    /** How long it took. */
    public synchronized Duration elapsed() {
        return elapsed;
    }

    /** Attempts of requests that were preempted, beyond their first. */
    public synchronized long retries() {
        return sum.asked().retries();
    }

    /** Writes whose bytes were compared. */
    public synchronized long writesChecked() {
        return sum.writesChecked();
    }

    /** Episodes that were run. */
    public synchronized long episodes() {
        return episodes;
    }

    /** Episodes in which something was violated. */
    public synchronized long violations() {
        return failed;
    }

    /** Operations of all kinds. */
    public synchronized long operations() {
        return operations.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Reads whose bytes were compared. */
    public synchronized long readsChecked() {
        return sum.readsChecked();
    }

    /** Reads and writes whose bytes were those of another block, or none. */
    public synchronized long wrongContent() {
        return sum.wrong();
    }

    /** How often each kind of fault happened. */
    public synchronized Map<FaultKind, Long> faults() {
        return new EnumMap<>(faults);
    }

    /** What there was of migration. */
    public synchronized Map<MigrationCount, Long> migrations() {
        return new EnumMap<>(migrations);
    }

    /** What there was of promotions and of reads across nodes. */
    public synchronized Map<FetchCount, Long> fetches() {
        return new EnumMap<>(fetches);
    }

    /** What is known of failures. */
    public synchronized List<Postmortem> failures() {
        return List.copyOf(failures);
    }

    private double seconds() {
        return Math.max(1, elapsed.toMillis()) / 1_000.0;
    }

    synchronized String progress(long of) {
        return String.format(Locale.ROOT, "%,d of %,d episodes, %.1f a second, %,d operations, %,d reads checked, wrong content %d",
                episodes, of, episodes / seconds(), operations(), sum.readsChecked(), sum.wrong());
    }

    /** For people. */
    public synchronized String text() {
        StringBuilder out = new StringBuilder();
        String fewer = shortfall.isEmpty() ? "" : " (fewer: " + shortfall + ")";
        line(out, "episodes", episodes, String.format(Locale.ROOT, "%d of %d episodes%s from seed %d; %.1f a second; %,d with 2 ranks, %,d nodes",
                episodes, wanted, fewer, seed, episodes / seconds(), twoRanks, sum.nodes()));
        line(out, "steps", sum.steps(), "");
        line(out, "inputs", sum.inputs(), String.format(Locale.ROOT, "of users; %,d requests, %,d further attempts", sum.asked().requests(),
                sum.asked().retries()));
        line(out, "events", sum.events(), String.format(Locale.ROOT, "%,d with the decisions", sum.records()));
        line(out, "operations", operations(), byKind());
        line(out, "reads checked", sum.readsChecked(), "");
        line(out, "writes checked", sum.writesChecked(), "");
        line(out, "wrong content", sum.wrong(), "");
        line(out, "violations", failed, "");
        line(out, "migration", migrations.getOrDefault(MigrationCount.SUBMITTED, 0L), "");
        for (MigrationCount what : MigrationCount.values()) {
            line(out, "  " + what.label(), migrations.getOrDefault(what, 0L), what.meaning());
        }
        line(out, "fetches", fetches.getOrDefault(FetchCount.STARTED, 0L), "");
        for (FetchCount what : FetchCount.values()) {
            line(out, "  " + what.label(), fetches.getOrDefault(what, 0L), what.meaning());
        }
        line(out, "expiry", expiries.values().stream().mapToLong(Long::longValue).sum(), "");
        for (ExpiryCount what : ExpiryCount.values()) {
            line(out, "  " + what.label(), expiries.getOrDefault(what, 0L), what.meaning());
        }
        line(out, "faults", faults.values().stream().mapToLong(Long::longValue).sum(), "");
        for (FaultKind kind : FaultKind.values()) {
            if (faults.containsKey(kind)) {
                line(out, "  " + kind.label(), faults.get(kind), kind.meaning());
            }
        }
        out.append(String.format(Locale.ROOT, "elapsed %.1f s%n", seconds()));
        failures.forEach(failure -> append(out, failure));
        return out.toString();
    }

    private String byKind() {
        List<String> kinds = new ArrayList<>();
        operations.forEach((kind, count) -> kinds.add(String.format(Locale.ROOT, "%s %,d", kind, count)));
        return String.join(", ", kinds);
    }

    private static void line(StringBuilder out, String name, long count, String remark) {
        out.append(String.format(Locale.ROOT, "%-26s %,14d  %s", name, count, remark).stripTrailing()).append(System.lineSeparator());
    }

    private static void append(StringBuilder out, Postmortem failure) {
        String eol = System.lineSeparator();
        out.append(eol).append("VIOLATION in the episode of seed ").append(failure.seed()).append(eol)
                .append("  ").append(failure.what()).append(eol)
                .append("  mix: ").append(failure.mix()).append(eol)
                .append("  shrunk to ").append(failure.choices()).append(" choices in ").append(failure.steps()).append(" steps; the last of them:")
                .append(eol);
        List<String> trace = failure.trace();
        trace.subList(Math.max(0, trace.size() - TRACE_SHOWN), trace.size()).forEach(one -> out.append("    ").append(one).append(eol));
        out.append("  replay: ").append(failure.replay()).append(eol);
        if (!failure.replayShrunk().isEmpty()) {
            out.append("  shrunk: ").append(failure.replayShrunk()).append(eol);
        }
    }

    /** For programs: one JSON object. */
    public synchronized String json() throws JsonProcessingException {
        Map<String, Long> byLabel = new LinkedHashMap<>();
        for (FaultKind kind : FaultKind.values()) {
            byLabel.put(kind.label(), faults.getOrDefault(kind, 0L));
        }
        Map<String, Long> ofMigration = new LinkedHashMap<>();
        for (MigrationCount what : MigrationCount.values()) {
            ofMigration.put(what.label(), migrations.getOrDefault(what, 0L));
        }
        Map<String, Long> ofFetches = new LinkedHashMap<>();
        for (FetchCount what : FetchCount.values()) {
            ofFetches.put(what.label(), fetches.getOrDefault(what, 0L));
        }
        Map<String, Long> ofExpiry = new LinkedHashMap<>();
        for (ExpiryCount what : ExpiryCount.values()) {
            ofExpiry.put(what.label(), expiries.getOrDefault(what, 0L));
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("seed", seed);
        all.put("episodes", episodes);
        all.put("episodes_asked", wanted);
        all.put("fewer_because", shortfall);
        all.put("steps", sum.steps());
        all.put("inputs", sum.inputs());
        all.put("requests", sum.asked().requests());
        all.put("further_attempts", sum.asked().retries());
        all.put("records", sum.records());
        all.put("operations", operations());
        all.put("operations_by_kind", operations);
        all.put("migration", ofMigration);
        all.put("fetches", ofFetches);
        all.put("expiry", ofExpiry);
        all.put("reads_checked", sum.readsChecked());
        all.put("writes_checked", sum.writesChecked());
        all.put("wrong_content", sum.wrong());
        all.put("violations", failed);
        all.put("faults", byLabel);
        all.put("failures", failures);
        all.put("elapsed_s", seconds());
        return new ObjectMapper().writeValueAsString(all);
    }
}
