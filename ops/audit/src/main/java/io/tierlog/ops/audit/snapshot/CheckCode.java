/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.controller.core.Core;
import io.tierlog.events.Codec;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.schemas.Sha256;
import io.tierlog.schemas.WireRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.stream.Stream;

/**
 * The code of an audit: its own classes, the core with fold and invariants, the codec and the records. Equal sources compile to equal classes, so two
 * builds of one commit are the same. Static and without state.
 */
final class CheckCode {
    private static final List<Class<?>> OF = List.of(Verifier.class, Core.class, Codec.class, WireRecord.class);

    private CheckCode() {}

    /** A checksum over all of its classes, in hexadecimal digits. */
    static String checksum() {
        MessageDigest digest = Sha256.digest();
        try {
            for (Class<?> one : OF) {
                Path place = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
                if (Files.isDirectory(place)) {
                    add(place, digest);
                } else {
                    try (FileSystem jar = FileSystems.newFileSystem(place)) {
                        add(jar.getPath("/"), digest);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException("the classes of an audit are in no file", e);
        }
        return Sha256.hex(digest);
    }

    private static void add(Path root, MessageDigest digest) throws IOException {
        List<Path> classes;
        try (Stream<Path> all = Files.walk(root)) {
            classes = all.filter(file -> file.toString().endsWith(".class")).sorted().toList();
        }
        for (Path file : classes) {
            digest.update(Files.readAllBytes(file));
        }
    }
}
