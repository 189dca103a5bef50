/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceFileTest {
    private static final String GOOD = "{\"timestamp\": 0, \"input_length\": 1030, \"output_length\": 5, \"hash_ids\": [1, 2, 3]}\n";

    @TempDir
    private Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("trace.jsonl"), text);
    }

    private static String line(long timestamp, int input, String ids) {
        return "{\"timestamp\": " + timestamp + ", \"input_length\": " + input + ", \"output_length\": 600, \"hash_ids\": [" + ids + "]}\n";
    }

    @Test
    void requestsHaveTheBlocksOfTheTrace() throws Exception {
        Workload workload = TraceFile.read(file(GOOD + line(10, 1024, "1, 2")), OptionalInt.empty());
        assertEquals(2, workload.size());
        Request first = workload.request(0);
        assertEquals(List.of(BlockKey.of(1), BlockKey.of(2), BlockKey.of(3)), first.promptKeys());
        assertEquals(2, first.wholeKeys().size());
        assertEquals(2, first.reusable());
        Request second = workload.request(1);
        assertEquals(2, second.wholeKeys().size());
        // The last of 1,024 tokens is computed, so the second block cannot be reused.
        assertEquals(1, second.reusable());
        // 1,024 + 600 tokens
        assertEquals(4, second.shape().pages());
        assertEquals(List.of(), second.generatedKeys());
    }

    @Test
    void onlyTheFirstRequestsAreRead() throws Exception {
        assertEquals(1, TraceFile.read(file(GOOD + "nonsense\n"), OptionalInt.of(1)).size());
    }

    @Test
    void requestsOfOneTickAreSpreadUpToTheNext() throws Exception {
        String text = line(0, 1, "1") + line(0, 1, "1") + line(0, 1, "1") + line(600, 1, "1") + line(600, 1, "1");
        Workload workload = TraceFile.read(file(text), OptionalInt.empty());
        List<Long> arrivals = List.of(0, 1, 2, 3, 4).stream().map(i -> workload.request(i).arrivalMs()).toList();
        assertEquals(List.of(0L, 200L, 400L, 600L, 2_100L), arrivals);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            {"timestamp": 0,                                                                     ; expected one JSON object
            [1]                                                                                  ; expected a JSON object, found ARRAY
            {"timestamp": 0} {}                                                                  ; expected one JSON object
            {"input_length": 5, "output_length": 5, "hash_ids": [1]}                             ; expected the field timestamp
            {"timestamp": -1, "input_length": 5, "output_length": 5, "hash_ids": [1]}            ; expected timestamp to be a whole number from 0
            {"timestamp": 0, "input_length": 0, "output_length": 5, "hash_ids": []}              ; expected input_length to be a whole number from 1
            {"timestamp": 0, "input_length": 5.5, "output_length": 5, "hash_ids": [1]}           ; expected input_length
            {"timestamp": 0, "input_length": 5, "output_length": 99999999999999999999, "hash_ids": [1]} ; expected output_length
            {"timestamp": 0, "input_length": 5, "output_length": "5", "hash_ids": [1]}           ; expected output_length
            {"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": 1}               ; expected the field hash_ids with an array
            {"timestamp": 0, "input_length": 513, "output_length": 5, "hash_ids": [1]}           ; expected 2 hash_ids for 513 tokens
            {"timestamp": 0, "input_length": 512, "output_length": 5, "hash_ids": [1, 2]}        ; expected 1 hash_ids for 512 tokens
            {"timestamp": 0, "input_length": 512, "output_length": 5, "hash_ids": [-1]}          ; expected hash_ids[0] to be a whole number from 0
            {"timestamp": 0, "input_length": 513, "output_length": 5, "hash_ids": [2, 1]}        ; expected hash id 2 at index 1 after 1 as in line 1
            {"timestamp": 0, "input_length": 1024, "output_length": 5, "hash_ids": [1, 3]}       ; expected hash id 3 at index 2 after 2
            {"timestamp": 0, "timestamp": 1, "input_length": 5, "output_length": 5, "hash_ids": [1]} ; Duplicate field
            """)
    void anUnreadableLineIsNamedWithWhatWasExpected(String text, String expected) throws Exception {
        TraceError error = assertThrows(TraceError.class, () -> TraceFile.read(file(GOOD + text + "\n" + GOOD), OptionalInt.empty()));
        assertEquals(2, error.line());
        assertTrue(error.toString().contains(expected), error::toString);
        assertTrue(error.toString().contains("trace.jsonl, line 2: "), error::toString);
    }

    @Test
    void timeDoesNotRunBackwards() throws Exception {
        Path file = file(line(50, 1, "1") + line(49, 1, "1"));
        TraceError error = assertThrows(TraceError.class, () -> TraceFile.read(file, OptionalInt.empty()));
        assertEquals(2, error.line());
        assertTrue(error.toString().contains("at least 50"), error::toString);
    }

    @Test
    void emptyLinesAreForTheEndOnly() throws Exception {
        assertEquals(1, TraceFile.read(file(GOOD + "\n"), OptionalInt.empty()).size());
        Path file = file(GOOD + "\n" + GOOD);
        assertEquals(3, assertThrows(TraceError.class, () -> TraceFile.read(file, OptionalInt.empty())).line());
    }

    @Test
    void filesThatAreNoTracesAreNamed() throws Exception {
        assertTrue(error(directory.resolve("absent")).contains("no such file"));
        assertTrue(error(file("")).contains("at least one request"));
        Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xC3, (byte) 0x28, '\n'});
        assertTrue(error(binary).contains("line 1: expected UTF-8 text"));
        Path wide = Files.write(directory.resolve("wide"), " ".repeat(2 << 20).getBytes(StandardCharsets.UTF_8));
        assertTrue(error(wide).contains("line 1: expected at most 1048576 characters"));
    }

    private static String error(Path file) {
        return assertThrows(TraceError.class, () -> TraceFile.read(file, OptionalInt.empty())).toString();
    }

    /**
     * Four requests over blocks of 512 tokens, counted by hand:
     *
     * <pre>
     *   1 2 3p   none seen            0
     *   1 2 3p   all seen, 3p too     3, of which 3p holds the last token: 2 reusable
     *   1 4      1 seen               1
     *   4..      is no beginning: 5   0
     * </pre>
     */
    @Test
    void theProfileCountsWhatAnInfiniteCacheWouldHit() throws Exception {
        String text = GOOD + GOOD + line(7, 600, "1, 4") + line(9, 512, "5");
        WorkloadProfile profile = WorkloadProfile.of(TraceFile.read(file(text), OptionalInt.empty()));
        assertEquals(4, profile.requests());
        assertEquals(9, profile.blockAccesses());
        assertEquals(5, profile.uniqueBlocks());
        assertEquals(4, profile.idealHits());
        assertEquals(3, profile.reusableHits());
        assertEquals(3, profile.maxPromptBlocks());
        assertEquals(1_030 + 1_030 + 600 + 512, profile.inputTokens());
        assertEquals(5 + 5 + 600 + 600, profile.outputTokens());
    }
}
