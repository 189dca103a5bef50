/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentOptions;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ops/examples/engine.py} as its reader runs it: Debian's Python against a broker, a controller, and an agent on a Unix socket. */
@Timeout(120)
class EngineExampleTest {
    private static final Path PYTHON = Path.of("/usr/bin/python3");

    @TempDir
    Path directory;

    @Test
    void anEngineInPythonGetsBackEveryByteThatItSaved() throws Exception {
        String look = "import grpc, google.protobuf, shutil, sys; sys.exit(not shutil.which('protoc'))";
        boolean there = Files.isExecutable(PYTHON) && run(List.of(PYTHON.toString(), "-c", look)).code() == 0;
        assumeTrue(there, "NOT RUN: the example needs python3-grpcio, python3-protobuf and protobuf-compiler");
        Path socket = directory.resolve("engine");
        try (EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker")))) {
            KafkaAccess access = KafkaAccess.of(kafka.bootstrapServers());
            try (TopicAdmin admin = new TopicAdmin(access)) {
                admin.create(Topics.DEFAULT, 2, 1);
            }
            AgentConfig config =
                    AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store"))
                            .with(Map.of(AgentOptions.TCP, false, AgentOptions.ENGINE_SOCKET, socket));
            try (ControllerApp controller = ControllerApp.start(
                            ControllerConfig.of(access, directory.resolve("controller")).with().http("127.0.0.1", 0).build());
                    AgentApp agent = AgentApp.start(config)) {
                assertEquals(-1, agent.enginePort());
                Path example = Path.of("..", "examples", "engine.py").toAbsolutePath().normalize();
                Output output = run(List.of(PYTHON.toString(), example.toString(), "unix:" + socket, "60"));
                assertEquals(0, output.code(), output::toString);
                assertTrue(output.text().contains("saved 4 of 4 blocks"), output::text);
                assertTrue(output.text().contains("loaded 4 blocks into pages 8 to 11, 4 of them byte for byte"), output::text);
                assertTrue(controller.state().length() > 0);
            }
        }
    }

    private record Output(int code, String text) {}

    private Output run(List<String> command) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            boolean ended = process.waitFor(90, TimeUnit.SECONDS);
            String text = Files.readString(output);
            assertTrue(ended, () -> "it hangs: " + text);
            return new Output(process.exitValue(), text);
        } finally {
            process.destroyForcibly();
        }
    }
}
