/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Questions to the log of a real demo, from the files of its stopped broker; one of them to the running broker, too. */
@Tag("slow")
class AskTheLogTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path data;

    @SuppressWarnings("NullAway.Init") // makeLog() sets it.
    private static JsonNode stateFromCluster;

    /** What a command printed. */
    private record Answer(int exitCode, String out, String err) {
        JsonNode json() {
            try {
                return new ObjectMapper().readTree(out);
            } catch (JsonProcessingException e) {
                throw new AssertionError(this.toString(), e);
            }
        }
    }

    @BeforeAll
    static void makeLog() {
        Answer demo = run("demo", "--no-dashboard",
                "--seed", "6", "--requests", "60", "--nodes", "1", "--host", "50blocks", "--disk", "60blocks", "--partitions", "2",
                "--decode-us-per-token", "200", "--no-compare", "--format", "json", "--keep", "--data", data.toString());
        assertEquals(0, demo.exitCode(), demo.toString());
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data.resolve("broker")).withPort(0))) {
            stateFromCluster = run("audit", "state", "--format", "json", "--bootstrap-servers", broker.bootstrapServers()).json();
        }
    }

    /** Serving blocks on the host and the disk at the end of the placements topic's own statistics equal what the tables hold. */
    @Test
    void theStateAtTheEndIsWhatTheRunningClusterSays() {
        JsonNode state = json("state");

        assertEquals(stateFromCluster, state);
        assertEquals(1, state.path("nodes").size());
        assertEquals(0, state.path("operations").size(), state.path("operations").toString());
        assertEquals(0, state.path("leases").size(), state.path("leases").toString());
        assertEquals(1, state.path("policies").path(0).path("version").asInt());
        assertEquals(state, json("state", "--at", "end"));
        assertEquals(0, json("state", "--at", "1970-01-01T00:00:00Z").path("nodes").size());
    }

    @Test
    void theDifferenceOfTwoMomentsNamesTheDecisions() {
        JsonNode end = nodePartition();
        String partition = end.path("partition").asText();
        long middle = end.path("decision").asLong() / 2;
        JsonNode diff = json("state", "--diff", partition + ":" + middle, partition + ":" + (middle + 40), "--node", "node-1");

        long decisions = diff.path("decisions").asLong(); // some of the 40 offsets may be markers of transactions
        assertTrue(decisions >= 30 && decisions <= 40, diff.toString());
        assertTrue(diff.path("changes").size() > 3, diff.toString());
        for (JsonNode change : diff.path("changes")) {
            assertEquals("node/node-1", change.path("aggregate").asText());
            long by = change.path("decisions").path(0).path("offset").asLong();
            assertTrue(by > middle && by <= middle + 40, change.toString());
        }
        Answer text = run("audit", "state", "--log", data.toString(), "--diff", partition + ":" + middle, partition + ":" + (middle + 40));
        assertTrue(text.out().contains("BY DECISIONS") && text.out().contains(decisions + " decisions, "), text.out());
        assertEquals(0, json("state", "--diff", partition + ":" + middle, partition + ":" + middle).path("changes").size());
    }

    @Test
    void aBlockOfATierIsListedWithItsPlace() {
        JsonNode end = nodePartition();
        String middle = end.path("partition").asText() + ":" + end.path("decision").asLong() / 2;
        JsonNode state = json("state", "--at", middle, "--blocks", "--node", "node-1");
        long counted = state.path("tiers").valueStream().filter(row -> row.path("namespace").asText().equals("(all)"))
                .mapToLong(row -> row.path("serving").asLong() + row.path("writing").asLong()).sum();
        long listed = state.path("blocks").valueStream().filter(row -> !row.path("state").asText().equals("leaving")).count();

        assertTrue(counted > 20, state.toString());
        assertEquals(counted, listed);
        Answer text = run("audit", "state", "--log", data.toString(), "--at", middle, "--blocks");
        assertTrue(text.out().contains("GENERATION") && text.out().contains("policy version 1: {"), text.out());
    }

    @Test
    void aMomentThatIsNotClearSaysWhatToWrite() {
        refused("offset 100 may be one of 2 partitions", "state", "--at", "100");
        refused("there is no offset 999999 in partition 0", "state", "--at", "0:999999");
        refused("--at: 'yesterday' is not a moment", "state", "--at", "yesterday");
        refused("and the log has 2 partitions", "state", "--at", "2:1");
        refused("is before", "state", "--diff", "end", "0:1");
        Answer unknown = run("audit", "state", "--log", data.toString(), "--node", "node-7");
        assertEquals(1, unknown.exitCode(), unknown.toString());
        assertTrue(unknown.err().contains("no node node-7"), unknown.err());
        Answer nothing = run("audit", "state", "--log", data.toString(), "--node", "node-7", "--diff", "1970-01-01T00:00:00Z", "end");
        assertEquals(1, nothing.exitCode(), nothing.toString());
        assertTrue(nothing.err().contains("no node node-7 at either moment"), nothing.err());
        refused("--diff has moments of its own", "state", "--diff", "0:1", "end", "--at", "0:1");
        refused("--diff has moments of its own", "state", "--diff", "0:1", "end", "--blocks");
    }

    @Test
    void anEmptyIdAndAStretchWithoutAnythingAreRefused() {
        for (String command : List.of("request", "node", "tenant", "operation", "migration")) {
            refused("ID: '' is not a text: it is empty", command, "");
        }
        String[] late = {"--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"};
        refused("2026-01-02T00:00:00Z is after 2026-01-01T00:00:00Z", "stats", late[0], late[1], late[2], late[3]);
        refused("2026-01-02T00:00:00Z is after 2026-01-01T00:00:00Z", "node", "node-1", late[0], late[1], late[2], late[3]);
    }

    /** What is counted up to a time, and what is counted from it on, is what is counted in all; nothing looks broken to the second half. */
    @Test
    void theStatisticsOfTwoHalvesAddUp() {
        JsonNode whole = json("stats");
        long[] admitted = json("node", "node-1", "--all").path("records").valueStream()
                .filter(record -> record.path("type").asText().equals("RequestAdmitted"))
                .mapToLong(record -> record.path("time_ms").asLong()).toArray();
        long middle = admitted[admitted.length / 2];
        JsonNode first = json("stats", "--to", Instant.ofEpochMilli(middle).toString());
        JsonNode second = json("stats", "--from", Instant.ofEpochMilli(middle + 1).toString(), "--by", "tenant");

        // Not the hits of each tier: where a block was fetched from may be known only after the middle.
        for (String count : List.of("/block_accesses", "/hits/device", "/computed_blocks", "/operations/started", "/operations/done",
                "/operations/failed", "/operations/cancelled", "/attempts/submitted", "/events", "/decisions", "/commands", "/first_uses",
                "/latency_ms/submit_to_command/count", "/latency_ms/submit_to_ready_waited/count")) {
            assertEquals(whole.at(count).asLong(), first.at(count).asLong() + second.at(count).asLong(), count);
        }
        assertTrue(first.at("/operations/started").asLong() > 0 && second.at("/operations/started").asLong() > 0, second.toString());
        assertEquals(first.at("/operations/unfinished"), second.at("/operations/unfinished_before"));
        assertEquals(0, second.at("/operations/breaches").asLong());
        assertTrue(second.path("rows").valueStream().filter(row -> row.path("tenant").asText().equals("(none)"))
                .allMatch(row -> row.path("blocks").asLong() == 0), second.path("rows").toString());
    }

    @Test
    void aRequestSaysWhatBecameOfEachBlockOfItsPrompt() {
        JsonNode admitted = json("node", "node-1", "--all").path("records").valueStream()
                .filter(record -> record.path("type").asText().equals("RequestAdmitted")).findFirst().orElseThrow();
        String id = field(admitted, "request");
        JsonNode request = json("request", id);
        JsonNode attempt = request.path("attempts").path(0);

        assertEquals(Integer.parseInt(field(admitted, "wholeBlocks")), attempt.path("blocks").size(), request.toString());
        assertEquals("submitted", attempt.path("steps").path(0).path("step").asText());
        assertTrue(attempt.path("steps").size() > 3, attempt.toString());
        for (JsonNode block : attempt.path("blocks")) {
            assertEquals(block.path("became").asText().equals("computed"), !block.path("why").asText().isEmpty(), block.toString());
        }

        String key = attempt.path("blocks").path(0).path("key").asText();
        JsonNode tree = json("block", attempt.path("namespace").asText(), key, "--tree");
        assertEquals(key, tree.path("prefix").path(0).path("key").asText(), tree.toString());
        assertTrue(tree.path("prefix").path(0).path("wanted").asBoolean(), tree.toString());
        Answer text = run("audit", "block", attempt.path("namespace").asText(), key, "--tree", "--log", data.toString());
        assertTrue(text.out().contains("INDEX  BLOCK") && text.out().contains(key + " <-"), text.toString());
        JsonNode last = json("request", id, "--from", printed(admitted), "--to", printed(admitted)).path("records");
        assertTrue(last.valueStream().anyMatch(record -> record.path("type").asText().equals("RequestAdmitted")), last.toString());
        assertTrue(last.size() < request.path("records").size(), last.toString());
        refused("--why-left and --tree", "block", "n", key, "--why-left", "--tree");
        refused("--from: 'soon' is not a moment", "block", "n", key, "--from", "soon");
    }

    private static String printed(JsonNode record) {
        return record.path("topic").asText() + "-" + record.path("partition") + "@" + record.path("offset");
    }

    @Test
    void aNodeAndATenantHaveTheirRecords() {
        List<String> ofNode = json("node", "node-1").path("records").valueStream().map(record -> record.path("type").asText()).toList();
        assertTrue(ofNode.contains("AgentAccepted") && ofNode.contains("NodeEnded") && !ofNode.contains("BlocksPlaced"), ofNode.toString());
        JsonNode tenant = json("tenant", "tenant-0");
        assertTrue(tenant.path("records").valueStream().anyMatch(record -> record.path("type").asText().equals("BlocksPlaced")), "no placement");

        assertTrue(json("node", "node-1", "--all", "--from", "5").path("records").size() > 100, "an offset of the node's partition");
        Answer unknown = run("audit", "node", "node1", "--log", data.toString());
        assertEquals(1, unknown.exitCode(), unknown.toString());
        assertTrue(unknown.err().contains("the log has node-1"), unknown.err());
    }

    /** Read back with Avro's own reader: the rows of the log, and the placements that the tables have at the end. */
    @Test
    void anExportIsWhatTheLogSays() throws Exception {
        Path out = data.resolve("export");
        JsonNode tables = json("export", "--out", out.toString()).path("tables");
        JsonNode state = json("state", "--blocks");

        for (JsonNode table : tables) {
            List<GenericRecord> rows = rows(out.resolve(table.path("table").asText() + ".avro"));
            assertEquals(table.path("rows").asLong(), rows.size(), table.toString());
        }
        List<String> open = rows(out.resolve("placements.avro")).stream().filter(row -> row.get("to_time") == null)
                .map(row -> row.get("owner").toString().replaceFirst("^node/", "") + " " + row.get("tier").toString().toLowerCase(Locale.ROOT) + " "
                        + row.get("key")).sorted().toList();
        List<String> held = state.path("blocks").valueStream().filter(row -> !row.path("state").asText().equals("writing"))
                .map(row -> row.path("node").asText() + " " + row.path("tier").asText() + " " + row.path("key").asText()).sorted().toList();
        assertTrue(open.size() > 50, open.toString());
        assertEquals(held, open);
        GenericRecord request = rows(out.resolve("events.avro")).stream().filter(row -> row.get("type").toString().equals("RequestSubmitted"))
                .findFirst().orElseThrow();
        assertTrue(request.get("request").toString().startsWith("demo-") && request.get("fields").toString().contains("keys[0]"), request.toString());

        refused("already", "export", "--out", out.toString());
        assertEquals(2, run("audit", "export", "--log", data.toString()).exitCode());
        JsonNode part = json("export", "--out", data.resolve("part").toString(), "--from", "0:10", "--to", "0:20").path("tables");
        long expected = rows(out.resolve("decisions.avro")).stream()
                .filter(row -> (int) row.get("partition") == 0 && (long) row.get("offset") >= 10 && (long) row.get("offset") <= 20).count();
        assertEquals(expected, part.path(1).path("rows").asLong(), part.toString());
    }

    private static List<GenericRecord> rows(Path file) throws IOException {
        List<GenericRecord> rows = new ArrayList<>();
        try (DataFileReader<GenericRecord> reader = new DataFileReader<>(file.toFile(), new GenericDatumReader<>())) {
            reader.forEach(rows::add);
        }
        return rows;
    }

    /** Numbers over time add up to those of the whole log, whatever they are summed by. */
    @Test
    void numbersOverTimeAddUp() {
        JsonNode whole = json("stats");
        for (String by : List.of("node", "tenant", "group", "tier")) {
            JsonNode both = json("stats", "--by", by, "--every", "100ms");
            JsonNode series = both.path("series");
            assertTrue(series.size() > 3, series.toString());
            JsonNode rows = json("stats", "--by", by).path("rows");
            assertEquals(both.path("rows"), rows);
            for (String field : series.path(0).properties().stream().map(Map.Entry::getKey).toList()) {
                assertEquals(!field.equals("time_ms"), rows.path(0).has(field), field + " of " + by);
                if (rows.path(0).path(field).isIntegralNumber()) {
                    assertEquals(series.valueStream().mapToLong(row -> row.path(field).asLong()).sum(),
                            rows.valueStream().mapToLong(row -> row.path(field).asLong()).sum(), field + " of " + by);
                }
            }
            if (by.equals("tier")) {
                assertEquals(whole.path("hits").path("device").asLong(), series.valueStream()
                        .filter(row -> row.path("tier").asText().equals("device")).mapToLong(row -> row.path("hits").asLong()).sum());
            } else {
                assertEquals(whole.path("block_accesses").asLong(), series.valueStream().mapToLong(row -> row.path("blocks").asLong()).sum(), by);
            }
        }
        long uses = whole.path("first_uses").asLong()
                + whole.path("reuse_distance").valueStream().mapToLong(bucket -> bucket.path("count").asLong()).sum();
        assertTrue(uses > 300 && whole.path("top_prefixes").size() > 3, whole.toString());

        Answer csv = run("audit", "stats", "--log", data.toString(), "--every", "1s", "--format", "csv");
        assertTrue(csv.out().startsWith("time_ms,what,requests,blocks,"), csv.out());
        Answer page = run("audit", "stats", "--log", data.toString(), "--by", "node", "--format", "html");
        assertTrue(page.out().startsWith("<!doctype html>") && page.out().contains("<polyline"), page.out());
        Answer text = run("audit", "stats", "--log", data.toString(), "--every", "1s");
        assertTrue(text.out().contains("Prefixes that saved most"), text.out());
        assertEquals(0, json("stats", "--to", "1970-01-01T00:00:00Z").path("block_accesses").asLong());
        refused("csv is one table", "stats", "--format", "csv");
        refused("--every: 'soon' is not a time", "stats", "--every", "soon");
        refused("--every: '0s' is not a time", "stats", "--every", "0s");
        refused("each has offsets of its own", "stats", "--from", "0:1");
    }

    private static String field(JsonNode record, String name) {
        return record.path("fields").valueStream().map(JsonNode::asText).filter(text -> text.startsWith(name + "="))
                .findFirst().orElseThrow().substring(name.length() + 1);
    }

    /** Where the partition of the one node ends. */
    private static JsonNode nodePartition() {
        return json("state", "--node", "node-1").path("partitions").path(0);
    }

    private static void refused(String what, String... arguments) {
        List<String> all = new ArrayList<>(List.of("audit"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--log", data.toString()));
        Answer answer = run(all.toArray(String[]::new));
        assertEquals(2, answer.exitCode(), answer.toString());
        assertTrue(answer.err().contains(what) && answer.err().contains("hint: "), answer.err());
    }

    private static JsonNode json(String... arguments) {
        List<String> all = new ArrayList<>(List.of("audit"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--log", data.toString(), "--format", "json"));
        Answer answer = run(all.toArray(String[]::new));
        assertEquals(0, answer.exitCode(), answer.toString());
        return answer.json();
    }

    private static Answer run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int exitCode = Main.run(line, List.of(arguments), Map.of(), data);
        return new Answer(exitCode, out.toString(), err.toString());
    }
}
