/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Programs of the machine of the Docker daemon, for faults that Docker does not offer. They need root. Static and without state. */
final class Machine {
    private static final List<String> PLACES = List.of("/usr/bin", "/usr/sbin", "/bin", "/sbin");

    private Machine() {}

    /** Whether all of {@code programs} are installed. */
    static boolean has(String... programs) {
        return Stream.of(programs).allMatch(program -> PLACES.stream().anyMatch(place -> Files.isExecutable(Path.of(place, program))));
    }

    /**
     * Runs {@code command} to its end.
     *
     * @throws IllegalStateException when it cannot be run or fails
     */
    static void run(List<String> command) {
        try {
            int code = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (code != 0) {
                throw new IllegalStateException(String.join(" ", command) + " ended with " + code);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(String.join(" ", command), e);
        }
    }
}
