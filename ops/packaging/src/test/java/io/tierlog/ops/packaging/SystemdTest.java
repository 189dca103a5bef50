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
import picocli.CommandLine.ParseResult;

/** The units of an agent without Kubernetes, and of a signer. */
class SystemdTest {
    private static final Path DIRECTORY = Deploy.DIRECTORY.resolve("systemd");

    @Test
    void theProgramAcceptsTheAgentsCommandAndSettings() throws Exception {
        ParseResult agent = parsed("tierlog-agent.service", "agent.properties");
        assertTrue(List.of("--store", "--block-tokens", "--bytes-per-block").stream().allMatch(agent::hasMatchedOption), agent::toString);
        assertEquals(Set.of(), Deploy.unknownSettings(DIRECTORY.resolve("agent.properties"), "agent"));
    }

    @Test
    void theProgramAcceptsTheSignersCommandAndSettings() throws Exception {
        assertTrue(parsed("tierlog-signer.service", "signer.properties").hasMatchedOption("--key"));
        assertEquals(Set.of(), Deploy.unknownSettings(DIRECTORY.resolve("signer.properties"), "log sign"));
    }

    private static ParseResult parsed(String unit, String settings) throws Exception {
        String start = Files.readAllLines(DIRECTORY.resolve(unit)).stream()
                .filter(line -> line.startsWith("ExecStart=")).findFirst().orElseThrow();
        List<String> words = List.of(start.substring("ExecStart=".length()).split(" ", -1));

        assertEquals("/opt/tierlog/bin/tierlog", words.getFirst());
        List<String> arguments = new ArrayList<>(words.subList(1, words.size()));
        Files.readAllLines(DIRECTORY.resolve(settings)).stream()
                .filter(line -> line.contains("=")).forEach(line -> arguments.add("--" + line));
        return Deploy.parsed(arguments);
    }
}
