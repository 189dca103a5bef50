/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code tierlog broker} as a user runs it: a process of its own, ended by a signal. */
@Timeout(60)
class BrokerCommandTest {
    private static final int ENDED_BY_SIGTERM = 143;

    @TempDir
    Path directory;

    @Test
    void itSaysWhenItIsReadyRefusesASecondOnItsPortAndEndsCleanlyOnASignal() throws Exception {
        Process broker = tierlog("broker", "--port", "0", "--data", directory.resolve("a").toString(), "--format", "json");
        try (BufferedReader lines = broker.inputReader()) {
            JsonNode ready = new ObjectMapper().readTree(assertNotNullLine(lines));
            assertEquals("ready", ready.get("event").asText());
            assertEquals(broker.pid(), ready.get("pid").asLong());
            String port = ready.get("bootstrapServers").asText().replaceFirst("127\\.0\\.0\\.1:", "");

            Process second = tierlog("broker", "--port", port, "--data", directory.resolve("b").toString());
            String said = new String(second.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(2, second.waitFor());
            assertTrue(said.startsWith("error: port " + port + " on 127.0.0.1 is already in use"), said);
            assertTrue(said.contains("hint: "), said);
            assertTrue(broker.isAlive());
        } finally {
            // The handle only signals; Process.destroy would close the streams too.
            broker.toHandle().destroy();
        }

        assertTrue(broker.waitFor(20, TimeUnit.SECONDS));
        assertEquals(ENDED_BY_SIGTERM, broker.exitValue());
        // Kafka writes this file last, when all of its log is on disk.
        assertTrue(Files.exists(directory.resolve("a/log/.kafka_cleanshutdown")));
        assertEquals("", new String(broker.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    private static String assertNotNullLine(BufferedReader lines) throws IOException {
        String line = lines.readLine();
        assertNotNull(line, "the broker ended before it was ready");
        return line;
    }

    private Process tierlog(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Duser.home=" + directory,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).start();
    }
}
