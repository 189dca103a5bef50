/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Tier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs every curl line of {@code docs/directory.md}, as it is written there, against a running directory. */
class DirectoryDocumentTest {
    private static final Pattern EXAMPLE = Pattern.compile("(?sm)^(curl [^#]*?)\\s+# (\\d{3}): ([^\\n]+)$");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @Test
    void everyExampleReturnsTheDocumentedStatus() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/curl")) && Files.isExecutable(Path.of("/bin/bash")), "needs curl and bash");
        String document = Files.readString(Path.of(System.getProperty("tierlog.root"), "docs/directory.md"));
        String lines = document.substring(document.indexOf("\n```sh\n") + 7, document.indexOf("\n```\n") + 1);
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
                PlacementLog log = new PlacementLog(broker, 2);
                DirectoryApp app = DirectoryApp.start(DirectoryConfig.of(log.access, log.topics, directory.resolve("state")))) {
            log.begin();
            log.put("model/a rev/1", 0, "node/a", Tier.HOST, 1).put("model/a rev/1", 1, "node/a", Tier.HOST, 1).commit();
            assertTrue(app.awaitRunning(Duration.ofSeconds(60)));
            PlacementLog.await("the blocks", () -> app.streams().blocks() == 2);
            int examples = 0;
            for (MatchResult example : (Iterable<MatchResult>) EXAMPLE.matcher(lines).results()::iterator) {
                String answer = run(example.group(1), app.httpPort());
                assertEquals(example.group(2), answer.substring(answer.lastIndexOf('\n') + 1), () -> example.group(1) + "\n" + answer);
                String first = example.group(3).split("[ ,:]", -1)[0];
                boolean named = Set.of("FOUND", "blocks", "scores", "placements", "longest_matched").contains(first);
                assertTrue(!named || answer.contains("\"" + first + "\""), () -> example.group(1) + "\n" + answer);
                examples++;
            }
            assertEquals(lines.lines().filter(line -> line.startsWith("curl ")).count(), examples, "each example names its status");
            assertEquals(9, examples);
        }
    }

    private static String run(String command, int port) throws Exception {
        String script = "API=http://127.0.0.1:" + port + "\nJSON=\"Content-Type: application/json\"\n"
                + "curl() { command curl --max-time 60 --write-out '\\n%{http_code}' \"$@\"; }\n" + command + "\n";
        Process process = new ProcessBuilder("/bin/bash", "-c", script).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }
}
