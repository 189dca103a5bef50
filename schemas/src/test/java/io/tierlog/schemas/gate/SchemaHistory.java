/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;
import org.apache.avro.SchemaFormatter;

/**
 * The committed versions of every type, {@code <full name>/<1, 2, ...>.avsc}, and the digests of these files in {@code SHA256SUMS}.
 *
 * <p>The log is kept for ever, so today's code must read every version, and yesterday's code must read today's: each schema is held against
 * all its versions in both directions. Docs are free to change and make no version. Confined to one thread.
 */
final class SchemaHistory {
    /** What a developer runs after a change that is meant. */
    static final String COMMAND = "mvn -pl schemas test -Dschemas.record=true";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SUMS = "SHA256SUMS";
    private static final String SUFFIX = ".avsc";

    private final Path directory;

    SchemaHistory(Path directory) {
        this.directory = directory;
    }

    /** Everything that is wrong with the history, and with {@code current} measured by it; empty when nothing is. */
    List<String> problems(Collection<Schema> current) {
        List<String> faults = faults(current);
        if (!faults.isEmpty()) {
            return faults;
        }
        return current.stream().filter(schema -> !isRecorded(schema))
                .map(schema -> schema.getFullName() + " is new or has changed. If that is meant, run: " + COMMAND).toList();
    }

    /**
     * Writes the next version of each type that is new or has changed.
     *
     * @return the files written
     * @throws IllegalStateException when the history is damaged or a change cannot be read by old or new code; nothing is written then
     */
    List<Path> record(Collection<Schema> current) {
        List<String> faults = faults(current);
        if (!faults.isEmpty()) {
            throw new IllegalStateException("Nothing recorded:\n" + String.join("\n", faults));
        }
        List<Path> written = new ArrayList<>();
        for (Schema schema : current) {
            if (!isRecorded(schema)) {
                Path file = directory.resolve(schema.getFullName()).resolve(versions(schema.getFullName()).size() + 1 + SUFFIX);
                write(file, SchemaFormatter.format("json/pretty", schema) + "\n");
                written.add(file);
            }
        }
        if (!written.isEmpty()) {
            StringBuilder sums = new StringBuilder();
            files().forEach((name, file) -> sums.append(digest(file)).append("  ").append(name).append('\n'));
            write(directory.resolve(SUMS), sums.toString());
        }
        return written;
    }

    /** The committed versions of a type, the oldest first; empty when there is none. */
    List<Schema> versions(String fullName) {
        List<Schema> versions = new ArrayList<>();
        for (int number = 1; Files.exists(directory.resolve(fullName).resolve(number + SUFFIX)); number++) {
            versions.add(new Schema.Parser().parse(read(directory.resolve(fullName).resolve(number + SUFFIX))));
        }
        return versions;
    }

    private boolean isRecorded(Schema schema) {
        List<Schema> versions = versions(schema.getFullName());
        return !versions.isEmpty() && withoutDocs(versions.getLast()).equals(withoutDocs(schema));
    }

    /** What cannot be mended by recording. */
    private List<String> faults(Collection<Schema> current) {
        List<String> faults = damage();
        if (!faults.isEmpty()) {
            return faults;
        }
        Map<String, Schema> byName = new TreeMap<>();
        current.forEach(schema -> byName.put(schema.getFullName(), schema));
        for (String name : files().keySet().stream().map(file -> file.substring(0, file.indexOf('/'))).distinct().toList()) {
            Schema schema = byName.get(name);
            if (schema == null) {
                faults.add(name + " has a history but is gone or renamed: the log still holds such records");
                continue;
            }
            List<Schema> versions = versions(name);
            for (int i = 0; i < versions.size(); i++) {
                String version = name + " version " + (i + 1);
                faults.addAll(unreadable(schema, versions.get(i), "today's code cannot read " + version));
                faults.addAll(unreadable(versions.get(i), schema, "the code of " + version + " cannot read today's"));
                faults.addAll(lostSymbols(schema, versions.get(i), version));
            }
        }
        return faults;
    }

    private static List<String> unreadable(Schema reader, Schema writer, String what) {
        SchemaCompatibility.SchemaPairCompatibility pair = SchemaCompatibility.checkReaderWriterCompatibility(reader, writer);
        if (pair.getType() == SchemaCompatibilityType.COMPATIBLE) {
            return List.of();
        }
        return pair.getResult().getIncompatibilities().stream()
                .map(fault -> what + ": " + fault.getType() + " at " + fault.getLocation() + ", " + fault.getMessage())
                .toList();
    }

    /** Avro reads a lost symbol as UNKNOWN; a fold over the log would then come to another state than it did. */
    private static List<String> lostSymbols(Schema current, Schema version, String where) {
        Map<String, Schema> types = SchemaRules.namedTypes(current);
        List<String> lost = new ArrayList<>();
        for (Schema old : SchemaRules.namedTypes(version).values()) {
            Schema now = types.get(old.getFullName());
            if (old.getType() == Schema.Type.ENUM && now != null && now.getType() == Schema.Type.ENUM) {
                old.getEnumSymbols().stream().filter(symbol -> !now.hasEnumSymbol(symbol))
                        .forEach(symbol -> lost.add(where + " has the symbol " + old.getFullName() + "." + symbol + ", today's has not"));
            }
        }
        return lost;
    }

    /** What was done to the files by hand. */
    private List<String> damage() {
        List<String> damage = new ArrayList<>();
        SortedMap<String, Path> files = files();
        Map<String, String> sums = new TreeMap<>();
        if (Files.exists(directory.resolve(SUMS))) {
            read(directory.resolve(SUMS)).lines().forEach(line -> sums.put(line.substring(line.indexOf("  ") + 2), line));
        }
        files.forEach((name, file) -> {
            String line = sums.remove(name);
            if (line == null) {
                damage.add(name + " was not written by " + COMMAND + ": it is not in " + SUMS);
            } else if (!line.startsWith(digest(file) + " ")) {
                damage.add(name + " was altered: restore it, a version that was committed never changes");
            }
        });
        sums.keySet().forEach(name -> damage.add(name + " is gone: restore it, the log may hold records of that version"));
        return damage;
    }

    /** All version files by their name under the directory. */
    private SortedMap<String, Path> files() {
        SortedMap<String, Path> files = new TreeMap<>();
        if (Files.isDirectory(directory)) {
            try (Stream<Path> all = Files.walk(directory)) {
                all.filter(file -> Files.isRegularFile(file) && !file.equals(directory.resolve(SUMS)))
                        .forEach(file -> files.put(directory.relativize(file).toString().replace('\\', '/'), file));
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot list " + directory, e);
            }
        }
        return files;
    }

    private static JsonNode withoutDocs(Schema schema) {
        try {
            return stripDocs(JSON.readTree(schema.toString()));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Avro wrote " + schema.getFullName() + " as no JSON", e);
        }
    }

    private static JsonNode stripDocs(JsonNode node) {
        if (node instanceof ObjectNode object && object.has("type")) {
            object.remove("doc");
        }
        node.properties().forEach(entry -> {
            if (!entry.getKey().equals("default")) {
                stripDocs(entry.getValue());
            }
        });
        if (node.isArray()) {
            node.forEach(SchemaHistory::stripDocs);
        }
        return node;
    }

    private static String digest(Path file) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file, e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file, e);
        }
    }

    private static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file, e);
        }
    }
}
