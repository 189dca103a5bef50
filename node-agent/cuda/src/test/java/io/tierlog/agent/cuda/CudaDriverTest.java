/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.tierlog.agent.core.port.DeviceFault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.io.TempDir;

/** The messages of loading the driver on machines that lack something. Each in a JVM of its own, for a process loads it once. */
@DisabledIf(value = "io.tierlog.agent.cuda.Gpu#real", disabledReason = "a machine with a GPU lacks nothing")
class CudaDriverTest {
    @TempDir
    Path directory;

    /** Loads the driver and prints the result in a line. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] arguments) {
            try {
                CudaDriver driver = CudaDriver.load();
                System.out.println("devices " + driver.devices() + " version " + driver.version());
            } catch (DeviceFault e) {
                System.out.println(e.getMessage());
            }
        }
    }

    @Test
    void aMachineWithoutADriverIsReportedInOneLine() throws Exception {
        List<String> said = probe("", "");
        assumeFalse(said.getFirst().startsWith("devices"), "this machine has a CUDA driver");
        assertEquals(List.of("NOT_INITIALIZED: no CUDA driver on this machine: libcuda.so.1 cannot be loaded. Install the NVIDIA driver, give the"
                + " container the GPU (nvidia-container-toolkit), or name the library's directory in LD_LIBRARY_PATH"), said);
    }

    @Test
    void aDriverOnTheLibraryPathIsFound() throws Exception {
        assertEquals(List.of("devices 1 version 12060"), probe(fakeDirectory(), ""));
        try (var left = Files.list(directory)) {
            assertEquals(List.of(), left.toList(), "JCuda's natives are gone from the temporary directory");
        }
    }

    @Test
    void aDriverThatDoesNotStartIsReportedWithItsCode() throws Exception {
        List<String> said = probe(fakeDirectory(), "cuInit:1:100");
        assertEquals(1, said.size());
        assertTrue(said.getFirst().startsWith("NOT_INITIALIZED (code 100): cuInit answered CUDA_ERROR_NO_DEVICE: starting the driver. Look whether"),
                said::toString);
    }

    /** Another user may have left a library under JCuda's name in the temporary directory; it is not loaded. */
    @Test
    void aLibraryThatLiesInTheTemporaryDirectoryIsNotLoaded() throws Exception {
        Path planted = directory.resolve("libJCudaDriver-12.6.0-linux-x86_64.so");
        Files.writeString(planted, "not a library");
        assertEquals(List.of("devices 1 version 12060"), probe(fakeDirectory(), ""));
        assertEquals("not a library", Files.readString(planted));
    }

    private static String fakeDirectory() {
        return String.valueOf(FakeDriver.load().library().getParent());
    }

    private List<String> probe(String libraryPath, String failure) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "--enable-native-access=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + directory, "-cp", System.getProperty("java.class.path"), Probe.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("LD_LIBRARY_PATH");
        if (!libraryPath.isEmpty()) {
            builder.environment().put("LD_LIBRARY_PATH", libraryPath);
        }
        if (!failure.isEmpty()) {
            builder.environment().put("FAKE_CUDA_FAIL", failure);
        }
        Process process = builder.start();
        List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        assertEquals(0, process.waitFor(), said::toString);
        return said;
    }
}
