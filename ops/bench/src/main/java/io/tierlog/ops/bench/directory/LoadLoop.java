/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** A closed loop of queries on one path, with several callers, that checks every answer. Static and without state. */
final class LoadLoop {
    /** Keys in the batches of a caller, made before the measurement: many more than a cache of the processor holds. */
    private static final int KEYS_MADE = 200_000;
    private static final int MOST_BATCHES = 20_000;
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(60);

    private LoadLoop() {}

    /** What is measured. */
    record Cell(int blocks, int batch, int present, int clients, int cellMs) {}

    /** The result. */
    record Outcome(
            @JsonProperty("keys_per_s") double keysPerS,
            @JsonProperty("p50_us") double p50Us,
            @JsonProperty("p99_us") double p99Us,
            @JsonProperty("calls") long calls,
            @JsonProperty("wrong") long wrong) {}

    private record Part(Histogram nanos, long calls, long keys, long wrong, long elapsedNs) {}

    static Outcome run(QueryPath path, Cell cell) throws Exception {
        List<Future<Part>> parts = new ArrayList<>();
        try (ExecutorService callers = Executors.newFixedThreadPool(cell.clients())) {
            for (int client = 0; client < cell.clients(); client++) {
                parts.add(callers.submit(caller(path, cell, client)));
            }
            Histogram all = new Histogram(MOST_NANOS, 3);
            long calls = 0;
            long wrong = 0;
            double keysPerS = 0;
            for (Future<Part> future : parts) {
                Part part = future.get();
                all.add(part.nanos());
                calls += part.calls();
                wrong += part.wrong();
                keysPerS += part.keys() * 1e9 / part.elapsedNs();
            }
            return new Outcome(keysPerS, all.getValueAtPercentile(50) / 1e3, all.getValueAtPercentile(99) / 1e3, calls, wrong);
        }
    }

    private static Callable<Part> caller(QueryPath path, Cell cell, int client) {
        return () -> {
            SplittableRandom random = new SplittableRandom(cell.blocks() * 31L + client * 7L + cell.batch());
            List<Keys.Batch> batches = new ArrayList<>();
            int count = Math.min(MOST_BATCHES, Math.max(16, KEYS_MADE / cell.batch()));
            for (int i = 0; i < count; i++) {
                batches.add(path.lookup()
                        ? Keys.chain(random, cell.blocks(), cell.batch(), cell.present())
                        : Keys.any(random, cell.blocks(), cell.batch(), cell.present()));
            }
            try (QueryPath.Session session = path.open()) {
                // Not measured: connections, compilers and caches warm up.
                measure(session, batches, cell.cellMs() / 4);
                return measure(session, batches, cell.cellMs());
            }
        };
    }

    private static Part measure(QueryPath.Session session, List<Keys.Batch> batches, int forMs) throws Exception {
        Histogram nanos = new Histogram(MOST_NANOS, 3);
        long begin = System.nanoTime();
        long end = begin + TimeUnit.MILLISECONDS.toNanos(forMs);
        long calls = 0;
        long keys = 0;
        long wrong = 0;
        long now = begin;
        do {
            Keys.Batch batch = batches.get((int) (calls % batches.size()));
            int answer = session.query(batch);
            long after = System.nanoTime();
            nanos.recordValue(Math.min(after - now, MOST_NANOS));
            now = after;
            calls++;
            keys += batch.count();
            wrong += answer == batch.expected() ? 0 : 1;
        } while (now < end);
        return new Part(nanos, calls, keys, wrong, now - begin);
    }
}
