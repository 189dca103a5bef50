/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.avro.SchemaNormalization;

/**
 * The bytes of one sample per type, {@code <full name>.hex}, committed: they may change only when the schema does.
 *
 * <p>A file names the fingerprint of the schema it was made with. With another schema it is written again on request; with the same schema
 * never, since then the encoding has changed and old records could no longer be read.
 */
final class GoldenBytes {
    private final Path directory;

    GoldenBytes(Path directory) {
        this.directory = directory;
    }

    /** What is wrong with {@code type}, measured by its file; empty when nothing is. */
    <T extends WireRecord> List<String> problems(WireType<T> type) {
        List<String> problems = new ArrayList<>();
        List<String> golden = lines(type);
        if (golden.isEmpty() || !golden.getFirst().equals(fingerprint(type))) {
            problems.add(type.fullName() + " has no golden bytes for its schema. Run: " + SchemaHistory.COMMAND);
            return problems;
        }
        for (Samples.Kind kind : Samples.Kind.values()) {
            String label = label(kind);
            T sample = type.decode(Samples.encoded(type.schema(), kind));
            List<Bytes> bytes = golden.stream().filter(line -> line.startsWith(label))
                    .map(line -> Bytes.ofHex(line.substring(label.length()))).toList();
            if (!bytes.equals(List.of(Bytes.wrapUnshared(type.encode(sample))))) {
                problems.add(type.fullName() + ": the sample '" + label + "' is encoded in other bytes than before");
            } else if (!type.decode(bytes.getFirst().unshared()).equals(sample)) {
                problems.add(type.fullName() + ": the sample '" + label + "' is decoded from its golden bytes as something else");
            }
        }
        return problems;
    }

    /** Writes the file of {@code type} if it is missing or was made with another schema; true when it did. */
    boolean record(WireType<?> type) {
        List<String> lines = new ArrayList<>(List.of(fingerprint(type)));
        if (!lines(type).isEmpty() && lines(type).getFirst().equals(lines.getFirst())) {
            return false;
        }
        for (Samples.Kind kind : Samples.Kind.values()) {
            lines.add(label(kind) + Bytes.wrapUnshared(Samples.encoded(type.schema(), kind)).hex());
        }
        try {
            Files.createDirectories(directory);
            Files.writeString(file(type), String.join("\n", lines) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file(type), e);
        }
        return true;
    }

    private Path file(WireType<?> type) {
        return directory.resolve(type.fullName() + ".hex");
    }

    private List<String> lines(WireType<?> type) {
        try {
            return Files.exists(file(type)) ? Files.readAllLines(file(type)) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file(type), e);
        }
    }

    private static String label(Samples.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT) + " ";
    }

    private static String fingerprint(WireType<?> type) {
        return "schema " + Long.toHexString(SchemaNormalization.parsingFingerprint64(type.schema()));
    }
}
