/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import io.tierlog.ops.process.ChildProcess;
import io.tierlog.ops.process.ChildProcessException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * redis-benchmark, run as a process: SET and GET of values as large as a block. Safe for use by several threads; {@link #close}
 * ends a process in flight.
 */
final class RedisBenchmark implements AutoCloseable {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MS = 1e6;

    private final String version;
    private volatile Optional<ChildProcess> process = Optional.empty();

    private RedisBenchmark(String version) {
        this.version = version;
    }

    /** The one of this machine; empty when there is none. */
    static Optional<RedisBenchmark> find() throws InterruptedException {
        List<String> lines = new ArrayList<>();
        try (ChildProcess asked = ChildProcess.program("redis-benchmark", List.of("redis-benchmark", "--version")).lines(lines::add).start()) {
            return asked.exitCode() == 0 && !lines.isEmpty() && lines.getFirst().startsWith("redis-benchmark")
                    ? Optional.of(new RedisBenchmark(lines.getFirst().strip()))
                    : Optional.empty();
        } catch (ChildProcessException absent) {
            // It is not installed.
            return Optional.empty();
        }
    }

    /** Its own name and version. */
    String version() {
        return version;
    }

    /**
     * Runs it; a read needs a write of one key before, which puts the value.
     *
     * @param keys it takes one of so many at random
     * @throws BenchException when it fails, with its last lines
     */
    Sample run(Mode mode, int port, Shape shape, int keys) throws IOException, InterruptedException {
        List<String> line = List.of(
                "redis-benchmark", "-h", "127.0.0.1", "-p", String.valueOf(port), "-t", mode == Mode.write ? "set" : "get",
                "-d", String.valueOf(shape.blockBytes()), "-n", String.valueOf(shape.blocks()),
                "-c", String.valueOf(Math.min(shape.depth(), shape.blocks())), "-r", String.valueOf(keys), "--csv");
        List<String> output = new ArrayList<>();
        try (ChildProcess running = ChildProcess.program("redis-benchmark", line).lines(output::add).start()) {
            process = Optional.of(running);
            int code = running.exitCode();
            if (code != 0) {
                throw failed("it ended with " + code + ": " + running.tail(), String.join(" ", line));
            }
            return parse(mode, output, shape);
        } finally {
            process = Optional.empty();
        }
    }

    /** Reads its CSV: a line of names, and a line for the one test. Other lines may stand before. */
    static Sample parse(Mode mode, List<String> output, Shape shape) {
        String test = mode == Mode.write ? "\"SET\"" : "\"GET\"";
        Optional<String> names = output.stream().filter(line -> line.startsWith("\"test\",")).findFirst();
        Optional<String> values = output.stream().filter(line -> line.startsWith(test + ",")).findFirst();
        Map<String, Double> row = new HashMap<>();
        if (names.isPresent() && values.isPresent()) {
            String[] columns = names.get().replace("\"", "").split(",", -1);
            String[] cells = values.get().replace("\"", "").split(",", -1);
            for (int i = 1; i < Math.min(columns.length, cells.length); i++) {
                if (cells[i].matches("\\d{1,15}(\\.\\d{1,9})?")) {
                    row.put(columns[i], Double.parseDouble(cells[i]));
                }
            }
        }
        Double perSecond = row.get("rps");
        Double p50 = row.get("p50_latency_ms");
        Double p99 = row.get("p99_latency_ms");
        if (perSecond == null || perSecond <= 0 || p50 == null || p99 == null) {
            throw failed("its answer lacks " + test + " with rps, p50_latency_ms and p99_latency_ms: " + output, "");
        }
        long nanos = Math.max(1, Math.round(shape.blocks() / perSecond * NANOS_PER_SECOND));
        return new Sample(shape.bytes(), nanos, Math.round(p50 * NANOS_PER_MS), Math.round(p99 * NANOS_PER_MS));
    }

    private static BenchException failed(String what, String line) {
        String hint = line.isEmpty() ? "redis-benchmark 6.2 or later is needed" : "run it by hand: " + line;
        return BenchException.failed(String.format(Locale.ROOT, "redis-benchmark failed: %s", what), hint);
    }

    /** Ends the process in flight. */
    @Override
    public void close() {
        process.ifPresent(ChildProcess::close);
    }
}
