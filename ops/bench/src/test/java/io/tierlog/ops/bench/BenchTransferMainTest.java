/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.process.ChildProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The benchmark as a program of its own. */
final class BenchTransferMainTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    /** Logback is on the class path of these tests; without a configuration it would print at DEBUG what the clients of stores send. */
    @Test
    void withoutAConfigurationOfTheLogOnlyWarningsArePrinted() throws InterruptedException {
        List<String> seen = new ArrayList<>();
        List<String> options = List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-Xmx128m",
                "-Dlogback.statusListenerClass=ch.qos.logback.core.status.OnConsoleStatusListener");
        List<String> arguments = List.of(
                "--only", "store", "--block-bytes", "1000", "--blocks", "1", "--rounds", "1", "--store", directory.toString());
        try (ChildProcess bench = ChildProcess.java("bench", options, BenchTransferMain.class, arguments)
                .withoutVariables("JAVA_TOOL_OPTIONS").lines(seen::add).start()) {
            assertEquals(0, bench.exitCode(), bench::tail);
        }
        String all = String.join("\n", seen);
        assertTrue(all.contains("Setting level of ROOT logger to WARN"), all);
        assertTrue(all.contains("host to store"), all);
    }
}
