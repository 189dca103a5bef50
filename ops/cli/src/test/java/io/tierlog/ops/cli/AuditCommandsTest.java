/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.cli.LogCopy.Change;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/**
 * The log of a real demo, and copies of it with one record altered, removed or duplicated: verified as an operator does, from a running broker and
 * from the files of a stopped one. The statistics of the same log are compared with the demo's report.
 */
@Tag("slow")
class AuditCommandsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path data;

    private static final List<LogCopy> COPIES = new ArrayList<>();
    private static final List<Answer> FROM_CLUSTER = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // makeLogs() sets it.
    private static Answer originalFromCluster;

    @SuppressWarnings("NullAway.Init") // makeLogs() sets it.
    private static Answer rerunFromCluster;

    @SuppressWarnings("NullAway.Init") // makeLogs() sets it.
    private static Answer signedFromCluster;

    @SuppressWarnings("NullAway.Init") // makeLogs() sets it.
    private static JsonNode demoReport;

    @SuppressWarnings("NullAway.Init") // makeLogs() sets it.
    private static JsonNode statisticsFromCluster;

    /** What a command printed. */
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
        Answer demo = run("demo", "--no-dashboard",
                "--seed", "6", "--requests", "80", "--nodes", "1", "--host", "60blocks", "--disk", "60blocks", "--partitions", "2",
                "--decode-us-per-token", "200", "--no-compare", "--format", "json", "--keep", "--data", data.toString());
        assertEquals(0, demo.exitCode(), demo.toString());
        demoReport = demo.json();
        LogCopy original;
        try (DirectoryLog log = new DirectoryLog(data)) {
            original = LogCopy.read(log);
        }
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data.resolve("broker")).withPort(0))) {
            KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
            originalFromCluster = verify("--bootstrap-servers", broker.bootstrapServers());
            rerunFromCluster = rerun("--bootstrap-servers", broker.bootstrapServers());
            assertEquals(0, run("keys", "head", "--file", key(), "--public", publicKey()).exitCode());
            Answer signed = run("log", "sign", "--once", "--key", key(), "--head-keys", publicKey(),
                    "--bootstrap-servers", broker.bootstrapServers());
            assertEquals(0, signed.exitCode(), signed.toString());
            signedFromCluster = verify("--bootstrap-servers", broker.bootstrapServers(), "--head-keys", publicKey(), "--no-placements");
            statisticsFromCluster = stats("--bootstrap-servers", broker.bootstrapServers()).json();
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

    /** Of a demo with one node, whose pages, leases and operations are all in the state that an audit goes on from. */
    @Test
    void anAuditFromASnapshotFindsWhatAnAuditOfTheLogFinds(@TempDir Path snapshots) {
        Answer made = run("snapshot", "create", "--log", data.toString(), "--to", snapshots.toString(), "--format", "json");
        assertEquals(0, made.exitCode(), made.toString());
        assertTrue(made.json().get(0).get("placements").asLong() > 0, made.out());
        Answer verified = run("snapshot", "verify", "--log", data.toString(), snapshots.toString(), "--format", "json");
        assertEquals(0, verified.exitCode(), verified.toString());
        Answer listed = run("snapshot", "list", snapshots.toString());
        assertTrue(listed.out().contains("snapshot-000001") && listed.out().contains("yes"), listed.toString());
        Answer from = verify("--log", data.toString(), "--snapshot", snapshots.toString(), "--at-rest");
        assertEquals(0, from.exitCode(), from.toString());
        assertEquals(originalFromCluster.json().get("operations"), from.json().get("operations"));
        Answer rerun = rerun("--log", data.toString(), "--snapshot", snapshots.resolve("snapshot-000001").toString());
        assertEquals(0, rerun.exitCode(), rerun.toString());
        String[] state = {"audit", "state", "--log", data.toString(), "--at", "end", "--format", "json"};
        String[] stateFrom = Stream.concat(Stream.of(state), Stream.of("--snapshot", snapshots.toString())).toArray(String[]::new);
        assertEquals(run(state).out(), run(stateFrom).out());
        Answer none = run("snapshot", "verify", "--log", data.toString(), data.toString());
        assertEquals(2, none.exitCode(), none.toString());
    }

    /** The files as they were in the middle of the demo, and at its end: two audits, each of its part, count what one of the whole counts. */
    @Test
    void anAuditThatGoesOnReadsTheRest(@TempDir Path root) throws Exception {
        Path earlier = root.resolve("earlier");
        EarlierLog.copy(data.resolve("broker").resolve("log"), earlier);
        Answer first = verify("--log", earlier.toString(), "--checkpoint", root.resolve("checkpoints").toString());
        assertEquals(0, first.exitCode(), first.toString());
        long begun = first.json().get("records").asLong();
        assertTrue(begun > 200, first.out());
        Answer rest = verify("--log", data.toString(), "--checkpoint", root.resolve("checkpoints").toString(), "--at-rest");
        assertEquals(0, rest.exitCode(), rest.toString());
        long all = originalFromCluster.json().get("records").asLong();
        assertTrue(rest.json().get("records").asLong() > 200 && rest.json().get("records").asLong() < all - begun / 2, rest.out());
        assertEquals(originalFromCluster.json().get("operations"), rest.json().get("operations"));
        assertTrue(rest.json().get("notes").get(0).asText().startsWith("what was before checkpoint-000001"), rest.out());
        Answer whole = verify("--log", data.toString(), "--checkpoint", root.resolve("checkpoints").toString(), "--no-fold");
        assertEquals(2, whole.exitCode(), whole.toString());
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

    private static String key() {
        return data.resolve("head.key").toString();
    }

    private static String publicKey() {
        return data.resolve("head.pub").toString();
    }

    /** All of it, to the last record: also from the files, and not from the files as they were in the middle of the demo. */
    @Test
    void theSignedLogOfADemoHolds(@TempDir Path root) throws Exception {
        for (Answer answer : List.of(signedFromCluster, verify("--log", data.toString(), "--head-keys", publicKey(), "--no-placements"))) {
            assertEquals(0, answer.exitCode(), answer.toString());
            JsonNode report = answer.json();
            assertEquals(report.get("records").asLong(), report.get("heads").get("records").asLong(), answer.out());
            assertEquals(0, report.get("heads").get("offsetsAfterLast").asLong(), answer.out());
        }
        Path earlier = root.resolve("earlier");
        EarlierLog.copy(data.resolve("broker").resolve("log"), earlier);
        Path heads = data.resolve("broker").resolve("log").resolve("tierlog.heads-0");
        Files.createDirectories(earlier.resolve("tierlog.heads-0"));
        Files.copy(heads.resolve("00000000000000000000.log"), earlier.resolve("tierlog.heads-0").resolve("00000000000000000000.log"));
        Answer cut = verify("--log", earlier.toString(), "--head-keys", publicKey());
        assertEquals(1, cut.exitCode(), cut.toString());
        assertEquals("HEADS", cut.json().get("first").get("check").asText(), cut.out());
        assertTrue(cut.json().get("first").get("detail").asText().endsWith("the end was cut off or lost"), cut.out());
        assertEquals(0, verify("--log", earlier.toString()).exitCode(), "without heads the cut does not show");
    }

    @Test
    void anArchiveAnswersAsItsLog(@TempDir Path root) throws Exception {
        String archive = root.resolve("archive").toString();
        Answer made = run("audit", "archive", "--log", data.toString(), "--out", archive, "--format", "json");
        assertEquals(0, made.exitCode(), made.toString());
        assertEquals(List.of("tierlog.heads", "tierlog.decisions", "tierlog.events", "tierlog.commands"),
                made.json().path("added").findValuesAsText("topic"));
        Answer again = run("audit", "archive", "--log", data.toString(), "--out", archive);
        assertTrue(again.exitCode() == 0 && again.out().contains("tierlog.decisions"), again.toString());
        JsonNode verified = verify("--log", archive, "--head-keys", publicKey()).json();
        JsonNode ofLog = verify("--log", data.toString(), "--head-keys", publicKey()).json();
        assertTrue(verified.path("holds").asBoolean(), verified.toString());
        for (String part : List.of("operations", "heads")) {
            assertEquals(ofLog.path(part), verified.path(part), part);
        }
        assertTrue(verified.path("notes").toString().contains("an archive has no tierlog.placements"), verified.toString());
        assertEquals(2, verify("--log", archive, "--checkpoint", root.resolve("checkpoints").toString()).exitCode());
        assertEquals(withoutTime(stats("--log", data.toString())), withoutTime(stats("--log", archive)));
        Answer rerun = rerun("--log", archive);
        assertTrue(rerun.exitCode() == 0 && rerun.json().path("decisions").asLong() > 100, rerun.toString());
        Path events = root.resolve("archive/tierlog.events-1/00000000000000000000.log");
        Files.write(events, Arrays.copyOf(Files.readAllBytes(events), 100));
        Answer truncated = run("audit", "stats", "--log", archive);
        assertTrue(truncated.exitCode() == 2 && truncated.err().contains("is truncated or damaged: the files in tierlog.events-1 have 100 bytes"),
                truncated.toString());
    }

    private static JsonNode withoutTime(Answer answer) {
        return ((ObjectNode) answer.json()).without("elapsed_ms");
    }

    @Test
    void verifyAndRerunSayTheirSpeedBesideABareReader() {
        for (Answer answer : List.of(verify("--log", data.toString(), "--compare-speed"), rerun("--log", data.toString(), "--compare-speed"))) {
            assertEquals(0, answer.exitCode(), answer.toString());
            JsonNode speed = answer.json().get("speed");
            double bare = speed.get("bareRecordsPerSecond").asDouble();
            assertEquals(speed.get("auditRecordsPerSecond").asDouble() / bare, speed.get("ratio").asDouble(), 0.01, answer.out());
            assertTrue(speed.get("auditRecordsPerSecond").asDouble() > 100, answer.out());
        }
        Answer text = run("audit", "rerun", "--log", data.toString(), "--compare-speed");
        assertTrue(text.out().contains("speed       ") && text.out().contains("of a bare reader"), text.out());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aChangedRecordIsReported(Change change) {
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
        String shown = first.toString();
        assertEquals(copy.topic(), first.get("topic").asText(), shown);
        assertEquals(copy.partition(), first.get("partition").asInt(), shown);
        assertEquals("NUMBERING", first.get("check").asText(), shown);
        switch (copy.change()) {
            case NONE -> throw new AssertionError("nothing was changed");
            case ALTERED -> assertEquals(copy.offset(), first.get("offset").asLong(), shown);
            case DUPLICATED -> assertEquals(copy.offset() + 1, first.get("offset").asLong(), shown);
            case REMOVED -> {
                // Nothing stands where it was: the next one of its sender shows which one it was.
                assertEquals(copy.successor(), first.get("offset").asLong(), shown);
                assertTrue(first.get("detail").asText().startsWith("missing is record " + copy.sequence() + " of " + copy.chain() + ","), shown);
            }
        }
    }

    /** The text has the record, its topic, partition and offset, and the number of findings by check. */
    @Test
    void theTextNamesTheRecordToo() {
        LogCopy altered = COPIES.stream().filter(copy -> copy.change() == Change.ALTERED).findFirst().orElseThrow();
        Answer answer = run("audit", "verify", "--log", data.toString(), "--topic-prefix", altered.prefix(), "--no-placements");

        assertEquals(1, answer.exitCode());
        assertTrue(answer.out().contains("VIOLATED    NUMBERING by " + altered.topic() + ", partition " + altered.partition() + ", offset "
                + altered.offset()), answer.out());
        assertTrue(answer.out().contains("1  NUMBERING  a record follows the one before"), answer.out());
    }

    @Test
    void aRerunMakesTheSameDecisions() {
        for (Answer answer : List.of(rerunFromCluster, rerun("--log", data.toString()))) {
            assertEquals(0, answer.exitCode(), answer.toString());
            JsonNode report = answer.json();
            assertEquals(0, report.get("differences").asLong(), answer.out());
            assertEquals(List.of("events", "decisions", "differences", "elapsed_s"), report.properties().stream().map(Map.Entry::getKey).toList());
            assertTrue(report.get("events").asLong() > 500 && report.get("decisions").asLong() > 500, answer.out());
            assertTrue(report.get("elapsed_s").asDouble() > 0, answer.out());
        }
        Answer text = run("audit", "rerun", "--log", data.toString());
        assertTrue(text.out().endsWith("the same decisions" + System.lineSeparator()), text.toString());
        // After the last decision the log has ticks only, which the clocks sent while the controller stopped.
        long ticks = LogTail.ticks(data);
        assertEquals(ticks > 0, text.out().contains("undecided   " + ticks + " events"), text.toString());
    }

    /** An altered decision is one difference; what a rerun decides does not depend on it. A removed or repeated one shifts those after it. */
    @Test
    void aRerunNamesTheFirstDecisionThatDiffers() {
        for (LogCopy copy : COPIES) {
            if (copy.topic().endsWith(".decisions")) {
                Answer answer = rerun("--log", data.toString(), "--topic-prefix", copy.prefix());
                assertEquals(1, answer.exitCode(), answer.toString());
                JsonNode first = answer.json().get("first");
                assertEquals(copy.partition(), first.get("partition").asInt(), answer.out());
                assertTrue(first.get("input").asText().startsWith("Recorded["), answer.out());
                assertTrue(first.get("rows_read").size() > 0, answer.out());
                switch (copy.change()) {
                    case NONE -> throw new AssertionError("nothing was changed");
                    case ALTERED -> {
                        assertEquals(1, answer.json().get("differences").asLong(), answer.out());
                        assertEquals(copy.offset(), first.get("offset").asLong(), answer.out());
                        assertNotEquals(first.get("recorded").asText(), first.get("rerun").asText());
                    }
                    case DUPLICATED -> assertEquals(copy.offset() + 1, first.get("offset").asLong(), answer.out());
                    case REMOVED -> assertTrue(!first.has("offset") || first.get("offset").asLong() == copy.offset(), answer.out());
                }
            }
        }
        LogCopy altered = COPIES.stream().filter(c -> c.change() == Change.ALTERED && c.topic().endsWith(".decisions")).findFirst().orElseThrow();
        Answer text = run("audit", "rerun", "--log", data.toString(), "--topic-prefix", altered.prefix());
        assertTrue(text.out().contains("DIFFERS     " + altered.topic() + ", partition " + altered.partition() + ", offset " + altered.offset()),
                text.out());
        assertTrue(text.out().contains("in all      1 differences"), text.out());
    }

    /** From a request to its write-back, and to the first block of its prompt. */
    @Test
    void theLogSaysWhatBecameOfARequestAnOperationAndABlock() {
        String request = aRequest();
        Answer similar = run("audit", "request", request.substring(0, request.length() - 1) + "#", "--log", data.toString());
        assertEquals(1, similar.exitCode(), similar.toString());
        assertTrue(similar.err().contains("hint: the log has " + request.substring(0, request.length() * 2 / 3)), similar.err());

        JsonNode ofRequest = records("request", request);
        assertEquals("RequestSubmitted", ofRequest.get(0).get("type").asText(), ofRequest.toString());
        JsonNode issued = first(ofRequest, "OperationIssued", "kind=WRITE_BACK");
        assertTrue(issued.get("cause").asText().startsWith("RequestFinished at "), issued.toString());
        JsonNode ofOperation = records("operation", field(issued, "operation"));
        assertTrue(field(first(ofOperation, "OperationEnded", ""), "state").equals("DONE"), ofOperation.toString());

        Answer block = run("audit", "block", field(issued, "namespace"), field(issued, "root"), "--log", data.toString(), "--format", "json");
        assertEquals(0, block.exitCode(), block.toString());
        JsonNode ofBlock = block.json().get("records");
        assertEquals("HOST", field(first(ofBlock, "BlocksPlaced", "operation=" + field(issued, "operation")), "tier"));
        JsonNode last = ofBlock.get(ofBlock.size() - 1);
        assertTrue(last.get("time_ms").asLong() >= ofBlock.get(0).get("time_ms").asLong(), ofBlock.toString());

        Answer text = run("audit", "block", field(issued, "namespace"), field(issued, "root"), "--log", data.toString());
        assertTrue(text.out().startsWith("TIME  ") && text.out().contains("BlocksPlaced") && text.out().contains("WriteBackDone at "), text.out());
        assertRefused("KEY: 'xyz' is not a key: 8 to 32 bytes", run("audit", "block", "a", "xyz", "--log", data.toString()));
        assertRefused("no Kafka log", run("audit", "migration", "m", "--log", data.resolve("absent").toString()));
        Answer migration = run("audit", "migration", "m", "--log", data.toString());
        assertEquals(1, migration.exitCode());
        assertTrue(migration.err().contains("the log has no record of migration m"), migration.err());
    }

    /** The request whose first write-back was the first that brought a prompt, from its first block on, to the host. */
    private static String aRequest() {
        RecordReader<Fact> facts = new Codec(Schemas.bundled()).reader(Fact.class);
        Map<String, String> requests = new HashMap<>();
        Set<String> seen = new HashSet<>();
        try (DirectoryLog log = new DirectoryLog(data); RecordCursor decisions = new RecordCursor(log, Topics.DEFAULT.decisions(), 0)) {
            for (LogEntry.Data record = decisions.next(); record != null; record = decisions.next()) {
                if (!(facts.read(record.value()) instanceof Reading.Decoded<Fact>(Fact fact))) {
                    continue;
                }
                if (fact instanceof OperationIssued issued && issued.kind() == OperationKind.WRITE_BACK && issued.request() != null
                        && seen.add(issued.request()) && issued.blocks().getFirst().index() == 0) {
                    requests.put(issued.operation(), issued.request());
                } else if (fact instanceof OperationEnded ended && ended.state() == OperationState.DONE) {
                    String request = requests.get(ended.operation());
                    if (request != null) {
                        return request;
                    }
                }
            }
        }
        throw new AssertionError("partition 0 has no write-back of a whole prompt");
    }

    private static JsonNode records(String what, String id) {
        Answer answer = run("audit", what, id, "--log", data.toString(), "--format", "json");
        assertEquals(0, answer.exitCode(), answer.toString());
        return answer.json().get("records");
    }

    private static JsonNode first(JsonNode records, String type, String field) {
        return records.valueStream()
                .filter(record -> record.get("type").asText().equals(type))
                .filter(record -> field.isEmpty() || record.get("fields").valueStream().anyMatch(text -> text.asText().equals(field)))
                .findFirst().orElseThrow(() -> new AssertionError("no " + type + " " + field + " in " + records));
    }

    private static String field(JsonNode record, String name) {
        return record.get("fields").valueStream().map(JsonNode::asText).filter(text -> text.startsWith(name + "="))
                .findFirst().orElseThrow().substring(name.length() + 1);
    }

    @Test
    void aLogThatCannotBeDecidedAgainEndsWithAHint() {
        assertRefused("no Kafka log", rerun("--log", data.resolve("absent").toString()));
        assertRefused("there is no topic absent.events", rerun("--log", data.toString(), "--topic-prefix", "absent"));
        assertRefused("--threads", rerun("--threads", "0"));
    }

    @Test
    void aDamagedFileIsReportedAtTheOffsetOfItsBatch() throws Exception {
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
    void aLogThatCannotBeReadIsRefusedWithAHint() throws Exception {
        Path empty = Files.createDirectories(data.resolve("empty"));
        assertRefused("no Kafka log", verify("--log", empty.toString()));
        assertRefused("there is no topic absent.events", verify("--log", data.toString(), "--topic-prefix", "absent"));
        assertRefused("127.0.0.1:1", verify("--bootstrap-servers", "127.0.0.1:1", "--connect-timeout", "1"));
        assertRefused("--threads", verify("--threads", "0"));
    }

    /** What the engines counted and what the demo read while it ran, the log still has. The end of the agents came after the report. */
    @Test
    void theStatisticsOfTheLogEqualTheReportOfTheDemo() {
        JsonNode statistics = stats("--log", data.toString()).json();

        assertEquals(statistics, statisticsFromCluster);
        for (String field : List.of("block_accesses", "hits", "computed_blocks", "hit_ratio", "operations", "operations_by_kind", "bytes",
                "commands", "waits_expired", "recovered_blocks", "unreadable_records", "water_levels", "relief_batches", "longest_batch_ms",
                "promotions")) {
            JsonNode counted = statistics.get(field);
            if (counted instanceof ObjectNode hits && field.equals("hits")) {
                assertEquals(0, hits.remove("peer").asLong(), hits.toString());
            }
            assertEquals(demoReport.get(field), counted, field);
        }
        assertEquals(demoReport.get("requests").asLong(), statistics.get("attempts").get("prefilled").asLong());
        assertEquals(demoReport.get("latency_ms").get("submit_to_command").get("count"),
                statistics.get("latency_ms").get("submit_to_command").get("count"));
        assertTrue(statistics.get("from_ms").asLong() < statistics.get("to_ms").asLong(), statistics.toString());
    }

    /** Without a model it runs with what is measured in the log, not with the usual hardware; then it has the hits of the demo. */
    @Test
    void whatIfRunsTheLogWithItsOwnTimings() {
        Path model = data.resolve("model");
        Answer calibrated = run("whatif", "calibrate", "--log", data.toString(), "--out", model.toString());
        assertEquals(0, calibrated.exitCode(), calibrated.toString());
        JsonNode own = whatIf("--log", data.toString());
        assertEquals(own, whatIf("--log", data.toString(), "--model", model.toString()));
        assertNotEquals(own, whatIf("--log", data.toString(), "--set", "save.latency_us=500000"), "a model matters");
        double accesses = demoReport.get("block_accesses").asLong();
        for (String tier : List.of("device", "host")) {
            assertEquals(demoReport.get("hits").get(tier).asLong() / accesses, own.get(tier).asDouble(), 0.05, () -> tier + ": " + own + demoReport);
        }
    }

    private static JsonNode whatIf(String... arguments) {
        List<String> all = new ArrayList<>(List.of("whatif", "--format", "json"));
        all.addAll(List.of(arguments));
        Answer answer = run(all.toArray(String[]::new));
        assertEquals(0, answer.exitCode(), answer.toString());
        return answer.json().get("rows").get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"node", "tenant", "group", "tier", "reason"})
    void theStatisticsHaveATableByChoice(String by) {
        JsonNode rows = stats("--log", data.toString(), "--by", by).json().get("rows");
        assertTrue(rows.size() > 0, rows.toString());
        if (rows.get(0).has("blocks")) {
            assertEquals(demoReport.get("block_accesses").asLong(),
                    rows.valueStream().mapToLong(row -> row.get("blocks").asLong()).sum(), rows.toString());
        }

        Answer text = run("audit", "stats", "--log", data.toString(), "--by", by);
        assertEquals(0, text.exitCode(), text.toString());
        assertTrue(text.out().contains("hit ratio  ") && text.out().contains("submit to command"), text.out());
        assertTrue(text.out().contains(by.equals("reason") ? "WHAT " : by.toUpperCase(Locale.ROOT) + " "), text.out());
    }

    /** Exit code 1: the numbers lack what could not be decoded. */
    @Test
    void statisticsThatLackRecordsAreNotComplete() throws Exception {
        Path copy = Files.createDirectories(data.resolve("cut"));
        try (Stream<Path> files = Files.walk(data.resolve("broker"))) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(data.resolve("broker").relativize(file).toString()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Path segment;
        try (Stream<Path> files = Files.list(copy.resolve("log/tierlog.events-0"))) {
            segment = files.filter(file -> file.toString().endsWith(".log")).findFirst().orElseThrow();
        }
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            file.seek(file.length() - 3);
            int was = file.read();
            file.seek(file.length() - 3);
            file.write(was ^ 1);
        }
        Answer answer = stats("--log", copy.toString());

        assertEquals(1, answer.exitCode(), answer.toString());
        assertTrue(answer.json().get("unreadable_records").asLong() > 0, answer.out());
    }

    @Test
    void statisticsThatCannotBeReadEndWithAHint() {
        assertRefused("no Kafka log", stats("--log", data.resolve("absent").toString()));
        assertRefused("there is no topic absent.events", stats("--log", data.toString(), "--topic-prefix", "absent"));
        assertRefused("127.0.0.1:1", stats("--bootstrap-servers", "127.0.0.1:1", "--connect-timeout", "1"));
        assertEquals(2, run("audit", "stats", "--by", "colour").exitCode());
    }

    private static Answer rerun(String... flags) {
        List<String> arguments = new ArrayList<>(List.of("audit", "rerun", "--format", "json"));
        arguments.addAll(List.of(flags));
        return run(arguments.toArray(String[]::new));
    }

    private static Answer stats(String... flags) {
        List<String> arguments = new ArrayList<>(List.of("audit", "stats", "--format", "json"));
        arguments.addAll(List.of(flags));
        return run(arguments.toArray(String[]::new));
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
