/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Programs of the machine of the Docker daemon, for faults that Docker does not offer. They need root. Static and without state. */
final class Machine {
    private static final List<String> PLACES = List.of("/usr/bin", "/usr/sbin", "/bin", "/sbin");

    private static final long MOST_SECONDS = 30;

    private Machine() {}

    /** Whether all of {@code programs} are installed. */
    static boolean has(String... programs) {
        return Stream.of(programs).allMatch(program -> PLACES.stream().anyMatch(place -> Files.isExecutable(Path.of(place, program))));
    }

    /** Whether {@code command} can be run here, and succeeds. */
    static boolean runs(List<String> command) {
        try {
            run(command);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /**
     * Runs {@code command} to its end, 30 s at most.
     *
     * @throws IllegalStateException when it cannot be run or fails
     */
    static void run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(String.join(" ", command) + " hangs");
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException(String.join(" ", command) + " ended with " + process.exitValue());
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(String.join(" ", command), e);
        }
    }
}
