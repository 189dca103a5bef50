/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The Python package of {@code node-agent/vllm}: its own tests, which start brokers, controllers and agents with this class path. */
@Tag("slow")
@Timeout(540)
class VllmConnectorTest {
    private static final Path PYTHON = Path.of("/usr/bin/python3");
    private static final Path PACKAGE = Path.of("..", "..", "node-agent", "vllm").toAbsolutePath().normalize();

    @TempDir
    Path directory;

    @Test
    void theConnectorKeepsEveryByteAgainstARealAgent() throws Exception {
        assumeTrue(has("grpc, google.protobuf, torch, pytest, numpy"),
                "NOT RUN: the connector needs python3-grpcio, python3-protobuf, python3-torch and python3-pytest");
        Output output = run("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--basetemp=" + directory.resolve("pytest"), "tests");
        assertEquals(0, output.code(), output::text);
        assertTrue(output.text().contains(" passed"), output::text);
    }

    @Test
    void theWheelHasAllThatThePackageNeeds() throws Exception {
        assumeTrue(has("grpc, google.protobuf, setuptools, wheel"),
                "NOT RUN: the wheel needs python3-grpcio, python3-protobuf, python3-setuptools and python3-wheel");
        Path wheels = directory.resolve("wheels");
        Output built = run(List.of(PACKAGE.resolve("build-wheel").toString(), wheels.toString()), PACKAGE);
        assertEquals(0, built.code(), built::text);
        Path wheel = wheels.resolve("tierlog_vllm-0.1.0-py3-none-any.whl");
        String look = "import sys, zipfile; zipfile.ZipFile('" + wheel + "').extractall('wheel'); sys.path.insert(0, 'wheel');"
                + "from tierlog.messages import messages; import tierlog_vllm; print(tierlog_vllm.TierlogConnector.__name__);"
                + "from tierlog import doctor; sys.exit(doctor.main(['--agent', 'unix:" + directory.resolve("none") + "']))";
        Output doctor = run(List.of(PYTHON.toString(), "-c", look), directory);
        assertEquals(1, doctor.code(), doctor::text);
        assertTrue(doctor.text().contains("TierlogConnector"), doctor::text);
        assertTrue(doctor.text().contains("--engine-socket"), doctor::text);
    }

    private boolean has(String modules) throws IOException, InterruptedException {
        return Files.isExecutable(PYTHON) && run(List.of(PYTHON.toString(), "-c", "import " + modules), directory).code() == 0;
    }

    private record Output(int code, String text) {}

    private Output run(String... words) throws IOException, InterruptedException {
        return run(Stream.concat(Stream.of(PYTHON.toString()), Stream.of(words)).toList(), PACKAGE);
    }

    private Output run(List<String> command, Path where) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command).directory(where.toFile()).redirectErrorStream(true).redirectOutput(output.toFile());
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        builder.environment().put("TIERLOG_COMMAND", java + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED"
                + " --sun-misc-unsafe-memory-access=allow io.tierlog.ops.cli.Main");
        builder.environment().put("CLASSPATH", Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).toAbsolutePath().toString()).collect(Collectors.joining(File.pathSeparator)));
        builder.environment().put("PYTHONPATH", where.equals(PACKAGE) ? "." : "");
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(500, TimeUnit.SECONDS);
            String text = Files.readString(output);
            assertTrue(ended, () -> "it hangs: " + text);
            return new Output(process.exitValue(), text);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
