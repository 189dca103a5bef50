/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tiny runs of the transfer benchmark: that they are complete and that every byte arrived, not how fast anything was. */
final class BenchTransferCommandTest {
    /** Of 36 layers, each with K and V of 128 bytes; no multiple of a page, so the disk pads it. */
    private static final String BLOCK_BYTES = "9216";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void aTinyRunMovesEverythingBothWaysAndLeavesNothing() throws IOException {
        Set<Path> before = leftovers();

        JsonNode report = json(run(
                "transfer", "--format", "json", "--block-bytes", BLOCK_BYTES, "--blocks", "10", "--depth", "3", "--rounds", "2", "--disk",
                directory.toString(), "--store", directory.toString()));

        List<String> seen = new ArrayList<>();
        for (JsonNode tier : report.path("tiers")) {
            for (JsonNode way : tier.path("directions")) {
                seen.add(way.path("name").asText());
                speedIsThere(way.path("tierlog"));
                for (JsonNode other : way.path("others")) {
                    speedIsThere(other.path("speed"));
                    assertTrue(other.path("ratio").asDouble() > 0, other.toString());
                }
            }
        }
        assertEquals(
                List.of(
                        "CRC32C of blocks in host memory, one thread",
                        "host to device", "device to host", "host to device", "device to host", "host to device", "device to host",
                        "host to disk", "disk to host", "host to store", "store to host"),
                seen);
        boolean fio = !report.path("notes").toString().contains("fio: not run, apt-get install fio");
        JsonNode disk = report.path("tiers").path(4);
        assertTrue(disk.path("title").asText().startsWith("disk, aligned to 4096"), disk.toString());
        assertEquals(fio ? 1 : 0, disk.path("directions").path(0).path("others").size());
        assertEquals(fio, disk.path("directions").path(1).has("met"));
        assertEquals(2, report.path("rounds").asInt());
        assertEquals(before, leftovers());
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void aBlockWithoutLayersIsMeasuredAsOneSegmentAndTheTextSaysSo() {
        int exitCode = run("transfer", "--only", "device", "--block-bytes", "1000", "--blocks", "3", "--rounds", "1");
        assertEquals(0, exitCode, () -> failure.get() + "\n" + err);

        String text = out.toString();
        assertTrue(text.contains("3 blocks of 1,000 bytes"), text);
        assertTrue(text.contains("device, a block is one segment, emulated device bench"), text);
        assertTrue(text.contains("layouts of 36 layers: not run, --block-bytes is no multiple of 72"), text);
        assertTrue(text.contains("plain memory copy, and CRC32C of each block"), text);
        assertTrue(!text.contains("host to disk") && !text.contains("host to store"), text);
        assertTrue(err.toString().contains("round 1/1"), err.toString());
    }

    @Test
    void badInputIsRefusedBeforeAnythingIsMade() throws IOException {
        Set<Path> before = leftovers();
        assertEquals("--rounds 0 is not between 1 and 100", refused("--rounds", "0"));
        assertEquals("--block-bytes 511 is not between 512 and 67108864", refused("--block-bytes", "511"));
        assertEquals(
                "--block-bytes times --blocks 4398046511104 is not between 1 and 68719476736",
                refused("--block-bytes", "67108864", "--blocks", "65536"));
        assertEquals("--disk /nowhere is no directory that can be written to", refused("--disk", "/nowhere"));
        assertEquals(before, leftovers());
    }

    /** On a machine with a driver the GPU is measured; profile gpu demands one. */
    @Test
    void aGpuIsMeasuredOrItsAbsenceSaid() throws IOException {
        int exitCode = run("transfer", "--only", "device", "--device", "cuda", "--format", "json", "--block-bytes", BLOCK_BYTES, "--blocks", "4",
                "--rounds", "1");
        if (Boolean.getBoolean("tierlog.gpu") || exitCode == 0) {
            assertTrue(json(exitCode).path("tiers").path(1).path("directions").toString().contains("one copy of pinned memory"), out.toString());
        } else {
            BenchException absent = assertInstanceOf(BenchException.class, failure.get());
            assertTrue(absent.isBadInput());
            assertTrue(absent.getMessage().contains("CUDA"), absent.getMessage());
            assertEquals("leave --device out to measure the emulated device", absent.hint());
        }
    }

    @Test
    void theGpuIsMeasuredAtFullSizeWhereTheProfileDemandsIt() throws IOException {
        Assumptions.assumeTrue(Boolean.getBoolean("tierlog.gpu"), "NOT RUN: needs -Pgpu and a GPU");
        assertEquals(0, run("transfer", "--only", "device", "--device", "cuda", "--blocks", "127"), () -> failure.get() + "\n" + err);
        System.out.println(out);
    }

    private String refused(String... arguments) {
        failure.set(null);
        List<String> line = new ArrayList<>(List.of("transfer"));
        line.addAll(List.of(arguments));
        run(line.toArray(String[]::new));
        BenchException refused = assertInstanceOf(BenchException.class, failure.get());
        assertTrue(refused.isBadInput());
        return String.valueOf(refused.getMessage());
    }

    private JsonNode json(int exitCode) throws IOException {
        assertEquals(0, exitCode, () -> failure.get() + "\n" + err + "\n" + out);
        return new ObjectMapper().readTree(out.toString());
    }

    private static void speedIsThere(JsonNode speed) {
        assertTrue(speed.path("highest").asDouble() >= speed.path("lowest").asDouble(-1), speed.toString());
        assertTrue(speed.path("p99_ms").asDouble() >= speed.path("p50_ms").asDouble(Double.MAX_VALUE), speed.toString());
    }

    private int run(String... arguments) {
        CommandLine line = new CommandLine(new BenchCommand());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        line.setExecutionExceptionHandler((failed, _, _) -> {
            failure.set(failed);
            return 1;
        });
        return line.execute(arguments);
    }

    private static Set<Path> leftovers() throws IOException {
        Path memory = Path.of("/dev/shm");
        List<Path> places = Files.isDirectory(memory) ? List.of(Path.of(System.getProperty("java.io.tmpdir")), memory)
                : List.of(Path.of(System.getProperty("java.io.tmpdir")));
        Set<Path> found = new java.util.TreeSet<>();
        for (Path place : places) {
            try (Stream<Path> files = Files.list(place)) {
                found.addAll(files.filter(file -> file.getFileName().toString().startsWith("tierlog-bench-")).collect(Collectors.toSet()));
            }
        }
        return found;
    }
}
