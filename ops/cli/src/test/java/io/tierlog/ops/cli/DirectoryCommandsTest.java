/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.core.feed.PlacementFeed.Publication;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.directory.Placement;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands that ask a directory, against one that runs: blocks 0 and 1 on the host of a, 0 to 2 in the store. */
class DirectoryCommandsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NAMESPACE = "model/a";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static EmbeddedKafka broker;

    @SuppressWarnings("NullAway.Init")
    private static DirectoryApp app;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 1, 1);
        }
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(access.client(Map.of()), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < 3; i++) {
                place(producer, i, "store/0", Tier.STORE);
                if (i < 2) {
                    place(producer, i, "node/a", Tier.HOST);
                }
            }
        }
        app = DirectoryApp.start(DirectoryConfig.of(access, Topics.DEFAULT, directory.resolve("state")));
        assertTrue(app.awaitRunning(Duration.ofSeconds(60)));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (app.streams().blocks() < 3) {
            assertTrue(System.nanoTime() < deadline, "no blocks");
            LockSupport.parkNanos(20_000_000);
        }
    }

    private static void place(KafkaProducer<byte[], byte[]> producer, int number, String owner, Tier tier) throws Exception {
        Bytes key = Bytes.ofHex(key(number));
        Envelope envelope = new Envelope(owner, "controller/0", 1, 1, 0, 1, null, null, null);
        Placement placement = new Placement(envelope, NAMESPACE, new Block(number, key, Bytes.EMPTY), owner, tier, 1, 0, 1, 0);
        Publication publication = new Publication(Namespaces.digest(NAMESPACE), key, owner + "/" + tier, placement);
        producer.send(new ProducerRecord<>(Topics.DEFAULT.placements(), 0, publication.key().unshared(),
                new Codec(Schemas.bundled()).encode(Topics.DEFAULT.placements(), placement))).get();
    }

    private static String key(int number) {
        return "%032x".formatted(number + 1);
    }

    @AfterAll
    static void stop() {
        app.close();
        broker.close();
    }

    @Test
    void existShowsEachKeyAndItsExitCodeSaysWhetherAllAreFound() throws Exception {
        assertEquals(0, run("exist", "--namespace", NAMESPACE, key(0), key(2)));
        assertTrue(lines().get(0).matches("KEY +ANSWER"), out.toString());
        assertTrue(lines().get(1).matches(key(0) + "  FOUND"), out.toString());
        assertTrue(lines().get(3).matches("\\d+ records behind, as of .*Z"), out.toString());
        Path file = Files.writeString(directory.resolve("keys"), key(0) + "\n\n" + key(9) + "\n");
        assertEquals(1, run("exist", "--namespace", NAMESPACE, "--keys-file", file.toString(), "--format", "json"));
        assertEquals("[\"FOUND\",\"NOT_FOUND\"]", JSON.readTree(out.toString()).path("answers").toString());
        assertEquals(2, run("exist", "--namespace", NAMESPACE));
        assertTrue(err.toString().contains("error: no keys were given"), err.toString());
        assertEquals(2, run("exist", "--namespace", NAMESPACE, "xyz", "12"));
        assertTrue(err.toString().contains("KEY: 'xyz' is not a key: 8 to 32 bytes in hexadecimal digits"), err.toString());
        // What is in memory is not asked for, and the answer is the same.
        assertEquals(0, run("exist", "--namespace", NAMESPACE, "--prefetch", key(0)));
        assertTrue(lines().get(1).matches(key(0) + "  FOUND"), out.toString());
    }

    @Test
    void lookupShowsPrefixesAndSources() throws Exception {
        assertEquals(0, run("lookup", "--namespace", NAMESPACE, "--node", "a", key(0), key(1), key(2), key(3)));
        assertEquals("3 blocks serve without a gap", lines().get(0));
        assertTrue(lines().get(1).matches("NODE +BLOCKS +TIERS +CAN HAVE +COST"), out.toString());
        assertTrue(lines().get(2).matches("a +2 +HOST 2 +3 +1000 us"), out.toString());
        assertEquals("a gets 3 blocks in 1000 us:", lines().get(4));
        assertTrue(lines().get(6).matches("0-1 +node/a +HOST +0 us"), out.toString());
        assertTrue(lines().get(7).matches("2-2 +store/0 +STORE +1000 us"), out.toString());
        assertEquals(0, run("lookup", "--namespace", "other", key(0)));
        assertTrue(out.toString().contains("0 blocks serve without a gap") && out.toString().contains("no node has the first block"), out.toString());
    }

    @Test
    void whereShowsPlacements() throws Exception {
        assertEquals(0, run("where", "--namespace", NAMESPACE, key(0)));
        assertEquals(1, lines().stream().filter(line -> line.matches("node/a +HOST +1 +0 +1")).count(), out.toString());
        assertEquals(1, lines().stream().filter(line -> line.matches("store/0 +STORE +1 +0 +1")).count(), out.toString());
        assertEquals(0, run("where", "--namespace", NAMESPACE, key(7)));
        assertEquals("no placement", lines().get(0));
        JsonNode json = json("where", "--namespace", NAMESPACE, "--format", "json", key(2));
        assertEquals("store/0", json.path("placements").get(0).path("owner").asText());
    }

    @Test
    void aSecondInstanceOnTheSamePortIsRefused() throws Exception {
        assertEquals(2, run("directory", "--bootstrap-servers", broker.bootstrapServers(), "--state-dir", directory.resolve("second").toString(),
                "--directory-listen", "127.0.0.1:" + app.httpPort(), "--directory-grpc-listen", "127.0.0.1:0", "--directory-status-listen", "none"));
        assertTrue(err.toString().contains("cannot serve on 127.0.0.1:" + app.httpPort())
                && err.toString().contains("choose another --directory-listen"), err.toString());
    }

    @Test
    void aServerThatIsNotADirectoryDiffersFromAnAbsentOne() throws Exception {
        StringWriter said = new StringWriter();
        assertEquals(1, run(said, "where", "--directory", "http://127.0.0.1:1", "--namespace", NAMESPACE, key(0)));
        assertTrue(said.toString().contains("error: the directory does not answer at http://127.0.0.1:1"), said.toString());
    }

    private List<String> lines() {
        return out.toString().lines().toList();
    }

    private JsonNode json(String... arguments) throws Exception {
        assertEquals(0, run(arguments));
        return JSON.readTree(out.toString());
    }

    private int run(String... arguments) {
        List<String> line = new ArrayList<>(List.of(arguments));
        if (!arguments[0].equals("directory")) {
            line.addAll(List.of("--directory", "http://127.0.0.1:" + app.httpPort()));
        }
        return run(err, line.toArray(String[]::new));
    }

    private int run(StringWriter errors, String... arguments) {
        out.getBuffer().setLength(0);
        errors.getBuffer().setLength(0);
        CommandLine line = new CommandLine(new Main());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(errors));
        return Main.run(line, List.of(arguments), Map.of(), directory);
    }
}
