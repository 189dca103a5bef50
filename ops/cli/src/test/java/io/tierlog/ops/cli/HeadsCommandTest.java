/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands of docs/security.md about signed heads, on a small log of one partition whose events are not decided. */
@SuppressWarnings("NullAway.Init") // JUnit sets the fields.
class HeadsCommandTest {
    @TempDir
    private static Path data;

    @TempDir
    private Path home;

    private static EmbeddedKafka broker;

    private record Output(int code, String out, String err) {
        JsonNode json() throws Exception {
            return new ObjectMapper().readTree(out);
        }
    }

    @BeforeAll
    static void start() {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(0));
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private Output run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return new Output(Main.run(line, List.of(arguments), Map.of(), home), out.toString(), err.toString());
    }

    private Output onLog(Topics topics, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--bootstrap-servers", broker.bootstrapServers(), "--topic-prefix", topics.prefix()));
        return run(all.toArray(String[]::new));
    }

    private String file(String name) {
        return home.resolve(name).toString();
    }

    /** A log with so many events, and keys for it. */
    private Topics log(String prefix, int events) throws Exception {
        Topics topics = new Topics(prefix);
        assertEquals(0, run("keys", "head", "--file", file("head.key"), "--public", file("head.pub")).code());
        Output made = onLog(topics, "topics", "create", "--partitions", "2");
        assertTrue(made.out().contains(topics.heads() + ", 1 partition") && made.out().contains(topics.events() + ", 2 partitions"), made.toString());
        write(topics, events);
        return topics;
    }

    private static void write(Topics topics, int events) throws Exception {
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(access.producer(Map.of()), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < events; i++) {
                producer.send(new ProducerRecord<>(topics.events(), 1, new byte[] {1}, new byte[] {(byte) i})).get(60, TimeUnit.SECONDS);
            }
        }
    }

    private Output sign(Topics topics, String... more) {
        List<String> all = new ArrayList<>(List.of("log", "sign", "--key", file("head.key"), "--head-keys", file("head.pub"), "--once"));
        all.addAll(List.of(more));
        return onLog(topics, all.toArray(String[]::new));
    }

    private Output verify(Topics topics, String... more) {
        List<String> all = new ArrayList<>(List.of("audit", "verify", "--no-placements", "--head-keys", file("head.pub")));
        all.addAll(List.of(more));
        return onLog(topics, all.toArray(String[]::new));
    }

    /** Deletes the topic of events, and makes it again. */
    private void loseEvents(Topics topics) throws Exception {
        try (Admin admin = Admin.create(KafkaAccess.of(broker.bootstrapServers()).client(Map.of()))) {
            admin.deleteTopics(List.of(topics.events())).all().get(60, TimeUnit.SECONDS);
        }
        for (int i = 0; !onLog(topics, "topics", "create", "--partitions", "2").out().contains("made   " + topics.events()); i++) {
            assertTrue(i < 1_000, "the topic is not made again");
        }
    }

    @Test
    void aLostEndIsFoundByAuditorAndSigner() throws Exception {
        Topics topics = log("lost", 3);
        Output signed = sign(topics);
        assertTrue(signed.code() == 0 && signed.out().startsWith("the last head is 1 of 2"), signed.toString());
        Output whole = verify(topics, "--head-age", "1h");
        assertEquals(0, whole.code(), whole.toString());
        assertTrue(whole.out().contains("heads       1 signed, the last is 1 of 2"), whole.out());
        assertTrue(whole.out().contains(": 3 records are as signed, in 1 stretches") && whole.out().contains("all holds"), whole.out());

        loseEvents(topics);
        write(topics, 1);
        Output cut = verify(topics);
        assertEquals(1, cut.code(), cut.toString());
        assertTrue(cut.out().contains("HEADS       partition 1 of lost.events ends at offset 1, and head 1 of 2"), cut.out());
        assertTrue(cut.out().contains("VIOLATED    HEADS by lost.events, partition 1, offset 1"), cut.out());
        assertTrue(cut.out().contains("1  HEADS      the log is what its signed heads say"), cut.out());
        Output refused = sign(topics);
        assertEquals(1, refused.code(), refused.toString());
        assertTrue(refused.err().contains("ends at offset 1, and head 1 has it up to offset 3: the end of the log was lost"), refused.err());
    }

    @Test
    void programsGetTheSame() throws Exception {
        Topics topics = log("programs", 2);
        assertEquals(1, sign(topics, "--format", "json").json().get("number").asLong());
        write(topics, 4);
        Output answer = verify(topics, "--format", "json");
        assertEquals(0, answer.code(), answer.toString());
        JsonNode heads = answer.json().get("heads");
        assertEquals(List.of(1L, 2L, 1L, 0L, 0L, 4L), List.of(heads.get("heads").asLong(), heads.get("records").asLong(),
                heads.get("stretches").asLong(), heads.get("trimmedStretches").asLong(), heads.get("offsetsBeforeFirst").asLong(),
                heads.get("offsetsAfterLast").asLong()));
        assertEquals(1, heads.get("last").get("number").asLong());
        Output old = verify(topics, "--head-age", "1ms", "--format", "json");
        assertEquals(1, old.code(), old.toString());
        assertEquals("HEADS", old.json().get("first").get("check").asText());
        assertFalse(old.json().get("heads").get("findings").isEmpty());
    }

    /** Heads that an earlier audit has seen are not read again, and must still be there. */
    @Test
    void anAuditGoesOnFromTheLastHead() throws Exception {
        Topics topics = log("row", 2);
        sign(topics);
        List<String> audit = List.of("audit", "verify", "--head-keys", file("head.pub"), "--checkpoint", file("checkpoints"), "--format", "json");
        Output first = onLog(topics, audit.toArray(String[]::new));
        assertEquals(0, first.code(), first.toString());
        assertEquals(1, first.json().get("heads").get("heads").asLong());
        write(topics, 1);
        sign(topics);
        Output second = onLog(topics, audit.toArray(String[]::new));
        assertEquals(0, second.code(), second.toString());
        assertEquals(List.of(1L, 1L), List.of(second.json().get("heads").get("heads").asLong(), second.json().get("heads").get("records").asLong()));
        // Audits without the keys keep what was seen.
        assertEquals(0, onLog(topics, "audit", "verify", "--checkpoint", file("checkpoints")).code());

        try (Admin admin = Admin.create(KafkaAccess.of(broker.bootstrapServers()).client(Map.of()))) {
            admin.deleteTopics(List.of(topics.heads())).all().get(60, TimeUnit.SECONDS);
        }
        for (int i = 0; !onLog(topics, "topics", "create", "--partitions", "2").out().contains("made   " + topics.heads()); i++) {
            assertTrue(i < 1_000, "the topic is not made again");
        }
        sign(topics);
        Output third = onLog(topics, audit.toArray(String[]::new));
        assertEquals(1, third.code(), third.toString());
        assertTrue(third.json().get("first").get("detail").asText().startsWith("head 2, which an earlier audit has checked, is not there"),
                third.out());
        assertEquals(third.json().get("first"), onLog(topics, audit.toArray(String[]::new)).json().get("first"), "the next audit finds the same");
    }

    /** Threads of clients of Kafka and of a registry, of which each client has its own. */
    private static Set<Thread> clientThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("kafka-producer-network-thread")
                        || thread.getName().startsWith("kafka-admin-client-thread")
                        || thread.getName().matches("HttpClient-\\d+-SelectorManager"))
                .collect(Collectors.toSet());
    }

    private static void assertNoClientIsLeft(Set<Thread> before, Output output) {
        Set<Thread> left = clientThreads();
        left.removeAll(before);
        assertEquals(Set.of(), left, output::toString);
    }

    /** A registry for one schema. */
    private static HttpServer registry() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        AtomicReference<byte[]> schema = new AtomicReference<>(new byte[0]);
        server.createContext("/", exchange -> {
            byte[] reply = schema.get();
            if (exchange.getRequestMethod().equals("POST")) {
                schema.set(exchange.getRequestBody().readAllBytes());
                reply = "{\"id\":7}".getBytes(StandardCharsets.UTF_8);
            }
            exchange.sendResponseHeaders(200, reply.length);
            exchange.getResponseBody().write(reply);
            exchange.close();
        });
        server.start();
        return server;
    }

    @Test
    void aSignerThatEndsLeavesNoClientOpen() throws Exception {
        Topics topics = log("closed", 1);
        HttpServer registry = registry();
        String url = "http://127.0.0.1:" + registry.getAddress().getPort();
        String[] running = {"log", "sign", "--key", file("head.key"), "--head-keys", file("head.pub"), "--registry-url", url};
        Set<Thread> before = clientThreads();
        try {
            Output once = sign(topics, "--registry-url", url);
            assertTrue(once.code() == 0 && once.out().startsWith("the last head is 1 of 2"), once.toString());
            assertNoClientIsLeft(before, once);
            loseEvents(topics);
            Output lost = sign(topics, "--registry-url", url);
            assertTrue(lost.code() == 1 && lost.err().contains("the end of the log was lost"), lost.toString());
            assertNoClientIsLeft(before, lost);
            Output notStarted = onLog(new Topics("nowhere"), running);
            assertTrue(notStarted.code() == 2 && notStarted.err().contains("topics are missing"), notStarted.toString());
            assertNoClientIsLeft(before, notStarted);
        } finally {
            registry.stop(0);
        }
    }

    @Test
    void wrongUsesSayWhatToDo() throws Exception {
        Topics topics = log("wrong", 1);
        Output age = onLog(topics, "audit", "verify", "--head-age", "5m");
        assertTrue(age.code() == 2 && age.err().contains("--head-age goes with --head-keys"), age.toString());
        Output none = verify(topics);
        assertTrue(none.code() == 1 && none.out().contains("there is no signed head: nothing proves the end of the log"), none.toString());
        Output quick = sign(topics, "--every", "50ms");
        assertTrue(quick.code() == 2 && quick.err().contains("100 ms or more"), quick.toString());
        run("keys", "head", "--file", file("other.key"), "--public", file("other.pub"));
        Output other = onLog(topics, "log", "sign", "--key", file("other.key"), "--head-keys", file("head.pub"), "--once");
        assertTrue(other.code() == 2 && other.err().contains("none of the public keys of --head-keys is that of the private key"), other.toString());
        Output nowhere = onLog(new Topics("nowhere"), "log", "sign", "--key", file("head.key"), "--head-keys", file("head.pub"), "--once");
        assertTrue(nowhere.code() == 2 && nowhere.err().contains("topics are missing"), nowhere.toString());
    }
}
