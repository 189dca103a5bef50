/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.ops.bench.report.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tiny runs of the transfer benchmark: they are complete and every byte arrives; speed does not matter. */
final class BenchTransferCommandTest {
    /** Of 36 layers, each with K and V of 128 bytes; not a multiple of a page, so the disk pads it. */
    private static final String BLOCK_BYTES = "9216";

    private static final Path S3MOCK =
            Path.of(System.getProperty("tierlog.root", "../.."), "node-agent/app/target/s3mock/s3mock.jar").toAbsolutePath();

    private final BenchRun bench = new BenchRun();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void aTinyRunMovesEverythingBothWaysAndLeavesNothing() throws IOException {
        Set<Path> before = BenchRun.leftovers();

        JsonNode report = bench.json(bench.run(
                "transfer", "--only", "device,disk,store", "--format", "json", "--block-bytes", BLOCK_BYTES, "--blocks", "10", "--depth", "3",
                "--rounds", "2", "--disk", directory.toString(), "--store", directory.toString()));

        List<String> seen = new ArrayList<>();
        for (JsonNode tier : report.path("tiers")) {
            for (JsonNode direction : tier.path("directions")) {
                seen.add(direction.path("name").asText());
                speedIsThere(direction.path("tierlog"));
                for (JsonNode other : direction.path("others")) {
                    speedIsThere(other.path("speed"));
                    assertTrue(other.path("ratio").asDouble(-1) >= 0, other.toString());
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
        assertEquals(before, BenchRun.leftovers());
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(), files.toList());
        }
    }

    /** Blocks of more than a chunk of Redis. The server may be missing where this runs, and the report says so then. */
    @Test
    void storesBehindServersAreMeasuredOrReportedAsNotRun() throws IOException {
        Set<Path> before = BenchRun.leftovers();
        boolean s3 = Files.isReadable(S3MOCK);
        List<String> line = new ArrayList<>(List.of(
                "transfer", "--only", "s3,redis", "--format", "json", "--block-bytes", "1200000", "--blocks", "5", "--depth", "2", "--rounds", "2",
                "--disk", directory.toString(), "--store", directory.toString()));
        if (s3) {
            line.addAll(List.of("--s3mock", S3MOCK.toString()));
        }
        JsonNode report = bench.json(bench.run(line.toArray(String[]::new)));

        String notes = report.path("notes").toString();
        assertEquals(!s3, notes.contains("s3: NOT RUN, needs --s3mock JAR"), notes);
        boolean redis = !notes.contains("redis: NOT RUN, apt-get install redis-server");
        boolean tool = redis && !notes.contains("redis-benchmark: NOT RUN, apt-get install redis-tools");
        List<String> expected = new ArrayList<>();
        if (s3) {
            expected.addAll(List.of("host to s3, 1", "s3 to host, 1"));
        }
        if (redis) {
            expected.addAll(tool ? List.of("host to redis, 2", "redis to host, 1") : List.of("host to redis, 0", "redis to host, 0"));
        }
        List<String> seen = new ArrayList<>();
        for (JsonNode tier : report.path("tiers")) {
            for (JsonNode direction : tier.path("title").asText().startsWith("store, ") ? tier.path("directions") : List.<JsonNode>of()) {
                seen.add(direction.path("name").asText() + ", " + direction.path("others").size());
                speedIsThere(direction.path("tierlog"));
                direction.path("others").forEach(other -> speedIsThere(other.path("speed")));
            }
        }
        assertEquals(expected, seen);
        assertEquals(before, BenchRun.leftovers());
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void withoutItsProgramS3IsReportedAsNotRunAndAnotherProgramIsRefused() throws IOException {
        assertEquals(0, bench.run("transfer", "--only", "s3", "--block-bytes", "1000", "--blocks", "1", "--rounds", "1"), bench::everything);
        assertTrue(bench.out().contains("s3: NOT RUN, needs --s3mock JAR"), bench.out());
        Path text = Files.writeString(directory.resolve("text"), "no jar");
        String refusal = refused(
                "--only", "s3", "--s3mock", text.toString(), "--block-bytes", "1000", "--blocks", "1", "--store", directory.toString());
        assertTrue(refusal.startsWith("--s3mock " + text + " is no program of Java: "), refusal);
    }

    @Test
    void aBlockWithoutLayersIsMeasuredAsOneSegmentAndTheTextSaysSo() {
        int exitCode = bench.run("transfer", "--only", "device", "--block-bytes", "1000", "--blocks", "3", "--rounds", "1");
        assertEquals(0, exitCode, bench::everything);

        String text = bench.out();
        assertTrue(text.contains("3 blocks of 1,000 bytes"), text);
        assertTrue(text.contains("device, a block is one segment, emulated device bench"), text);
        assertTrue(text.contains("layouts of 36 layers: not run, --block-bytes is not a multiple of 72"), text);
        assertTrue(text.contains("plain memory copy, and CRC32C of each block"), text);
        assertTrue(!text.contains("host to disk") && !text.contains("host to store"), text);
        assertTrue(bench.err().contains("round 1/1"), bench.err());
    }

    @Test
    void badInputIsRefusedBeforeFilesAreCreated() throws IOException {
        Set<Path> before = BenchRun.leftovers();
        assertEquals("--rounds 0 is not between 1 and 100", refused("--rounds", "0"));
        assertEquals("--block-bytes 511 is not between 512 and 67108864", refused("--block-bytes", "511"));
        assertEquals(
                "--block-bytes times --blocks 4398046511104 is not between 1 and 68719476736",
                refused("--block-bytes", "67108864", "--blocks", "65536"));
        assertEquals("--disk /nowhere is not a writable directory", refused("--disk", "/nowhere"));
        assertEquals(before, BenchRun.leftovers());
    }

    /** On a machine with a driver the GPU is measured; profile gpu requires one. */
    @Test
    void aGpuIsMeasuredOrReportedAsAbsent() throws IOException {
        int exitCode = bench.run("transfer", "--only", "device", "--device", "cuda", "--format", "json", "--block-bytes", BLOCK_BYTES,
                "--blocks", "4", "--rounds", "1");
        if (Boolean.getBoolean("tierlog.gpu") || exitCode == 0) {
            assertTrue(bench.json(exitCode).path("tiers").path(1).path("directions").toString().contains("one copy of pinned memory"), bench.out());
        } else {
            BenchException absent = bench.refusal();
            assertTrue(absent.getMessage().contains("CUDA"), absent.getMessage());
            assertEquals("leave --device out to measure the emulated device", absent.hint());
        }
    }

    @Test
    void theGpuIsMeasuredAtFullSizeWhereTheProfileRequiresIt() throws IOException {
        Assumptions.assumeTrue(Boolean.getBoolean("tierlog.gpu"), "NOT RUN: needs -Pgpu and a GPU");
        assertEquals(0, bench.run("transfer", "--only", "device", "--device", "cuda", "--blocks", "127"), bench::everything);
        System.out.println(bench.out());
    }

    private String refused(String... arguments) {
        List<String> line = new ArrayList<>(List.of("transfer"));
        line.addAll(List.of(arguments));
        bench.run(line.toArray(String[]::new));
        return String.valueOf(bench.refusal().getMessage());
    }

    private static void speedIsThere(JsonNode speed) {
        assertTrue(speed.path("highest").asDouble() >= speed.path("lowest").asDouble(-1), speed.toString());
        assertTrue(speed.path("p99_ms").asDouble() >= speed.path("p50_ms").asDouble(Double.MAX_VALUE), speed.toString());
    }
}
