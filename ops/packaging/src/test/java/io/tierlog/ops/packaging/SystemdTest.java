/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The unit of an agent without Kubernetes. */
class SystemdTest {
    private static final Path DIRECTORY = Deploy.DIRECTORY.resolve("systemd");

    @Test
    void theProgramAcceptsTheCommandAndTheSettings() throws Exception {
        String start = Files.readAllLines(DIRECTORY.resolve("tierlog-agent.service")).stream()
                .filter(line -> line.startsWith("ExecStart=")).findFirst().orElseThrow();
        List<String> words = List.of(start.substring("ExecStart=".length()).split(" ", -1));

        assertEquals("/opt/tierlog/bin/tierlog", words.getFirst());
        List<String> arguments = new ArrayList<>(words.subList(1, words.size()));
        Files.readAllLines(DIRECTORY.resolve("agent.properties")).stream()
                .filter(line -> line.contains("=")).forEach(line -> arguments.add("--" + line));
        assertTrue(Deploy.parsed(arguments).hasMatchedOption("--store"));
        assertEquals(Set.of(), Deploy.unknownSettings(DIRECTORY.resolve("agent.properties"), "agent"));
    }
}
