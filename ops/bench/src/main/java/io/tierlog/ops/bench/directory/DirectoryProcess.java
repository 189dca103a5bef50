/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.bench.BenchException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A directory in a JVM of its own ({@link DirectoryMain}). One thread. */
final class DirectoryProcess implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int STOP_S = 60;

    private final Process process;
    private final BufferedReader out;
    private final PrintWriter in;
    private final Path errors;
    private int httpPort;
    private int grpcPort;

    private DirectoryProcess(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        out = process.inputReader(StandardCharsets.UTF_8);
        in = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    }

    /** Starts one and waits until it has its partitions. */
    static DirectoryProcess start(String servers, String prefix, Path directory, int heapMb) throws IOException {
        List<String> line = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-Xmx" + heapMb + "m"));
        String log = System.getProperty("logback.configurationFile");
        if (log != null) {
            line.add("-Dlogback.configurationFile=" + log);
        }
        line.addAll(List.of(DirectoryMain.class.getName(), servers, prefix, directory.resolve("state").toString()));
        Files.createDirectories(directory);
        Path errors = directory.resolve("directory.err");
        ProcessBuilder builder = new ProcessBuilder(line).redirectError(errors.toFile());
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        DirectoryProcess made = new DirectoryProcess(builder.start(), errors);
        try {
            String[] ready = made.answer(DirectoryMain.READY).split(" ", -1);
            made.httpPort = Integer.parseInt(ready[0]);
            made.grpcPort = Integer.parseInt(ready[1]);
            return made;
        } catch (RuntimeException | IOException e) {
            made.process.destroyForcibly();
            throw e;
        }
    }

    /** The next line that begins so, without the beginning. Others are log lines. */
    private String answer(String begin) throws IOException {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(begin)) {
                return line.substring(begin.length());
            }
        }
        throw BenchException.failed("the directory process ended: " + String.join(" | ", Files.readAllLines(errors)), "look for a lack of memory");
    }

    int httpPort() {
        return httpPort;
    }

    int grpcPort() {
        return grpcPort;
    }

    /** Blocks it holds, and bytes of their index. */
    long[] size() throws IOException {
        in.println("size");
        while (true) {
            String line = answer("");
            if (line.matches("\\d+ \\d+")) {
                String[] words = line.split(" ", -1);
                return new long[] {Long.parseLong(words[0]), Long.parseLong(words[1])};
            }
        }
    }

    /** Has it ask itself. */
    Drive.Outcome run(Drive.Cell cell, boolean lookup) throws IOException {
        in.println("run " + cell.blocks() + " " + cell.batch() + " " + cell.present() + " " + cell.clients() + " " + cell.cellMs() + " " + lookup);
        JsonNode json = JSON.readTree("{" + answer("{"));
        return new Drive.Outcome(json.path("keys_per_s").asDouble(), json.path("p50_us").asDouble(), json.path("p99_us").asDouble(),
                json.path("calls").asLong(), json.path("wrong").asLong());
    }

    /** Processor time that it has used, in nanoseconds. */
    long cpuNs() {
        return cpuNs(process);
    }

    static long cpuNs(Process process) {
        return process.info().totalCpuDuration().map(time -> time.toNanos()).orElse(0L);
    }

    /** Memory that it has in the machine, in bytes. */
    static long residentBytes(long pid) {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1_024)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }

    long residentBytes() {
        return residentBytes(process.pid());
    }

    /** Ends it in good order, so that all it keeps is on the disk. */
    @Override
    public void close() {
        in.close();
        try {
            if (!process.waitFor(STOP_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
