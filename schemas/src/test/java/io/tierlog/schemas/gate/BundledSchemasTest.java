/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/**
 * Holds the schemas of this build against the rules, their history and their golden bytes.
 *
 * <p>With {@code -Dschemas.record=true} it first writes what is new; it never overwrites a version, nor golden bytes of the same schema.
 */
class BundledSchemasTest {
    private static final Path MODULE = Path.of(System.getProperty("basedir", "."));
    private static final boolean RECORD = Boolean.getBoolean("schemas.record");

    private final SchemaHistory history = new SchemaHistory(MODULE.resolve("history"));
    private final GoldenBytes golden = new GoldenBytes(MODULE.resolve("src/test/resources/golden"));

    @Test
    void everyTypeKeepsTheRules() {
        assertFalse(GeneratedTypes.ofFamilies().isEmpty(), "no record of a family was found");
        assertNone(GeneratedTypes.all().stream().flatMap(type -> SchemaRules.problems(type.schema()).stream()).distinct().toList());
    }

    @Test
    void everyTypeCanBeReadByOldAndNewCode() {
        List<Schema> current = GeneratedTypes.ofFamilies().stream().<Schema>map(WireType::schema).toList();
        if (RECORD) {
            history.record(current);
        }
        assertNone(history.problems(current));
    }

    @Test
    void everyEarlierVersionIsReadByTheGeneratedCode() {
        for (WireType<?> type : GeneratedTypes.ofFamilies()) {
            for (Schema version : history.versions(type.fullName())) {
                for (Samples.Kind kind : Samples.Kind.values()) {
                    WireRecord read = type.decode(Samples.encoded(version, kind), version);
                    assertEquals(type.javaType(), read.getClass());
                }
            }
        }
    }

    @Test
    void everyTypeHasTheBytesItHad() {
        List<WireType<?>> types = GeneratedTypes.ofFamilies();
        if (RECORD) {
            types.forEach(golden::record);
        }
        assertNone(types.stream().flatMap(type -> golden.problems(type).stream()).toList());
    }

    @Test
    void everyTypeWritesWhatAvroWrites() {
        for (WireType<?> type : GeneratedTypes.all()) {
            for (Samples.Kind kind : Samples.Kind.values()) {
                assertSameBytes(type, Samples.encoded(type.schema(), kind));
            }
        }
    }

    private static <T extends WireRecord> void assertSameBytes(WireType<T> type, byte[] bytes) {
        assertArrayEquals(bytes, type.encode(type.decode(bytes)), type.fullName());
    }

    private static void assertNone(List<String> problems) {
        assertEquals("", problems.stream().map(problem -> problem + "\n").collect(Collectors.joining()));
    }
}
