/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.events.KafkaAccess;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.cli.LogCopy.Change;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

/**
 * The log of a real demo, and copies of it with one record altered, removed or duplicated: verified as an operator does, from a running
 * broker and from the files of a stopped one.
 */
class AuditVerifyCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path data;

    private static final List<LogCopy> COPIES = new ArrayList<>();
    private static final List<Answer> FROM_CLUSTER = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // makeLogs() sets it.
    private static Answer originalFromCluster;

    /** What a command said. */
    private record Answer(int exitCode, String out, String err) {
        JsonNode json() {
            try {
                return new ObjectMapper().readTree(out);
            } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
                throw new AssertionError(this.toString(), e);
            }
        }
    }

    @BeforeAll
    static void makeLogs() {
        Answer demo = run("demo", "--seed", "6", "--requests", "80", "--nodes", "1", "--host", "60blocks", "--disk", "60blocks", "--partitions", "2",
                "--decode-us-per-token", "200", "--no-compare", "--format", "json", "--keep", "--data", data.toString());
        assertEquals(0, demo.exitCode(), demo.toString());
        LogCopy original;
        try (DirectoryLog log = new DirectoryLog(data)) {
            original = LogCopy.read(log);
        }
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data.resolve("broker")).withPort(0))) {
            KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
            originalFromCluster = verify("--bootstrap-servers", broker.bootstrapServers());
            for (Change change : List.of(Change.ALTERED, Change.REMOVED, Change.DUPLICATED)) {
                for (boolean events : new boolean[] {true, false}) {
                    LogCopy copy = original.with(change, events, 7 + COPIES.size());
                    copy.write(access);
                    COPIES.add(copy);
                    FROM_CLUSTER.add(verify("--bootstrap-servers", broker.bootstrapServers(), "--topic-prefix", copy.prefix(), "--no-placements"));
                }
            }
        }
    }

    @Test
    void theLogOfADemoHolds() {
        for (Answer answer : List.of(originalFromCluster, verify("--log", data.toString()), verify("--log", data.resolve("broker").toString()))) {
            assertEquals(0, answer.exitCode(), answer.toString());
            JsonNode report = answer.json();
            assertTrue(report.get("holds").asBoolean(), answer.out());
            assertTrue(report.get("records").asLong() > 1_000, answer.out());
            assertTrue(report.get("operations").get("done").asLong() > 50, answer.out());
            assertEquals(0, report.get("operations").get("unfinished").asLong(), answer.out());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aChangedRecordIsNamed(Change change) {
        for (int i = 0; i < COPIES.size(); i++) {
            LogCopy copy = COPIES.get(i);
            if (copy.change() == change) {
                assertNames(copy, FROM_CLUSTER.get(i));
                assertNames(copy, verify("--log", data.toString(), "--topic-prefix", copy.prefix(), "--no-placements"));
            }
        }
    }

    private static void assertNames(LogCopy copy, Answer answer) {
        assertEquals(1, answer.exitCode(), answer.toString());
        JsonNode first = answer.json().get("first");
        String said = first.toString();
        assertEquals(copy.topic(), first.get("topic").asText(), said);
        assertEquals(copy.partition(), first.get("partition").asInt(), said);
        assertEquals("NUMBERING", first.get("check").asText(), said);
        switch (copy.change()) {
            case NONE -> throw new AssertionError("nothing was changed");
            case ALTERED -> assertEquals(copy.offset(), first.get("offset").asLong(), said);
            case DUPLICATED -> assertEquals(copy.offset() + 1, first.get("offset").asLong(), said);
            case REMOVED -> {
                // Nothing stands where it was: the next one of its sender shows which one it was.
                assertEquals(copy.successor(), first.get("offset").asLong(), said);
                assertTrue(first.get("detail").asText().startsWith("missing is record " + copy.sequence() + " of " + copy.chain() + ","), said);
            }
        }
    }

    /** Whatever is said, it is the same for people: the record, its topic, partition and offset, and how much else does not hold. */
    @Test
    void peopleReadTheSame() {
        LogCopy altered = COPIES.stream().filter(copy -> copy.change() == Change.ALTERED).findFirst().orElseThrow();
        Answer answer = run("audit", "verify", "--log", data.toString(), "--topic-prefix", altered.prefix(), "--no-placements");

        assertEquals(1, answer.exitCode());
        assertTrue(answer.out().contains("VIOLATED    NUMBERING by " + altered.topic() + ", partition " + altered.partition() + ", offset "
                + altered.offset()), answer.out());
        assertTrue(answer.out().contains("1  NUMBERING  a record follows the one before"), answer.out());
    }

    @Test
    void aDamagedFileIsNamedByTheOffsetOfItsBatch() throws Exception {
        LogCopy copy = COPIES.getFirst();
        Path folder = data.resolve("broker/log/" + copy.prefix() + ".decisions-" + copy.partition());
        Path segment;
        try (Stream<Path> files = Files.list(folder)) {
            segment = files.filter(file -> file.toString().endsWith(".log")).findFirst().orElseThrow();
        }
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            file.seek(file.length() - 3);
            int was = file.read();
            file.seek(file.length() - 3);
            file.write(was ^ 1);
        }

        Answer answer = verify("--log", data.toString(), "--topic-prefix", copy.prefix(), "--no-placements");

        assertEquals(1, answer.exitCode());
        assertEquals(1, answer.json().get("findings").get("BYTES").asInt(), answer.out());
    }

    @Test
    void whatCannotBeReadIsSaidWithAHint() throws Exception {
        Path empty = Files.createDirectories(data.resolve("empty"));
        assertRefused("no Kafka log", verify("--log", empty.toString()));
        assertRefused("there is no topic nobody.events", verify("--log", data.toString(), "--topic-prefix", "nobody"));
        assertRefused("127.0.0.1:1", verify("--bootstrap-servers", "127.0.0.1:1", "--connect-timeout", "1"));
        assertRefused("--threads", verify("--threads", "0"));
    }

    private static void assertRefused(String what, Answer answer) {
        assertEquals(2, answer.exitCode(), answer.toString());
        assertTrue(answer.err().contains("error: ") && answer.err().contains(what) && answer.err().contains("hint: "), answer.err());
    }

    private static Answer verify(String... flags) {
        List<String> arguments = new ArrayList<>(List.of("audit", "verify", "--format", "json"));
        arguments.addAll(List.of(flags));
        return run(arguments.toArray(String[]::new));
    }

    private static Answer run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int exitCode = Main.run(line, List.of(arguments), Map.of(), data);
        return new Answer(exitCode, out.toString(), err.toString());
    }
}
