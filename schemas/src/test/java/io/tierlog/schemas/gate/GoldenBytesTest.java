/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.sample.EveryType;
import io.tierlog.schemas.sample.SampleBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Golden bytes of the sample types, right and wrong ones. */
class GoldenBytesTest {
    @TempDir
    private Path directory;

    @Test
    void samplesAreTheSameOnEveryCallAndReadByGeneratedCode() {
        for (Samples.Kind kind : Samples.Kind.values()) {
            byte[] bytes = Samples.encoded(EveryType.SCHEMA, kind);
            assertArrayEquals(bytes, Samples.encoded(EveryType.SCHEMA, kind));
            assertArrayEquals(bytes, EveryType.TYPE.encode(EveryType.TYPE.decode(bytes)));
        }
        // The record is place 1, its index place 2: -2,000, zigzag 3,999 = 0xf9f, in groups of seven bits 9f 1f. A key has 16 bytes: 20.
        String hex = Bytes.wrapUnshared(Samples.encoded(SampleBlock.SCHEMA, Samples.Kind.FULL)).hex();
        assertTrue(hex.startsWith("9f1f20"), hex);
    }

    @Test
    void recordedBytesPassUntilTheyDiffer() throws IOException {
        GoldenBytes golden = new GoldenBytes(directory);
        for (WireType<?> type : List.of(EveryType.TYPE, SampleBlock.TYPE)) {
            assertTrue(golden.problems(type).getFirst().contains(SchemaHistory.COMMAND));
            assertTrue(golden.record(type));
            assertEquals(List.of(), golden.problems(type));
            assertFalse(golden.record(type), "bytes of the same schema are never written again");
        }
        Path file = directory.resolve("io.tierlog.schemas.sample.SampleBlock.hex");
        String right = Files.readString(file);
        Files.writeString(file, right.replace("bare 00", "bare 02"));
        assertEquals(1, golden.problems(SampleBlock.TYPE).size());
        assertFalse(golden.record(SampleBlock.TYPE));
        Files.writeString(file, right.substring(0, right.indexOf("bare")));
        assertEquals(1, golden.problems(SampleBlock.TYPE).size());
        Files.writeString(file, right.replace("schema ", "schema 0"));
        assertEquals(1, golden.problems(SampleBlock.TYPE).size());
        assertTrue(golden.record(SampleBlock.TYPE), "another schema");
        assertEquals(right, Files.readString(file));
    }
}
