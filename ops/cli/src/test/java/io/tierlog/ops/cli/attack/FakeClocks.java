/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;

/** The wall clocks of processes, each set apart while its process runs, by libfaketime (Debian: {@code apt install faketime}). */
final class FakeClocks {
    private static final Path LIBRARY = Path.of(
            "/usr/lib", System.getProperty("os.arch").equals("aarch64") ? "aarch64-linux-gnu" : "x86_64-linux-gnu", "faketime/libfaketimeMT.so.1");

    private final Path directory;

    FakeClocks(Path directory) {
        this.directory = directory;
    }

    /** Whether this machine has the library; without it all clocks are the machine's. */
    static boolean exist() {
        return Files.exists(LIBRARY);
    }

    /** What a process of that name is started with. */
    Map<String, String> variables(String process) {
        if (!exist()) {
            return Map.of();
        }
        Path file = file(process);
        if (!Files.exists(file)) {
            set(process, Duration.ZERO);
        }
        // The file is read once a second. Monotonic time goes on as it does when a clock is set. Without the last setting every timed wait of a JVM
        // ends at once, and its threads spin.
        return Map.of("LD_PRELOAD", LIBRARY.toString(), "FAKETIME_TIMESTAMP_FILE", file.toString(), "FAKETIME_CACHE_DURATION", "1",
                "FAKETIME_DONT_FAKE_MONOTONIC", "1", "FAKETIME_FORCE_MONOTONIC_FIX", "0");
    }

    /** How far a clock is ahead of this machine's, or behind it, from within a second on. */
    void set(String process, Duration ahead) {
        try {
            Path next = Files.writeString(directory.resolve("next-clock"), "%+d\n".formatted(ahead.toSeconds()));
            Files.move(next, file(process), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new IllegalStateException("the clock of " + process + " cannot be set", e);
        }
    }

    private Path file(String process) {
        return directory.resolve("clock-of-" + process);
    }
}
