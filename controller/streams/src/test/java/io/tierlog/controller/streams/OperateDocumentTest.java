/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs every curl line of {@code docs/migrate.md} and {@code docs/operate.md}, as it is written there, against a running controller. */
@Tag("slow")
class OperateDocumentTest {
    private static final List<String> DOCUMENTS = List.of("docs/migrate.md", "docs/operate.md");
    private static final Pattern SHELL_BLOCK = Pattern.compile("(?s)\\n```sh\\n(.*?)\\n```\\n");
    private static final Pattern EXAMPLE = Pattern.compile("(?sm)^(curl [^#]*?)\\s+# (\\d{3}): [^\\n]+$");
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private record Example(String command, int status) {}

    @Test
    void everyExampleReturnsTheDocumentedStatus() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/curl")) && Files.isExecutable(Path.of("/bin/bash")), "needs curl and bash");
        List<Example> examples = examples();
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
                TestLog log = new TestLog(broker, 2);
                ControllerApp app = ControllerApp.start(log.controller(directory.resolve("state")).tickMs(200).api(ApiConfig.loopback(0)).build());
                ObedientNode node = new ObedientNode(log, CommittedAnswersTest.withBlocks(log, "a", 3))) {
            TestLog.await("the blocks", () -> CommittedAnswersTest.get(app, "/v1/nodes/a").path("namespaces").size() == 1);
            for (Example example : examples) {
                String answer = run(example.command(), app.apiPort());
                int end = answer.lastIndexOf('\n');
                assertEquals(String.valueOf(example.status()), answer.substring(end + 1), () -> example.command() + "\n" + answer);
                JsonNode body = JSON.readTree(answer.substring(0, end));
                assertTrue(body.has("as_of_ms") || body.has("openapi") || body.has("type"), () -> example.command() + "\n" + answer);
            }
            assertFalse(node.failed(), "the node runs every command");
        }
    }

    @Test
    void everyRouteIsDocumented() throws Exception {
        TreeSet<String> shown = new TreeSet<>();
        for (Example example : examples()) {
            Matcher matcher = Pattern.compile("(?:-X (\\w+) )?\"?\\$API(/[^\\s\"?]*)").matcher(example.command());
            assertTrue(matcher.find(), example.command());
            String method = matcher.group(1) == null ? "GET" : matcher.group(1);
            shown.add(method + " " + matcher.group(2).replaceAll("^/v1/(migrations|nodes)/[^/]+", "/v1/$1/{id}"));
        }
        TreeSet<String> documented = new TreeSet<>();
        try (var in = ApiConfig.class.getResourceAsStream("openapi.json")) {
            JSON.readTree(in).path("paths").properties().forEach(path -> path.getValue().fieldNames()
                    .forEachRemaining(method -> documented.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
        }
        assertEquals(documented, shown);
    }

    /** The examples in their order. */
    private static List<Example> examples() throws Exception {
        List<Example> examples = new ArrayList<>();
        for (String document : DOCUMENTS) {
            String text = Files.readString(Path.of(System.getProperty("tierlog.root"), document));
            Matcher block = SHELL_BLOCK.matcher(text);
            while (block.find()) {
                int before = examples.size();
                Matcher example = EXAMPLE.matcher(block.group(1));
                while (example.find()) {
                    examples.add(new Example(example.group(1), Integer.parseInt(example.group(2))));
                }
                long lines = block.group(1).lines().filter(line -> line.startsWith("curl ")).count();
                assertEquals(lines, examples.size() - before, () -> "each example of " + document + " names its status");
            }
        }
        return examples;
    }

    /** What the command prints, and the status on a line of its own. */
    private static String run(String command, int port) throws Exception {
        String script = "API=http://127.0.0.1:" + port + "\nJSON=\"Content-Type: application/json\"\n"
                + "curl() { command curl --max-time 60 --write-out '\\n%{http_code}' \"$@\"; }\n" + command + "\n";
        Process process = new ProcessBuilder("/bin/bash", "-c", script).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), command);
        return output;
    }
}
