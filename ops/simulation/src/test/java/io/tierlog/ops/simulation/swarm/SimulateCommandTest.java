/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the command takes, prints and answers. */
class SimulateCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine line = new CommandLine(new SimulateCommand());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return line.execute(arguments);
    }

    @Test
    void oneEpisodeAsJson() throws IOException {
        assertEquals(0, run("--seed", "11", "--episodes", "1", "--faults", "none", "--format", "json"));

        JsonNode json = new ObjectMapper().readTree(out.toString());
        assertEquals(1, json.get("episodes").asInt());
        assertEquals(0, json.get("violations").asInt());
        assertEquals(0, json.get("wrong_content").asInt());
        assertTrue(json.get("operations").asInt() > 10, out::toString);
        assertTrue(json.get("reads_checked").asInt() > 10, out::toString);
        assertTrue(json.get("elapsed_s").asDouble() > 0, out::toString);
        assertEquals(FaultKind.values().length, json.get("faults").size());
    }

    @Test
    void onlyTheFaultsThatWereNamed() throws IOException {
        assertEquals(0, run("--seed", "20", "--episodes", "4", "--faults", "event-duplicated,command-lost", "--format", "json"));

        JsonNode faults = new ObjectMapper().readTree(out.toString()).get("faults");
        long others = faults.propertyStream().filter(one -> !List.of("event-duplicated", "command-lost").contains(one.getKey()))
                .mapToLong(one -> one.getValue().asLong()).sum();
        assertEquals(0, others);
        assertTrue(faults.get("event-duplicated").asInt() + faults.get("command-lost").asInt() > 0, faults::toString);
    }

    @Test
    void anUnknownFaultIsAnsweredWithTheKnownOnes() {
        assertEquals(2, run("--faults", "earthquake"));

        assertTrue(err.toString().contains("earthquake") && err.toString().contains("controller-crash"), err::toString);
    }

    @Test
    void whatCannotBeIsRefused(@TempDir Path directory) {
        assertEquals(2, run("--episodes", "0"));
        assertEquals(2, run("--minutes", "0"));
        assertEquals(2, run("--directory", directory.resolve("nowhere").toString()));
        assertEquals(2, run("--choices", directory.resolve("nothing").toString()));
    }

    @Test
    void aRecordOfChoicesIsReplayed(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("some.choices");
        ChoiceFile.write(file, List.of(new int[] {0}), List.of("nothing but the world"));

        assertEquals(0, run("--choices", file.toString()));

        assertTrue(out.toString().contains("violations"), out::toString);
    }
}
