/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.PolicyChangeRequested;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Migrations end to end: requested over the API, decided by the core, executed by a node, shown by the API. */
@Tag("slow")
class MigrationApiTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path state;

    private record Reply(int status, JsonNode body) {}

    @Test
    void aCopyIsAcceptedBlockByBlockDoneOnceAndKnownAfterARestart() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2)) {
            ControllerConfig config = config(log);
            Reply asked;
            try (ControllerApp app = ControllerApp.start(config);
                    ObedientNode _ = new ObedientNode(log, CommittedAnswersTest.withBlocks(log, "a", 3))) {
                awaitBlocks(app, 3);
                Reply looked = send(app, "POST", "/v1/migrations", copy("look").replaceFirst("\\{", "{\"dry_run\":true,"));
                assertEquals(List.of(201, 2, 1), counts(looked));
                asked = send(app, "POST", "/v1/migrations", copy("m1"));
                assertEquals(List.of(201, 2, 1), counts(asked));
                assertEquals("SOURCE_NOT_SERVING", asked.body().path("nodes").get(0).path("rejected").get(0).path("reason").asText());
                TestLog.await("the copies", () -> migration(app, "m1").path("state").asText().equals("DONE"));
                assertEquals(2, migration(app, "m1").path("progress").path("done_blocks").asInt());
                // The node that is played reports a byte for each block.
                assertEquals(2, migration(app, "m1").path("progress").path("moved_bytes").asInt());
                assertEquals(2, used(app, "DISK"));
                assertEquals(3, used(app, "HOST"));
                assertEquals(409, send(app, "DELETE", "/v1/migrations/m1", "").status());
            }
            try (ControllerApp again = ControllerApp.start(config)) {
                TestLog.await("the API", () -> send(again, "GET", "/v1/migrations/m1", "").status() == 200);
                Reply repeated = send(again, "POST", "/v1/migrations", copy("m1"));
                assertEquals(List.of(200, 2, 1), counts(repeated));
                assertEquals(asked.body().path("asked_ms"), repeated.body().path("asked_ms"));
                assertEquals(409, send(again, "POST", "/v1/migrations", copy("m1").replace("KEEP_BOTH", "DELETE_SOURCE")).status());
                assertEquals("[\"m1\",\"look\"]", ids(send(again, "GET", "/v1/migrations", "").body()));
            }
        }
    }

    @Test
    void manyWhoAskAtOnceUnderOneIdGetOneMigration() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                ControllerApp app = ControllerApp.start(config(log));
                ObedientNode _ = new ObedientNode(log, CommittedAnswersTest.withBlocks(log, "a", 3))) {
            awaitBlocks(app, 3);
            List<CompletableFuture<Reply>> replies = IntStream.range(0, 8)
                    .mapToObj(_ -> CompletableFuture.supplyAsync(() -> send(app, "POST", "/v1/migrations", copy("m1"))))
                    .toList();
            List<Integer> statuses = replies.stream().map(reply -> reply.join().status()).sorted().toList();
            assertEquals(List.of(200, 200, 200, 200, 200, 200, 200, 201), statuses);
            TestLog.await("the copies", () -> migration(app, "m1").path("state").asText().equals("DONE"));
            assertEquals(2, migration(app, "m1").path("progress").path("done_blocks").asInt());
            assertEquals("[\"m1\"]", ids(send(app, "GET", "/v1/migrations", "").body()));
        }
    }

    @Test
    void aRunningMigrationIsCancelledAndAnUnknownNodeRejectsItsPart() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                ControllerApp app = ControllerApp.start(log.controller(state).tickMs(60_000).api(ApiConfig.loopback(0)).build())) {
            // It executes no command, so the copies stay in flight; no tick comes, so it is not lost for its silence.
            CommittedAnswersTest.withBlocks(log, "a", 3);
            awaitBlocks(app, 3);
            Reply asked = send(app, "POST", "/v1/migrations", copy("m1").replaceFirst("\\{", "{\"nodes\":[\"a\",\"missing\"],"));
            assertEquals(List.of(201, 2, 4), counts(asked));
            assertEquals("NODE_UNKNOWN", asked.body().path("nodes").get(1).path("rejected").get(0).path("reason").asText());
            assertEquals("RUNNING", asked.body().path("state").asText());
            Reply cancelled = send(app, "DELETE", "/v1/migrations/m1", "");
            assertEquals(202, cancelled.status());
            assertEquals("CANCELLING", cancelled.body().path("state").asText());
            assertEquals(202, send(app, "DELETE", "/v1/migrations/m1", "").status());
        }
    }

    @Test
    void marksAreShownAndClearedAndANodeDrains() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                ControllerApp app = ControllerApp.start(config(log));
                ObedientNode _ = new ObedientNode(log, CommittedAnswersTest.withBlocks(log, "a", 3))) {
            awaitBlocks(app, 3);
            setPolicy(log);
            TestLog.await("the policy", () -> send(app, "GET", "/v1/policy", "").body().path("version").asInt() == 1);
            TestLog.await("the group", () -> send(app, "GET", "/v1/groups", "").body().path("groups").get(0).path("nodes").size() == 1);
            Reply asked = send(app, "POST", "/v1/migrations", copy("m1").replace("\"COPY\"", "\"MARK\""));
            assertEquals(List.of(201, 2, 1), counts(asked));
            TestLog.await("the marks", () -> marks(app) == 2);
            JsonNode mark = send(app, "GET", "/v1/marks?group=all", "").body().path("marks").get(0);
            assertEquals("m1", mark.path("migration").asText());
            assertEquals("DISK", mark.path("target").asText());
            Reply cleared = send(app, "DELETE", "/v1/marks", "{\"node\":\"a\"}");
            assertEquals(200, cleared.status(), cleared.body().toString());
            assertEquals(2, cleared.body().path("cleared").asInt());
            TestLog.await("no marks", () -> marks(app) == 0);

            Reply drains = send(app, "POST", "/v1/nodes/a/drain", "{\"id\":\"d1\"}");
            assertEquals(200, drains.status(), drains.body().toString());
            assertTrue(drains.body().path("draining").asBoolean());
            TestLog.await("it is drained", () -> CommittedAnswersTest.get(app, "/v1/nodes/a").path("drained").asBoolean());
            Reply serves = send(app, "DELETE", "/v1/nodes/a/drain", "");
            assertEquals("false", serves.body().path("draining").asText());
            assertEquals(200, send(app, "POST", "/v1/nodes/a/drain", "{\"instance\":\"engine-0\"}").status());
            assertEquals(422, send(app, "POST", "/v1/nodes/a/drain", "{\"instance\":\"engine-9\"}").status(), "no engine of that name is attached");
        }
    }

    private ControllerConfig config(TestLog log) {
        return log.controller(state).tickMs(200).api(ApiConfig.loopback(0)).build();
    }

    private static void setPolicy(TestLog log) {
        Policy p = Policies.INITIAL;
        MigrationRoute route = new MigrationRoute(Tier.HOST, Tier.DISK, 0.9, true, true, Retention.KEEP_BOTH, 8, 1L << 30);
        MigrationPolicy migration = new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 4L << 30,
                List.of(new GroupPolicy("all", List.of("*"), 1L << 30, List.of(), List.of(route))));
        Policy grouped = new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), p.hostHighMark(), p.hostLowMark(), p.diskHighMark(),
                p.diskLowMark(), p.copyToDisk(), p.reliefBatchBlocks(), p.operationTimeoutMs(), p.leaseMs(), p.nodeTimeoutTicks(), p.backUp(),
                migration, null);
        log.append(new PolicyChangeRequested(new Envelope("policy", "operator/me", 0, 1, 0, 1, null, null, null), 0, grouped));
    }

    private static String copy(String id) {
        FakeAgent.Prompt prompt = new FakeAgent.Prompt(1, 3);
        return """
                {"id":"%s","method":"COPY","source":"HOST","target":"DISK","retention":"KEEP_BOTH","blocks":[
                 {"namespace":"model/a rev/1","key":"%s"},{"namespace":"model/a rev/1","key":"%s"},
                 {"namespace":"model/a rev/1","key":"00000000000000ff"}]}"""
                .formatted(id, prompt.key(1).hex(), prompt.key(2).hex());
    }

    private static void awaitBlocks(ControllerApp app, int blocks) {
        TestLog.await("blocks on the host", () -> used(app, "HOST") == blocks);
    }

    private static long used(ControllerApp app, String name) {
        for (JsonNode tier : CommittedAnswersTest.get(app, "/v1/nodes/a").path("tiers")) {
            if (tier.path("tier").asText().equals(name)) {
                return tier.path("used_blocks").asLong();
            }
        }
        return -1;
    }

    private static int marks(ControllerApp app) {
        return send(app, "GET", "/v1/marks?node=a", "").body().path("marks").size();
    }

    private static JsonNode migration(ControllerApp app, String id) {
        return CommittedAnswersTest.get(app, "/v1/migrations/" + id);
    }

    private static List<Integer> counts(Reply reply) {
        return List.of(reply.status(), reply.body().path("accepted").asInt(-1), reply.body().path("rejected").asInt(-1));
    }

    private static String ids(JsonNode list) {
        return JSON.valueToTree(list.path("migrations").findValuesAsText("id")).toString();
    }

    private static Reply send(ControllerApp app, String method, String path, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + app.apiPort() + path))
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Reply(response.statusCode(), JSON.readTree(response.body()));
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
