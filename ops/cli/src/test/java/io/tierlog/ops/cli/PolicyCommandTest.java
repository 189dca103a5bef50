/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.policy.PolicyClient;
import io.tierlog.ops.cli.policy.PolicyClient.Answer;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.WritePolicy;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The commands as an operator gives them, against a broker and a controller. */
@Tag("slow")
class PolicyCommandTest {
    private static final Duration START = Duration.ofSeconds(60);
    private static final String UNWISE = """
            groups:
              - {name: gold, namespaces: [a], routes: [{source: host, target: disk, threshold: 0.5, methods: [copy], retention: keep_both}]}
            reclaim: {host: {high: 0}}
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path data;

    @SuppressWarnings("NullAway.Init") // start() sets them.
    private static EmbeddedKafka broker;

    @SuppressWarnings("NullAway.Init")
    private static ControllerApp controller;

    /** The output of a command. */
    private record Output(int exitCode, String out, String err) {
        JsonNode json() {
            assertEquals(1, out.lines().count(), toString());
            try {
                return new ObjectMapper().readTree(out);
            } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
                throw new AssertionError(toString(), e);
            }
        }
    }

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data.resolve("broker")).withPort(0));
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 3, 1);
            admin.create(new Topics("silent"), 1, 1);
            admin.create(new Topics("trimmed"), 1, 1);
        }
        controller = ControllerApp.start(ControllerConfig.of(access, data.resolve("controller")).with()
                .http("127.0.0.1", 0)
                .build());
        assertTrue(controller.awaitRunning(START), controller.state());
    }

    @AfterAll
    static void stop() {
        controller.close();
        broker.close();
    }

    private static Output run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return new Output(Main.run(line, List.of(arguments), Map.of(), data), out.toString(), err.toString());
    }

    private static Output onCluster(String command, String... more) {
        List<String> all = new ArrayList<>(List.of("policy", command, "--bootstrap-servers", broker.bootstrapServers()));
        all.addAll(List.of(more));
        return run(all.toArray(String[]::new));
    }

    private static String file(String name, String text) throws Exception {
        return Files.writeString(data.resolve(name), text).toString();
    }

    private static String example() {
        return Path.of(System.getProperty("tierlog.root"), "ops/examples/policy-tiered.yaml").toString();
    }

    private static long version() {
        return onCluster("show", "--format", "json").json().get("version").asLong();
    }

    @Test
    void checkNeedsNoCluster() throws Exception {
        Output good = run("policy", "check", example());
        assertEquals(List.of(0, "valid: 2 groups, 0 warnings\n", ""), List.of(good.exitCode, good.out, good.err));
        assertEquals("{\"valid\":true,\"warnings\":[]}\n", run("policy", "check", "--format", "json", example()).out);

        Output unwise = run("policy", "check", file("unwise.yaml", UNWISE));
        assertEquals(0, unwise.exitCode, unwise.toString());
        assertEquals(List.of("warning KEEP_BOTH_WITHOUT_RECLAIM: Group gold", "warning MIGRATION_NEVER_TRIGGERS: Group gold", "valid: 1 groups"),
                unwise.out.lines().map(line -> line.replaceAll(",.*", "")).toList());
        Output full = run("policy", "check", file("full.yaml", "back_up: false\ntiers: {disk: {capacity: 1GiB}}\n"));
        assertEquals(List.of(0, "warning DISK_KEEPS_LAST_COPIES: back_up is off", "valid: 0 groups"),
                List.of(full.exitCode, full.out.lines().findFirst().orElseThrow().replaceAll(",.*", ""),
                        full.out.lines().skip(1).findFirst().orElseThrow().replaceAll(",.*", "")));

        String bad = file("bad.yaml", "lease: 30\nwrite_policy: never\n");
        Output text = run("policy", "check", bad);
        assertEquals(1, text.exitCode);
        assertEquals(bad + ": line 1: lease: must be a time such as 30s, with ms, s, m or h, not 30\n" + bad
                + ": line 2: write_policy: must be write_back or"
                + " write_through or write_through_selective, not the text 'never'\ninvalid: 2 findings\n", text.out);
        JsonNode json = run("policy", "check", bad, "--format", "json").json();
        assertFalse(json.get("valid").asBoolean());
        assertEquals("{\"line\":1,\"path\":\"lease\",\"reason\":\"must be a time such as 30s, with ms, s, m or h, not 30\"}",
                json.get("findings").get(0).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"check", "apply", "diff"})
    void aFileThatIsNotADocumentIsRefusedInOneLine(String command) throws Exception {
        String none = data.resolve("none.yaml").toString();
        String broken = file("broken.yaml", "lease: [1\n");
        assertBadInput("FILE: '" + none + "' is not a file that can be read", run("policy", command, none));
        assertBadInput(broken + ": line 2: the document: is not YAML: ", run("policy", command, broken));
        assertBadInput("FILE: '" + data + "' is not a file that can be read", run("policy", command, data.toString()));
        assertBadInput("Missing required parameter: 'FILE'", run("policy", command));
        assertBadInput("Unknown option: '--fast'", run("policy", command, "--fast", example()));
    }

    @Test
    void wrongFlagsAndAnAbsentClusterAreRefused() {
        assertEquals(2, run("policy").exitCode);
        assertBadInput("--timeout: '0' is not a whole number, 1 to 3600", onCluster("show", "--timeout", "0"));
        assertBadInput("127.0.0.1:1", run("policy", "show", "--bootstrap-servers", "127.0.0.1:1", "--connect-timeout", "1"));
        assertBadInput("absent.", onCluster("apply", "--topic-prefix", "absent", example()));
        assertBadInput("--format", onCluster("show", "--format", "xml"));
    }

    private static void assertBadInput(String what, Output output) {
        assertEquals(2, output.exitCode, output.toString());
        assertEquals("", output.out);
        List<String> lines = output.err.lines().toList();
        assertTrue(lines.getFirst().startsWith("error: ") && lines.getFirst().contains(what), output.err);
        assertTrue(lines.size() == 2 && lines.get(1).startsWith("hint: "), output.err);
    }

    @Test
    void whatIsAppliedIsShownAndNoDifference() throws Exception {
        long before = version();
        Output applied = onCluster("apply", example());
        assertEquals(List.of(0, "version " + (before + 1) + " is in force in 3 of 3 partitions\n", ""),
                List.of(applied.exitCode, applied.out, applied.err));
        assertEquals("0 changes to version " + (before + 1) + "\n", onCluster("diff", example()).out);

        Output shown = onCluster("show");
        assertEquals(0, shown.exitCode, shown.toString());
        assertEquals("# version " + (before + 1), shown.out.lines().findFirst().orElse(""));
        String edited = file("edited.yaml", shown.out.replace("256MiB", "9GiB"));
        assertEquals("~ groups[0].quota: 256MiB -> 9GiB\n1 change to version " + (before + 1) + "\n", onCluster("diff", edited).out);
        assertEquals("{\"path\":\"groups[0].quota\",\"before\":\"256MiB\",\"after\":\"9GiB\"}",
                onCluster("diff", edited, "--format", "json").json().get("changes").get(0).toString());
        assertEquals(before + 2, onCluster("apply", edited, "--format", "json").json().get("version").asLong());
        JsonNode json = onCluster("show", "--format", "json").json();
        assertEquals("9GiB", json.get("policy").get("groups").get(0).get("quota").asText());
        assertEquals(0, run("policy", "check", file("shown.json", json.get("policy").toString())).exitCode);
    }

    @Test
    void aSecondApplyMeanwhileIsStale() throws Exception {
        long before = version();
        assertEquals(0, onCluster("apply", "--based-on", "" + before, example()).exitCode);
        Output stale = onCluster("apply", "--based-on", "" + before, example());
        assertEquals(1, stale.exitCode, stale.toString());
        assertTrue(stale.out.endsWith("refused: STALE_POLICY\n"), stale.out);
        assertTrue(stale.err.startsWith("hint: another policy came first; look at it with policy diff "), stale.err);
        assertEquals("STALE_POLICY", onCluster("apply", "--based-on", "" + before, "--format", "json", example()).json().get("refused").asText());
        assertEquals(before + 1, version());
    }

    /** Two requests that are based on the same version: each receives its own answer. */
    @Test
    void ofTwoAtOnceOneIsStale() throws Exception {
        long before = version();
        try (ExecutorService both = Executors.newFixedThreadPool(2)) {
            List<Future<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                PolicyClient client = new PolicyClient(KafkaAccess.of(broker.bootstrapServers()), new Codec(Schemas.bundled()), Topics.DEFAULT);
                answers.add(both.submit(() -> client.change(Policies.INITIAL, before, START)));
            }
            List<Answer> got = List.of(answers.getFirst().get(), answers.getLast().get());
            Answer.Refused refused = (Answer.Refused) got.stream().filter(Answer.Refused.class::isInstance).findFirst().orElseThrow();
            assertEquals(RefusalReason.STALE_POLICY, refused.reason());
            assertTrue(got.contains(new Answer.Versioned(before + 1, List.of(), 3, 3)), got.toString());
        }
    }

    @Test
    void whatTheControllerWarnsOfIsPrintedAndCounted() throws Exception {
        double counted = warnings();
        JsonNode json = onCluster("apply", "--format", "json", file("unwise.yaml", UNWISE)).json();
        assertEquals(List.of("KEEP_BOTH_WITHOUT_RECLAIM", "MIGRATION_NEVER_TRIGGERS"), json.get("warnings").findValuesAsText("kind"));
        assertEquals(json.get("partitions"), json.get("adoptedBy"));
        assertEquals(counted + 1, warnings());
        assertTrue(onCluster("apply", file("unwise.yaml", UNWISE)).out
                .startsWith("warning KEEP_BOTH_WITHOUT_RECLAIM: Group gold, route host to disk: "));
    }

    private static double warnings() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + controller.httpPort() + "/metrics");
            String metrics = client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()).body();
            String line = "tierlog_config_warnings_total{kind=\"KEEP_BOTH_WITHOUT_RECLAIM\"} ";
            return Double.parseDouble(metrics.lines().filter(one -> one.startsWith(line)).findFirst().orElseThrow().substring(line.length()));
        }
    }

    @Test
    void whatIsInvalidIsNotSentAndTheControllerWouldRefuseIt() throws Exception {
        long before = version();
        Output bad = onCluster("apply", file("invalid.yaml", "reclaim: {batch: 0}"));
        assertEquals(1, bad.exitCode);
        assertTrue(bad.out.contains("line 1: reclaim.batch: must be from 1 to 1000, not 0") && bad.out.endsWith("invalid: 1 finding\n"), bad.out);
        assertEquals(1, onCluster("diff", file("invalid.yaml", "reclaim: {batch: 0}")).exitCode);

        Policy policy = new Policy(2, WritePolicy.WRITE_BACK, 0, 0, 0, 0, true, 0, 1, 0, 0, true, null, null);
        PolicyClient client = new PolicyClient(KafkaAccess.of(broker.bootstrapServers()), new Codec(Schemas.bundled()), Topics.DEFAULT);
        Answer.Refused refused = assertInstanceOf(Answer.Refused.class, client.change(policy, before, START));
        assertEquals(RefusalReason.POLICY_INVALID, refused.reason());
        assertEquals(List.of("reclaim.batch: must be from 1 to 1000, not 0", "lease: must be from 1 to 86400000, not 0"), refused.findings());
        assertEquals(before, version());
    }

    /** The last version is found however much follows it: the windows grow, backwards, until it is in one. */
    @Test
    void theLogIsReadBackwards() {
        assertEquals(0, onCluster("apply", example()).exitCode);
        for (long window : new long[] {1, 2, 7}) {
            PolicyClient client =
                    new PolicyClient(KafkaAccess.of(broker.bootstrapServers()), new Codec(Schemas.bundled()), Topics.DEFAULT, window);
            assertEquals(version(), client.inForce(START).version());
        }
    }

    /** Its default is not in force there, and a request that builds on version 0 would be stale. */
    @Test
    void aLogThatWasTrimmedPastItsPolicyIsNotOneWithoutPolicy() throws Exception {
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        TopicPartition decisions = new TopicPartition(new Topics("trimmed").decisions(), 0);
        try (KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(access.client(Map.of()), new ByteArraySerializer(), new ByteArraySerializer());
                Admin admin = Admin.create(access.client(Map.of()))) {
            producer.send(new ProducerRecord<>(decisions.topic(), new byte[] {1})).get(30, TimeUnit.SECONDS);
            admin.deleteRecords(Map.of(decisions, RecordsToDelete.beforeOffset(1))).all().get(30, TimeUnit.SECONDS);
        }

        String trimmed = "the log was trimmed before offset 1, and what is left of it has no policy";
        assertBadInput(trimmed, onCluster("show", "--topic-prefix", "trimmed"));
        assertBadInput(trimmed, onCluster("diff", "--topic-prefix", "trimmed", example()));
        assertBadInput(trimmed, onCluster("apply", "--topic-prefix", "trimmed", example()));
    }

    @Test
    void aControllerThatIsSilentIsWaitedForSoLong() {
        Output show = onCluster("show", "--topic-prefix", "silent");
        assertEquals("# version 0: no policy was applied yet", show.out.lines().findFirst().orElse(""));
        assertTrue(show.out.contains("prefetch_threshold: 2\n"), show.out);
        Output apply = onCluster("apply", "--topic-prefix", "silent", "--timeout", "1", example());
        assertEquals(1, apply.exitCode, apply.toString());
        assertTrue(apply.err.startsWith("error: the controller has not answered within 1 s"), apply.err);
    }
}
