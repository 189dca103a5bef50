/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;

/** Finds every generated record in the compiled classes, so that no list has to be kept. */
final class GeneratedTypes {
    private GeneratedTypes() {}

    /** All generated records of the module, without those of the tests, by full name. */
    static List<WireType<?>> all() {
        try {
            return in(Path.of(WireRecord.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
        } catch (URISyntaxException | IOException | ClassNotFoundException e) {
            throw new IllegalStateException("The compiled classes cannot be read", e);
        }
    }

    /** Those that belong to a family: each is a subject of its own in the registry. */
    static List<WireType<?>> ofFamilies() {
        return all().stream().filter(type -> family(type.schema()) != null).toList();
    }

    /** Name of the family interface of a record, null without one. */
    static @org.jspecify.annotations.Nullable String family(Schema schema) {
        return schema.getProp("family");
    }

    private static List<WireType<?>> in(Path classes) throws IOException, ClassNotFoundException {
        List<WireType<?>> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                String path = classes.relativize(file).toString();
                String name = path.substring(0, path.length() - ".class".length()).replace(file.getFileSystem().getSeparator(), ".");
                if (name.endsWith("package-info") || name.endsWith("module-info")) {
                    continue;
                }
                Class<?> type = Class.forName(name, false, WireRecord.class.getClassLoader());
                if (type.isRecord() && WireRecord.class.isAssignableFrom(type)) {
                    found.add(WireType.of(type.asSubclass(WireRecord.class)));
                }
            }
        }
        found.sort(Comparator.comparing(WireType::fullName));
        return found;
    }
}
