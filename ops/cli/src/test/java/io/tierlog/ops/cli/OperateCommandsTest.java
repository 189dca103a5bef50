/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.event.AgentRegistering;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands of operators against a controller that runs, with one node on record and a token to come in. */
@Tag("slow")
class OperateCommandsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String TOKEN = "let-me-in";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static EmbeddedKafka broker;

    @SuppressWarnings("NullAway.Init")
    private static ControllerApp app;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 1, 1);
        }
        register(access);
        String digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(TOKEN.getBytes(StandardCharsets.UTF_8)));
        Path tokens = Files.writeString(directory.resolve("tokens"), "operator ann sha256:" + digest + "\n");
        Files.writeString(directory.resolve("token"), TOKEN + "\n");
        ControllerConfig config = ControllerConfig.of(access, directory.resolve("state"))
                .with()
                // No tick comes while the test lasts, so that the silent node is not declared lost.
                .tickMs(60_000)
                .api(ApiConfig.loopback(0).withTokens(tokens))
                .build();
        app = ControllerApp.start(config);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        OperateCommandsTest waiting = new OperateCommandsTest();
        while (waiting.run("nodes") != 0 || !waiting.out.toString().contains("DISK")) {
            assertTrue(System.nanoTime() < deadline, () -> "no node: " + waiting.out + waiting.err);
            LockSupport.parkNanos(50_000_000);
        }
    }

    @AfterAll
    static void stop() {
        app.close();
        broker.close();
    }

    @Test
    void nodesAreATableOrJson() throws Exception {
        assertEquals(0, run("nodes"));
        List<String> lines = out.toString().lines().toList();
        assertEquals(List.of("NODE", "STATE", "TIER", "USED", "LEAVING", "CAPACITY", "SHARE"), List.of(lines.getFirst().split(" +", -1)));
        assertTrue(lines.get(1).matches("a +serves +HOST +0 B +0 B +97\\.7 KiB +0\\.0 %"), lines.get(1));
        assertEquals(0, run("nodes", "--format", "json"));
        assertEquals(100_000, JSON.readTree(out.toString()).path("nodes").get(0).path("tiers").get(0).path("capacity_bytes").asInt());
        assertEquals(0, run("nodes", "a"));
        assertTrue(out.toString().contains("no engines"), out.toString());
        assertEquals(0, run("groups"));
        assertEquals("no group has a quota or blocks", out.toString().strip());
    }

    @Test
    void whatIsRefusedIsTwoLinesAndAnExitCode() {
        assertRefused(2, "no agent has registered a node called b", "GET /v1/nodes", "nodes", "b");
        assertRefused(2, "no migration is called x", "GET /v1/migrations", "migrate", "show", "x");
        assertRefused(2, "no migration is called x", "GET /v1/migrations", "migrate", "cancel", "x");
        assertRefused(2, "--from is missing", "tierlog migrate --help", "migrate", "--sample", "1");
        assertRefused(2, "no blocks were given", "--sample N", "migrate", "--from", "host", "--to", "disk");
        assertRefused(2, "retention is missing", "correct the fields in errors", "migrate", "--sample", "1", "--from", "host", "--to", "disk");
        assertRefused(2, "target must be colder than DISK; retention is missing", "correct",
                "migrate", "--sample", "1", "--from", "disk", "--to", "disk");
        assertRefused(2, "--keys need the --namespace", "--namespace NAME", "migrate", "--keys", "0011223344556677", "--from", "host", "--to",
                "disk");
        assertRefused(2, "--min-age: 'soon' is not a time, for example 500ms, 60s", "--help",
                "migrate", "--sample", "1", "--min-age", "soon", "--from", "host", "--to", "disk");
        assertRefused(2, "no marks were given", "--all", "marks", "clear", "--node", "a");
        assertRefused(2, "--limit: '0' is not a whole number, 1 or more", "--help", "migrate", "list", "--limit", "0");
        assertRefused(2, "is not a file that can be read", "tierlog nodes --help", "nodes", "--token-file", directory.resolve("absent").toString());
        assertRefused(2, "--api: 'controller:8081' is not http://HOST:PORT", "--help", "nodes", "--api", "controller:8081");
        assertRefused(1, "does not answer at http://127.0.0.1:1", "--api-listen", "nodes", "--api", "http://127.0.0.1:1");
    }

    @Test
    void aRequestWithoutATokenIsRefused() throws Exception {
        Path wrong = Files.writeString(directory.resolve("wrong"), "something else");
        assertRefused(2, "the token is unknown", "Authorization: Bearer", "groups", "--token-file", wrong.toString());
    }

    @Test
    void listsAreEmptyBeforeAnythingIsAsked() {
        assertEquals(0, run("marks", "list", "--node", "a"));
        assertEquals("no marks", out.toString().strip());
    }

    @Test
    void aMigrationIsAskedForShownAndListed() throws Exception {
        String[] ask = {"migrate", "--keys", "00112233445566ff", "--namespace", "chat", "--from", "host", "--to", "disk", "--retention", "keep-both",
            "--id", "m1"};
        assertEquals(0, run(ask), () -> out + "\n" + err);
        assertTrue(out.toString().contains("COPY HOST -> DISK"), out.toString());
        assertTrue(out.toString().contains("accepted 0, rejected 1"), out.toString());
        assertTrue(out.toString().lines().anyMatch(line -> line.matches("a +chat +00112233445566ff +SOURCE_NOT_SERVING")), out.toString());
        assertEquals(0, run(ask));
        assertEquals(0, run("migrate", "show", "m1", "--format", "json"));
        JsonNode shown = JSON.readTree(out.toString());
        assertEquals("m1", shown.path("id").asText());
        assertEquals(1, shown.path("rejected").asInt());
        assertEquals(0, run("migrate", "--sample", "3", "--min-age", "1m", "--from", "host", "--to", "disk", "--method", "mark",
                "--dry-run", "--id", "m2"));
        assertEquals(0, run("migrate", "list", "--limit", "1", "--format", "json"));
        assertEquals(1, JSON.readTree(out.toString()).path("migrations").size());
        assertEquals(0, run("migrate", "list"));
        assertEquals(List.of("ID", "m1", "m2"), out.toString().lines().map(line -> line.split(" ", 2)[0]).sorted().toList());
        assertRefused(2, "migration m1 is ", "nothing is left to cancel", "migrate", "cancel", "m1");
        Path keys = Files.writeString(directory.resolve("keys"), "a tenant 0011223344556677\n\nchat 00112233445566ff\n");
        assertEquals(0, run("migrate", "--keys-file", keys.toString(), "--from", "host", "--to", "disk", "--retention", "keep-both", "--dry-run"));
        assertTrue(out.toString().lines().anyMatch(line -> line.matches("a +a tenant +0011223344556677 +SOURCE_NOT_SERVING")), out.toString());
    }

    @Test
    void aNodeDrainsAndServesAgain() {
        assertEquals(0, run("drain", "a", "--id", "d1"), () -> out + "\n" + err);
        assertTrue(out.toString().matches("a (drains|is drained)\\R"), out.toString());
        assertEquals(0, run("drain", "a", "--undo"));
        assertEquals("a serves", out.toString().strip());
        assertRefused(2, "no agent has registered", "GET /v1/nodes", "drain", "b");
    }

    private void assertRefused(int code, String error, String hint, String... arguments) {
        assertEquals(code, run(arguments), () -> out + "\n" + err);
        List<String> lines = err.toString().lines().toList();
        assertEquals(2, lines.size(), err.toString());
        assertTrue(lines.get(0).startsWith("error: ") && lines.get(0).contains(error), lines.get(0));
        assertTrue(lines.get(1).startsWith("hint: ") && lines.get(1).contains(hint), lines.get(1));
        assertFalse(out.toString().contains("error"), out.toString());
    }

    private int run(String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine line = new CommandLine(new Main());
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        List<String> all = new ArrayList<>(List.of(arguments));
        if (!all.contains("--api")) {
            all.addAll(List.of("--api", "http://127.0.0.1:" + app.apiPort()));
        }
        if (!all.contains("--token-file")) {
            all.addAll(List.of("--token-file", directory.resolve("token").toString()));
        }
        return Main.run(line, all, Map.of(), directory);
    }

    /** Node a with 100 blocks of host and as many of disk, each of 1,000 bytes. */
    private static void register(KafkaAccess access) throws Exception {
        String aggregate = "node/a";
        Bytes digest = Bytes.wrapUnshared(new byte[32]);
        AgentRegistering event = new AgentRegistering(
                new Envelope(aggregate, "agent/a/p1", 0, 1, 0, 1, null, null, null), "a", "p1", "test",
                List.of(new TierCapacity(Tier.HOST, 100, 1_000), new TierCapacity(Tier.DISK, 100, 1_000)),
                List.of(new Layout("all", LayoutKind.ATTENTION, 1, 16, 500, 2, "bf16", false)), digest, 1, 1, Map.of(), digest, null, null,
                false);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(access.client(Map.of()), new ByteArraySerializer(), new ByteArraySerializer())) {
            String topic = Topics.DEFAULT.events();
            producer.send(new ProducerRecord<>(topic, Partitions.key(aggregate), new Codec(Schemas.bundled()).encode(topic, event))).get();
        }
    }
}
