/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.process.ChildProcess;
import io.tierlog.ops.process.ChildProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** fio, run as a process. Safe for use by several threads; {@link #close} ends a process in flight. */
final class Fio implements AutoCloseable {
    private static final double NANOS_PER_SECOND = 1e9;

    private final String version;
    private volatile Optional<ChildProcess> process = Optional.empty();

    private Fio(String version) {
        this.version = version;
    }

    /** The direction; the names are fio's. */
    enum Mode {
        write,
        read
    }

    /** The fio of this machine; empty when there is none. */
    static Optional<Fio> find() throws InterruptedException {
        List<String> lines = new ArrayList<>();
        try (ChildProcess asked = ChildProcess.program("fio", List.of("fio", "--version")).lines(lines::add).start()) {
            return asked.exitCode() == 0 && !lines.isEmpty() && lines.getFirst().startsWith("fio")
                    ? Optional.of(new Fio(lines.getFirst().strip()))
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
     * Runs it.
     *
     * @param arguments all but those for the direction and the output
     * @throws BenchException when it fails, with its last lines
     */
    Sample run(Mode mode, List<String> arguments) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(
                "fio", "--name=tierlog", "--rw=" + mode, "--thread", "--group_reporting", "--percentile_list=50:99", "--output-format=json"));
        line.addAll(arguments);
        Path errors = Files.createTempFile(TemporaryDirectory.PREFIX + "fio-", ".err");
        List<String> output = new ArrayList<>();
        try (ChildProcess running = ChildProcess.program("fio", line).log(errors).lines(output::add).start()) {
            process = Optional.of(running);
            int code = running.exitCode();
            if (code != 0) {
                throw failed("it ended with " + code + ": " + running.tail(), line);
            }
            return parse(mode, String.join("\n", output));
        } finally {
            process = Optional.empty();
            Files.deleteIfExists(errors);
        }
    }

    /** Reads fio's report on its one group of jobs. Text may precede the object. */
    static Sample parse(Mode mode, String answer) {
        JsonNode group;
        try {
            group = new ObjectMapper().readTree(answer.substring(Math.max(0, answer.indexOf('{')))).path("jobs").path(0).path(mode.name());
        } catch (JsonProcessingException e) {
            throw failed("its answer is not JSON: " + e.getOriginalMessage(), List.of()).causedBy(e);
        }
        long bytes = group.path("io_bytes").asLong();
        double bytesPerSecond = group.path("bw_bytes").asDouble();
        JsonNode percentiles = group.path("clat_ns").path("percentile");
        if (bytes < 1 || bytesPerSecond <= 0 || percentiles.path("50.000000").isMissingNode() || percentiles.path("99.000000").isMissingNode()) {
            throw failed("its answer lacks jobs[0]." + mode + " with io_bytes, bw_bytes and clat_ns", List.of());
        }
        long nanos = Math.max(1, Math.round(bytes / bytesPerSecond * NANOS_PER_SECOND));
        return new Sample(bytes, nanos, percentiles.path("50.000000").asLong(), percentiles.path("99.000000").asLong());
    }

    private static BenchException failed(String what, List<String> line) {
        String hint = line.isEmpty() ? "fio 3 or later is needed" : "run it by hand: " + String.join(" ", line);
        return BenchException.failed(String.format(Locale.ROOT, "fio failed: %s", what), hint);
    }

    /** Ends the process in flight. */
    @Override
    public void close() {
        process.ifPresent(ChildProcess::close);
    }
}
