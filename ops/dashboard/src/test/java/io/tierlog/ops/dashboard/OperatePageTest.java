/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.audit.snapshot.Snapshotter;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator does on the page, in a real browser, with a real controller behind it whose API has tokens. */
@Tag("slow")
class OperatePageTest {
    private static final Duration START = Duration.ofSeconds(60);
    private static final String OPERATOR = "operators-token";
    private static final String READER = "readers-token";

    @TempDir
    static Path directory;

    private static ChromeDriver browser;
    private static EmbeddedKafka broker;
    private static ControllerApp controller;
    private static DashboardApp page;
    /** A page that has tokens itself. */
    private static DashboardApp guarded;

    @BeforeAll
    static void start() throws Exception {
        browser = new ChromeDriver(directory);
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 2, 1);
        }
        Path tokens = Files.writeString(directory.resolve("tokens"),
                "operator ann sha256:" + digest(OPERATOR) + "\nreader bob sha256:" + digest(READER) + "\n");
        controller = ControllerApp.start(ControllerConfig.of(access, directory.resolve("controller")).with()
                .api(ApiConfig.loopback(0).withTokens(tokens))
                .build());
        assertTrue(controller.awaitRunning(START), controller.state());
        URI api = URI.create("http://127.0.0.1:" + controller.apiPort());
        page = DashboardApp.start(DashboardConfig.of(access, Topics.DEFAULT, directory.resolve("page"), 0).withOperatorApi(api)
                .withSnapshots(directory.resolve("snapshots")));
        guarded = DashboardApp.start(new DashboardConfig(access, Topics.DEFAULT, Optional.empty(), "guarded", directory.resolve("guarded"),
                new Endpoint("127.0.0.1", 0), AccessRules.of(tokens), false, Optional.of(api), Optional.empty(), FoldLimits.DEFAULTS, Tls.NONE));
    }

    @AfterAll
    static void stop() throws Exception {
        for (AutoCloseable part : new AutoCloseable[] {guarded, page, controller, broker, browser}) {
            if (part != null) {
                part.close();
            }
        }
    }

    @BeforeEach
    void leaveThePage() throws Exception {
        browser.leave();
    }

    private static String digest(String token) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }

    private static void fill(String selector, String value) throws IOException, InterruptedException {
        browser.await(selector, "return document.querySelector(arguments[0]) !== null", selector);
        browser.run("""
                const field = document.querySelector(arguments[0]);
                field.value = arguments[1];
                field.dispatchEvent(new Event("input", { bubbles: true }));""", selector, value);
    }

    private static void press(String button) throws IOException, InterruptedException {
        String find = "const button = [...document.querySelectorAll('main button')].find((b) => b.innerText === arguments[0] && !b.disabled);";
        browser.await("the button " + button, find + "return button !== undefined", button);
        browser.run(find + "button.click()", button);
    }

    private static void use(String token) throws IOException, InterruptedException {
        use(page, token);
    }

    private static void use(DashboardApp on, String token) throws IOException, InterruptedException {
        browser.openPage(on.url() + "#/operate");
        fill("input[name=operator]", token);
        press("Use it");
    }

    private static void awaitText(String text) throws IOException, InterruptedException {
        browser.await(text, "return document.querySelector('main').innerText.includes(arguments[0])", text);
    }

    /** The difference comes first; what is applied is shown from the log, and a refusal in the words of the controller. */
    @Test
    void aPolicyIsComparedThenAppliedAndShownFromTheLog() throws Exception {
        use(OPERATOR);
        long before = browser.run("return Number(document.querySelector('.panel h2').innerText.replace(/\\D/g, ''))").asLong();
        String canApply = "return [...document.querySelectorAll('main button')].some((b) => b.innerText === 'Apply it' && !b.disabled)";
        assertFalse(browser.run(canApply).asBoolean(), "nothing can be applied before its difference was shown");
        fill("textarea", "lease: 91s\nback_up: 3\n");
        press("Show the difference");
        awaitText("Invalid Request: the document is not a policy: back_up line 2: must be");
        fill("textarea", "lease: 91s\n");
        press("Show the difference");
        browser.await("the difference", "return [...document.querySelectorAll('.diff td')].some((cell) => cell.innerText === '91s')");
        press("Apply it");
        awaitText("Apply the policy: done.");
        awaitText("Policy in force, version " + (before + 1));
        browser.await("its document", "return document.querySelector('textarea').value.includes('lease: 91s')");
        awaitText("applied");
        browser.requireAccessible("operate with a token");
        assertEquals(List.of(), browser.console().stream().filter(line -> !line.contains("400")).toList());
    }

    @Test
    void withoutATokenThePageReadsAndAWrongOneIsRefused() throws Exception {
        browser.openPage(page.url() + "#/operate");
        awaitText("Without a token this page only reads.");
        assertEquals(0, browser.run("return document.querySelectorAll('textarea, .start-migration').length").asInt());
        for (String[] each : new String[][] {
                {"no-such-token", "Unauthorized: the token is unknown"}, {READER, "Forbidden: the token of bob is for reading only"}}) {
            use(each[0]);
            press("Dry run");
            awaitText(each[1]);
        }
        browser.run("return new Promise((go) => requestAnimationFrame(go))");
        assertFalse(browser.run("return Object.values(sessionStorage).concat(Object.values(localStorage)).join().includes('token')").asBoolean());
        browser.open(page.url() + "#/overview");
        use(READER);
        press("Forget it now");
        awaitText("Without a token this page only reads.");
    }

    /** Nothing of the log is shown before the page has a token, which its tab alone keeps. A reader sees all and changes nothing. */
    @Test
    void aPageWithTokensShowsNothingWithoutOne() throws Exception {
        browser.open(guarded.url() + "#/overview");
        awaitRefusal("the request has no token");
        giveToken("no-such-token");
        awaitRefusal("the token is unknown");
        assertEquals(0, browser.run("return document.querySelectorAll('.figure, .panel').length").asInt());
        giveToken(READER);
        browser.await("the overview", "return document.querySelectorAll('.figure').length > 3");
        assertFalse(browser.run("return Object.values(localStorage).join().includes('token')").asBoolean());
        use(guarded, READER);
        press("Dry run");
        awaitText("Forbidden: the token of bob is for reading only");
        use(guarded, OPERATOR);
        press("Migrate");
        awaitText("Refused: no node is registered yet");
        for (String path : new String[] {"api/overview", "api/contents", "api/requests", "api/live?page=overview"}) {
            assertEquals(401, status(guarded, "GET", path, "x-none", "1", ""), path);
            assertEquals(401, status(guarded, "GET", path, "Authorization", "Bearer no-such-token", ""), path);
        }
        assertEquals(401, status(guarded, "POST", "api/explore", "x-none", "1", "{}"));
        assertEquals(401, status(guarded, "POST", "api/operator/policy", "x-none", "1", "{}"));
    }

    private static void giveToken(String token) throws IOException, InterruptedException {
        fill("input[name=token]", token);
        browser.run("document.querySelector('.notice button').click()");
    }

    private static void awaitRefusal(String why) throws IOException, InterruptedException {
        browser.await(why, "return document.querySelector('.notice.error')?.innerText.includes(arguments[0]) === true", why);
    }

    /** A record that the controller cannot read, an engine's payload that a bridge has put aside, and a snapshot of this log. */
    @Test
    void theLogPageShowsDeadLettersSendersAndSnapshots() throws Exception {
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        String unreadable = "<script>alert(1)</script>";
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(access.client(Map.of("acks", "all")), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(Topics.DEFAULT.events(), 0, "node/x".getBytes(StandardCharsets.UTF_8),
                    unreadable.getBytes(StandardCharsets.UTF_8))).get();
            Headers headers = new RecordHeaders().add("tierlog.source", "tcp://engine:5557".getBytes(StandardCharsets.UTF_8))
                    .add("tierlog.reason", "MALFORMED".getBytes(StandardCharsets.UTF_8));
            byte[] payload = "tokens 17 42".getBytes(StandardCharsets.UTF_8);
            producer.send(new ProducerRecord<>(Topics.DEFAULT.deadLetters(), 1, new byte[0], payload, headers)).get();
        }
        browser.openPage(page.url() + "#/log");
        awaitText("Who wrote what");
        awaitText("or this is no directory");
        press("Read dead letters and snapshots again");
        awaitText(unreadable);
        awaitText("tierlog.events-0@");
        awaitText("tcp://engine:5557");
        awaitText("an engine's payload, not shown");
        assertFalse(browser.text("main").contains("tokens 17 42"), "payloads of engines may have tokens of prompts");
        awaitText("controller/0");
        JsonNode writers = get("api/log").path("writers");
        assertTrue(StreamSupport.stream(writers.spliterator(), false)
                .anyMatch(row -> row.path("sender").asText().equals("controller/0") && row.path("decisions").asLong() > 0), writers.toString());

        SnapshotDirectory snapshots = new SnapshotDirectory(directory.resolve("snapshots"));
        try (ClusterLog log = new ClusterLog(access)) {
            Snapshotter snapshotter = new Snapshotter(snapshots, log, Topics.DEFAULT, new Codec(Schemas.bundled()), 1);
            assertEquals(Optional.empty(), snapshotter.create(System.currentTimeMillis()).finding());
            press("Read dead letters and snapshots again");
            awaitText("snapshot-000001");
            awaitRow("snapshot-000001", "no");
            assertEquals(Optional.empty(), snapshotter.verify(snapshots.get("snapshot-000001")));
            press("Read dead letters and snapshots again");
            awaitRow("snapshot-000001", "yes");
        }
        browser.requireAccessible("the log with dead letters and a snapshot");
        assertEquals(List.of(), browser.console());
        JsonNode before = get("api/contents?at=1");
        assertEquals(0, before.path("letters").size() + before.path("snapshots").size(), before.toString());
    }

    private static void awaitRow(String name, String cell) throws IOException, InterruptedException {
        browser.await(name + ": " + cell, "return [...document.querySelectorAll('tr')].some((row) => row.innerText.includes(arguments[0])"
                + " && [...row.cells].some((one) => one.innerText === arguments[1]))", name, cell);
    }

    private static JsonNode get(String path) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return new ObjectMapper().readTree(client.send(HttpRequest.newBuilder(URI.create(page.url() + path)).build(),
                    HttpResponse.BodyHandlers.ofString()).body());
        }
    }

    /** No agent has registered: the controller refuses, and says why. */
    @Test
    void aMigrationWithoutNodesIsRefusedInTheWordsOfTheController() throws Exception {
        use(OPERATOR);
        press("Migrate");
        awaitText("Refused: no node is registered yet");
    }

    /** The same calls without the page: no token, another site, another path. */
    @Test
    void onlyTheseCallsArePassedOnAndOnlyWithAToken() throws Exception {
        assertEquals(401, status("POST", "api/operator/policy", "x-none", "1"));
        assertEquals(401, status("POST", "api/operator/policy", "Authorization", "Bearer no-such-token"));
        assertEquals(403, status("POST", "api/operator/policy", "Origin", "https://elsewhere.example"));
        assertEquals(404, status("DELETE", "api/operator/marks", "Authorization", "Bearer " + OPERATOR));
        assertEquals(400, status("POST", "api/operator/nodes/..%2F..%2Fpolicy/drain", "Authorization", "Bearer " + OPERATOR, "{\"never\":1}"));
    }

    private static int status(String method, String path, String header, String value) throws IOException, InterruptedException {
        return status(method, path, header, value, "{\"document\":\"lease: 90s\",\"dry_run\":true}");
    }

    private static int status(String method, String path, String header, String value, String body) throws IOException, InterruptedException {
        return status(page, method, path, header, value, body);
    }

    private static int status(DashboardApp on, String method, String path, String header, String value, String body)
            throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(on.url() + path)).header("Content-Type", "application/json")
                    .header(header, value)
                    .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() < 300) {
                return answer.statusCode();
            }
            assertTrue(new ObjectMapper().readTree(answer.body()).path("action").asText().length() > 0, answer.body());
            return answer.statusCode();
        }
    }
}
