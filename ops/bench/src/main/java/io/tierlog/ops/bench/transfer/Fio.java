/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.bench.BenchException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** fio, run as a process. Safe for use by several threads; a process under way ends with {@link #close}. */
final class Fio implements AutoCloseable {
    private static final double NANOS_PER_SECOND = 1e9;

    private final String version;
    private volatile Optional<Process> process = Optional.empty();

    private Fio(String version) {
        this.version = version;
    }

    /** Which way bytes go; the names are fio's. */
    enum Mode {
        write,
        read
    }

    /** The fio of this machine; empty when there is none. */
    static Optional<Fio> find() throws IOException, InterruptedException {
        try {
            Process asked = new ProcessBuilder("fio", "--version").redirectErrorStream(true).start();
            String said = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return asked.waitFor() == 0 && said.startsWith("fio") ? Optional.of(new Fio(said)) : Optional.empty();
        } catch (IOException e) {
            // That is how Java says that there is no such program.
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
     * @param arguments all but those that say which way and how to answer
     * @throws BenchException when it fails, with what it said
     */
    Sample run(Mode mode, List<String> arguments) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(
                "fio", "--name=tierlog", "--rw=" + mode, "--thread", "--group_reporting", "--percentile_list=50:99", "--output-format=json"));
        line.addAll(arguments);
        Path said = Files.createTempFile("tierlog-bench-fio-", ".err");
        try {
            Process running = new ProcessBuilder(line).redirectError(said.toFile()).start();
            process = Optional.of(running);
            String answer = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = running.waitFor();
            if (code != 0) {
                throw failed("it ended with " + code + ": " + Files.readString(said).strip(), line);
            }
            return parse(mode, answer);
        } finally {
            process = Optional.empty();
            Files.deleteIfExists(said);
        }
    }

    /** What fio says of its one group of jobs. Before the object it may say things in words. */
    static Sample parse(Mode mode, String answer) {
        JsonNode group;
        try {
            group = new ObjectMapper().readTree(answer.substring(Math.max(0, answer.indexOf('{')))).path("jobs").path(0).path(mode.name());
        } catch (JsonProcessingException e) {
            throw failed("its answer is no JSON: " + e.getOriginalMessage(), List.of()).causedBy(e);
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

    /** Ends what is under way. */
    @Override
    public void close() {
        process.ifPresent(Process::destroyForcibly);
    }
}
