/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.streams.TestBroker;
import io.tierlog.controller.streams.TestLog;
import io.tierlog.controller.streams.api.ApiClient.Reply;
import io.tierlog.schemas.MarkClearReason;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PolicyRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The operator API over HTTP, step by step, beside a scripted controller. */
@Tag("slow")
class OperatorApiTest {
    private static final String COPY_OF_THREE = """
            {"id":"%s","method":"COPY","source":"HOST","target":"DISK","retention":"DELETE_SOURCE","nodes":["a"],
             "blocks":[{"namespace":"chat/1","key":"0000000000000001"},{"namespace":"chat/1","key":"0000000000000002"},
                       {"namespace":"chat/1","key":"0000000000000003"}]}""";

    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @SuppressWarnings("NullAway.Init") // JUnit calls open() first.
    private ApiUnderTest server;

    @SuppressWarnings("NullAway.Init")
    private ScriptedController controller;

    @SuppressWarnings("NullAway.Init")
    private ApiClient client;

    @BeforeEach
    void open() throws Exception {
        server = new ApiUnderTest(BROKER.kafka(), 2, ApiConfig.loopback(0));
        controller = server.controller;
        client = new ApiClient(server.api.port());
        client.awaitReady();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void aMigrationIsAnsweredWhenEveryNodeHasAndNotBefore() {
        CompletableFuture<Reply> asked = client.later("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1"));
        MigrationRequested event = controller.next(MigrationRequested.class).event();
        assertEquals("migration/m1", event.envelope().aggregate());
        assertTrue(event.envelope().sender().startsWith("operator/local/"), event.envelope().sender());
        assertEquals(1, event.envelope().sequence());
        assertEquals(List.of("a"), event.nodes());
        assertEquals(World.order(1, 2, 3), event.order());

        controller.commit(() -> open("m1", event.order()));
        assertEquals("SUBMITTED", awaitState("m1", "SUBMITTED").path("state").asText());
        assertFalse(asked.isDone());
        controller.commit(() -> answered("m1", event.order()));
        Reply reply = client.checked("POST", "/v1/migrations", asked.join());

        assertEquals(201, reply.status());
        assertEquals("/v1/migrations/m1", reply.headers().firstValue("Location").orElse(""));
        assertEquals(2, reply.body().path("accepted").asInt());
        assertEquals(1, reply.body().path("rejected").asInt());
        JsonNode part = reply.body().path("nodes").get(0);
        assertEquals("[{\"namespace\":\"chat/1\",\"key\":\"0000000000000001\",\"method\":\"COPY\"},"
                + "{\"namespace\":\"chat/1\",\"key\":\"0000000000000002\",\"method\":\"MARK\"}]", part.path("accepted").toString());
        assertEquals("[{\"namespace\":\"chat/1\",\"key\":\"0000000000000003\",\"reason\":\"NOT_FOUND\"}]", part.path("rejected").toString());
        assertTrue(reply.body().path("as_of_ms").asLong() >= World.TIME_MS);
    }

    @Test
    void aReasonWithoutBlocksIsShown() {
        MigrationAnswer nothing = new MigrationAnswer(List.of(), List.of(), List.of(), List.of(MigrationRefusal.TARGET_UNAVAILABLE));
        controller.commit(() -> controller.row(Rows.MIGRATIONS, World.migrationKey("m1"),
                World.migration(MigrationState.REJECTED, World.order(1, 2, 3), World.part("a", nothing))));
        JsonNode shown = awaitState("m1", "REJECTED");
        assertEquals("[{\"reason\":\"TARGET_UNAVAILABLE\"}]", shown.path("nodes").get(0).path("rejected").toString());
    }

    @Test
    void uncommittedStateIsNotShown() {
        controller.begin(() -> answered("m1", World.order(1, 2, 3)));
        // A row of another transaction cannot pass it in the same partition; the API reads below the open one.
        assertEquals(404, client.get("/v1/migrations/m1").status());
        controller.abort();
        controller.commit(() -> answered("m2", World.order(1, 2, 3)));
        awaitState("m2", "RUNNING");
        assertEquals(404, client.get("/v1/migrations/m1").status());
    }

    @Test
    void theSameIdIsTheSameTaskAndAnotherBodyIsAConflict() {
        controller.commit(() -> answered("m1", World.order(1, 2, 3)));
        awaitState("m1", "RUNNING");

        assertEquals(200, client.ask("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1")).status());
        Reply other = client.ask("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1").replace("DELETE_SOURCE", "KEEP_BOTH"));
        assertEquals(409, other.status());
        assertEquals("id-taken", other.problem());
        Reply elsewhere = client.ask("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1").replace("[\"a\"]", "[\"b\"]"));
        assertEquals("id-taken", elsewhere.problem());
        assertEquals(0, controller.waiting(MigrationRequested.class));
    }

    @Test
    void aRaceForAnIdIsSettledByTheLog() {
        // Both are on the log before either is decided; the controller takes the first and calls the second a repeat.
        CompletableFuture<Reply> first = client.later("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1"));
        ScriptedController.Asked<MigrationRequested> one = controller.next(MigrationRequested.class);
        CompletableFuture<Reply> same = client.later("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1"));
        ScriptedController.Asked<MigrationRequested> two = controller.next(MigrationRequested.class);
        CompletableFuture<Reply> other = client.later("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1").replace("03\"", "04\""));
        ScriptedController.Asked<MigrationRequested> three = controller.next(MigrationRequested.class);
        controller.commit(() -> {
            for (String cause : List.of(two.cause(), three.cause())) {
                controller.fact(new InputRefused(controller.envelope("migration/m1", cause), "MigrationRequested", RefusalReason.REPEATED, "again"));
            }
            controller.tickAfter("migration/m1", three.offset());
        });
        controller.commit(() -> answered("m1", one.event().order()));

        assertEquals(201, first.join().status());
        assertEquals(200, same.join().status());
        assertEquals("id-taken", other.join().problem());
    }

    @Test
    void pastTheDeadlineTheIdIsAnswered() {
        String impatient = COPY_OF_THREE.formatted("m1").replaceFirst("\\{", "{\"deadline_ms\":0,");
        Reply unknown = client.ask("POST", "/v1/migrations", impatient);
        assertEquals(202, unknown.status());
        assertEquals("m1", unknown.body().path("id").asText());
        controller.commit(() -> open("m1", World.order(1, 2, 3)));
        awaitState("m1", "SUBMITTED");
        Reply known = client.ask("POST", "/v1/migrations", impatient);
        assertEquals(202, known.status());
        assertEquals(1, known.body().path("nodes_asked").asInt());
    }

    @Test
    void theIdCanBeAHeaderAndIsMadeUpOtherwise() {
        String body = COPY_OF_THREE.replace("\"id\":\"%s\",", "\"deadline_ms\":0,");
        Reply byHeader = client.later("POST", "/v1/migrations", body, "Idempotency-Key", "mine").join();
        assertEquals("mine", byHeader.body().path("id").asText());
        String madeUp = client.ask("POST", "/v1/migrations", body).body().path("id").asText();
        assertTrue(madeUp.matches("m-[0-9a-f-]{36}"), madeUp);
        Reply both = client.later("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1"), "Idempotency-Key", "mine").join();
        assertEquals(400, both.status());
    }

    @Test
    void withoutNodesAllThatAreKnownAreAsked() {
        CompletableFuture<Reply> asked =
                client.later("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1").replace("\"nodes\":[\"a\"],", "\"deadline_ms\":50,"));
        assertEquals(List.of("a", "b"), controller.next(MigrationRequested.class).event().nodes());
        assertEquals(202, asked.join().status());
    }

    @Test
    void aDeclinedMigrationReportsAllFindings() {
        CompletableFuture<Reply> asked = client.later("POST", "/v1/migrations", COPY_OF_THREE.formatted("m1"));
        ScriptedController.Asked<MigrationRequested> event = controller.next(MigrationRequested.class);
        controller.commit(() -> controller.fact(
                new MigrationDeclined(controller.envelope("migration/m1", event.cause()), List.of("no route", "no group"))));
        Reply reply = client.checked("POST", "/v1/migrations", asked.join());
        assertEquals(422, reply.status());
        assertEquals("no route; no group", reply.body().path("detail").asText());
        assertEquals(2, reply.body().path("errors").size());
    }

    @Test
    void aMigrationIsCancelledOrItIsTooLate() {
        assertEquals("migration-unknown", client.ask("DELETE", "/v1/migrations/m1", "").problem());
        controller.commit(() -> answered("m1", World.order(1, 2, 3)));
        awaitState("m1", "RUNNING");

        CompletableFuture<Reply> cancel = client.later("DELETE", "/v1/migrations/m1", "");
        controller.next(MigrationCancelRequested.class);
        controller.commit(() -> state("m1", MigrationState.CANCELLING));
        Reply cancelled = client.checked("DELETE", "/v1/migrations/m1", cancel.join());
        assertEquals(202, cancelled.status());
        assertEquals("CANCELLING", cancelled.body().path("state").asText());
        assertEquals(202, client.ask("DELETE", "/v1/migrations/m1", "").status());
        assertEquals(0, controller.waiting(MigrationCancelRequested.class));

        controller.commit(() -> state("m1", MigrationState.CANCELLED));
        awaitState("m1", "CANCELLED");
        Reply late = client.ask("DELETE", "/v1/migrations/m1", "");
        assertEquals(409, late.status());
        assertEquals("too-late", late.problem());
    }

    @Test
    void aCancelThatLosesTheRaceIsTooLate() {
        controller.commit(() -> answered("m1", World.order(1, 2, 3)));
        awaitState("m1", "RUNNING");
        CompletableFuture<Reply> cancel = client.later("DELETE", "/v1/migrations/m1", "");
        ScriptedController.Asked<MigrationCancelRequested> event = controller.next(MigrationCancelRequested.class);
        controller.commit(() -> controller.fact(new InputRefused(
                controller.envelope("migration/m1", event.cause()), "MigrationCancelRequested", RefusalReason.TOO_LATE, "it is DONE")));
        assertEquals("too-late", cancel.join().problem());
    }

    @Test
    void aNodeDrainsAndServesAgain() {
        CompletableFuture<Reply> asked = client.later("POST", "/v1/nodes/b/drain", "{\"id\":\"d1\"}");
        NodeDrainRequested event = controller.next(NodeDrainRequested.class).event();
        assertTrue(event.drain());
        assertEquals("d1", event.request());
        controller.commit(() -> controller.row(Rows.NODES, World.nodeKey("b"), World.node(true, World.shares(true, "d1"))));
        Reply drained = client.checked("POST", "/v1/nodes/b/drain", asked.join());
        assertEquals(200, drained.status());
        assertTrue(drained.body().path("draining").asBoolean());

        // The same request again is not put on the log again.
        assertEquals(200, client.ask("POST", "/v1/nodes/b/drain", "{\"id\":\"d1\"}").status());
        assertEquals(0, controller.waiting(NodeDrainRequested.class));

        CompletableFuture<Reply> back = client.later("DELETE", "/v1/nodes/b/drain", "{\"instance\":\"engine-0\",\"id\":\"d2\"}");
        ScriptedController.Asked<NodeDrainRequested> second = controller.next(NodeDrainRequested.class);
        assertFalse(second.event().drain());
        assertEquals("engine-0", second.event().instance());
        controller.commit(() -> controller.fact(new InputRefused(
                controller.envelope("node/b", second.cause()), "NodeDrainRequested", RefusalReason.MIGRATION_INVALID, "no instances")));
        Reply refused = client.checked("DELETE", "/v1/nodes/b/drain", back.join());
        assertEquals(422, refused.status());
        assertEquals("MIGRATION_INVALID: no instances", refused.body().path("detail").asText());
        assertEquals("node-unknown", client.ask("POST", "/v1/nodes/missing/drain", "").problem());
        assertEquals("node-unknown", client.ask("POST", "/v1/nodes/no%2Fbody/drain", "").problem());
    }

    @Test
    void marksAreClearedAndCounted() {
        CompletableFuture<Reply> asked = client.later("DELETE", "/v1/marks",
                "{\"node\":\"a\",\"id\":\"c1\",\"blocks\":[{\"namespace\":\"chat/1\",\"key\":\"0000000000000001\"}]}");
        ScriptedController.Asked<MarksClearRequested> event = controller.next(MarksClearRequested.class);
        assertEquals(List.of(World.block(1)), event.event().blocks());
        // The facts of an earlier input are not about it.
        controller.commit(() -> {
            controller.tickAfter("node/a", event.offset() - 1);
            answered("m9", World.order(1, 2, 3));
        });
        awaitState("m9", "RUNNING");
        assertFalse(asked.isDone());
        controller.commit(() -> {
            controller.fact(cleared(event.cause(), 1, 2));
            controller.fact(cleared("node/a@" + (event.offset() + 7), 3));
        });
        Reply reply = client.checked("DELETE", "/v1/marks", asked.join());
        assertEquals(200, reply.status());
        assertEquals(2, reply.body().path("cleared").asInt());

        // Nothing was marked: there is no fact, but a later tick shows that the request was decided.
        CompletableFuture<Reply> nothing = client.later("DELETE", "/v1/marks", "{\"node\":\"a\"}");
        ScriptedController.Asked<MarksClearRequested> second = controller.next(MarksClearRequested.class);
        assertEquals(List.of(), second.event().blocks());
        controller.commit(() -> controller.tickAfter("node/a", second.offset()));
        assertEquals(0, nothing.join().body().path("cleared").asInt(-1));
        Reply late = client.checked("DELETE", "/v1/marks", client.ask("DELETE", "/v1/marks", "{\"node\":\"a\",\"deadline_ms\":0}"));
        assertEquals(202, late.status());
        assertFalse(late.body().path("done").asBoolean(true));
        controller.next(MarksClearRequested.class);
    }

    /** One request clears 1,000 marks at most: the API repeats it until one clears fewer. */
    @Test
    void allMarksAreClearedHoweverMany() {
        CompletableFuture<Reply> asked = client.later("DELETE", "/v1/marks", "{\"node\":\"a\",\"id\":\"all\"}");
        for (int round = 0; round < 2; round++) {
            ScriptedController.Asked<MarksClearRequested> event = controller.next(MarksClearRequested.class);
            assertEquals(List.of(), event.event().blocks());
            assertEquals("all", event.event().request());
            assertFalse(asked.isDone());
            controller.commit(() -> {
                controller.fact(cleared(event.cause(), new int[600]));
                controller.fact(cleared(event.cause(), new int[400]));
                controller.tickAfter("node/a", event.offset());
            });
        }
        ScriptedController.Asked<MarksClearRequested> last = controller.next(MarksClearRequested.class);
        controller.commit(() -> {
            controller.fact(cleared(last.cause(), new int[999]));
            controller.tickAfter("node/a", last.offset());
        });
        Reply reply = client.checked("DELETE", "/v1/marks", asked.join());
        assertEquals(List.of(200, 2_999, true),
                List.of(reply.status(), reply.body().path("cleared").asInt(), reply.body().path("done").asBoolean()));
        assertEquals(0, controller.waiting(MarksClearRequested.class));
    }

    /** The deadline passes between two rounds: the response has the cleared marks, and that more may be left. */
    @Test
    void marksLeftAtTheDeadlineAreReported() {
        CompletableFuture<Reply> asked = client.later("DELETE", "/v1/marks", "{\"node\":\"a\",\"deadline_ms\":3000}");
        ScriptedController.Asked<MarksClearRequested> event = controller.next(MarksClearRequested.class);
        controller.commit(() -> {
            controller.fact(cleared(event.cause(), new int[1_000]));
            controller.tickAfter("node/a", event.offset());
        });
        controller.next(MarksClearRequested.class);
        Reply reply = client.checked("DELETE", "/v1/marks", asked.join());
        assertEquals(List.of(202, 1_000, false),
                List.of(reply.status(), reply.body().path("cleared").asInt(), reply.body().path("done").asBoolean()));
    }

    @Test
    void listsAreReadPageByPage() {
        controller.commit(() -> {
            for (int i = 0; i < 5; i++) {
                MigrationRow row = World.migration(MigrationState.DONE, World.sample(), World.part("a", null));
                controller.row(Rows.MIGRATIONS, World.migrationKey("m" + i),
                        new MigrationRow(row.state(), row.order(), row.parts(), World.TIME_MS + i / 2, row.endedMs(), row.request()));
                controller.row(Rows.MARKS, World.markKey("a", i % 2 == 0 ? "chat/1" : "batch/1", i), World.mark(i % 2 == 0 ? "chat/1" : "batch/1"));
                controller.row(Rows.MARKS, World.markKey("b", "chat/1", i), World.mark("chat/1"));
            }
        });
        TestLog.await("all marks", () -> client.get("/v1/marks").body().path("marks").size() == 10);

        assertEquals(List.of("m4", "m2", "m3", "m0", "m1"), pages("/v1/migrations?limit=2", "migrations", "id"));
        assertEquals(10, pages("/v1/marks?limit=3", "marks", "key").size());
        List<String> ofA = pages("/v1/marks?limit=2&node=a&group=chat", "marks", "key");
        assertEquals(List.of(0, 2, 4).stream().map(i -> World.key(i).hex()).toList(), ofA);
        assertEquals(List.of("a", "b"), pages("/v1/nodes?limit=1", "nodes", "node"));
        assertEquals("node-unknown", client.get("/v1/marks?node=missing").problem());
        assertEquals("invalid-request", client.get("/v1/marks?after=bm90aGluZw").problem());
    }

    @Test
    void groupsAreHeldAgainstTheirQuotas() {
        JsonNode group = client.get("/v1/groups").body().path("groups").get(0);
        assertEquals("chat", group.path("group").asText());
        assertEquals("[\"chat/1\"]", group.path("namespaces").toString());
        // Node a has 8 blocks of 100 bytes on the host, 2 of them leaving, of a quota of 1,000 bytes; node b has none of another 1,000.
        JsonNode host = group.path("tiers").get(0);
        assertEquals(800, host.path("used_bytes").asInt());
        assertEquals(200, host.path("leaving_bytes").asInt());
        assertEquals(2_000, host.path("quota_bytes").asInt());
        assertEquals(0.3, host.path("share").asDouble(), 1e-9);
        JsonNode onA = group.path("nodes").get(0).path("tiers").get(0);
        assertEquals(1_000, onA.path("quota_bytes").asInt());
        assertEquals(0.6, onA.path("share").asDouble(), 1e-9);
        assertEquals(2_000, group.path("nodes").get(0).path("tiers").get(1).path("quota_bytes").asInt());

        controller.commit(() -> controller.row(Rows.NODES, World.nodeKey("b"), World.node(false, null)));
        TestLog.await("the end of b", () -> client.get("/v1/groups").body().path("groups").get(0).path("nodes").size() == 1);
    }

    /** The rows have version 3, with a batch of 256 blocks and a back-up. */
    @Test
    void aPolicyIsComparedFirstAndThenApplied() {
        String document = "back_up: false\\ntiers: {disk: {capacity: 1GiB}}\\n";
        Reply dry = client.ask("POST", "/v1/policy", "{\"dry_run\":true,\"document\":\"" + document + "\"}");
        assertEquals(200, dry.status(), dry.body().toString());
        assertTrue(dry.body().path("version").isNull());
        assertTrue(dry.body().path("changes").findValuesAsText("path").contains("back_up"), dry.body().toString());
        assertEquals(0, controller.waiting(PolicyChangeRequested.class), "a dry run appends nothing");

        CompletableFuture<Reply> asked = client.later("POST", "/v1/policy", "{\"based_on\":3,\"document\":\"" + document + "\"}");
        ScriptedController.Asked<PolicyChangeRequested> event = controller.next(PolicyChangeRequested.class);
        assertEquals(List.of("policy", 3L, false),
                List.of(event.event().envelope().aggregate(), event.event().basedOnVersion(), event.event().policy().backUp()));
        controller.commit(() -> {
            controller.row(Rows.POLICY, new RowKey.Aggregate("policy"), new PolicyRow(4, event.event().policy()));
            controller.fact(new PolicyVersioned(controller.envelope("policy", event.cause()), 4, event.event().policy()));
        });
        Reply applied = asked.join();
        assertEquals(200, applied.status(), applied.body().toString());
        assertEquals(4, applied.body().path("version").asLong());
    }

    @Test
    void aPolicyThatIsInvalidIsNotSentAndAStaleOneIsRefused() {
        Reply invalid = client.ask("POST", "/v1/policy", "{\"document\":\"back_up: 3\\nlease: soon\\n\"}");
        assertEquals(400, invalid.status());
        assertEquals(List.of("back_up", "lease"), invalid.body().path("errors").findValuesAsText("field"));
        assertEquals(400, client.ask("POST", "/v1/policy", "{\"document\":\"lease: [1\"}").status());
        assertEquals(400, client.ask("POST", "/v1/policy", "{\"dry_run\":true}").status());
        Reply old = client.ask("POST", "/v1/policy", "{\"dry_run\":true,\"based_on\":2,\"document\":\"back_up: false\"}");
        assertEquals(422, old.status(), "a difference to a version that is not in force");
        assertTrue(old.body().path("detail").asText().startsWith("STALE_POLICY: version 3"), old.body().toString());
        assertEquals(0, controller.waiting(PolicyChangeRequested.class));

        CompletableFuture<Reply> asked = client.later("POST", "/v1/policy", "{\"based_on\":2,\"document\":\"back_up: false\"}");
        String cause = controller.next(PolicyChangeRequested.class).cause();
        controller.commit(() -> controller.fact(
                new PolicyRefused(controller.envelope("policy", cause), RefusalReason.STALE_POLICY, List.of("version 3 is in force"))));
        Reply stale = asked.join();
        assertEquals(422, stale.status());
        assertTrue(stale.body().path("detail").asText().startsWith("STALE_POLICY: version 3"), stale.body().toString());
        assertEquals(202, client.ask("POST", "/v1/policy", "{\"deadline_ms\":0,\"document\":\"back_up: false\"}").status());
    }

    @Test
    void everyFieldThatIsServedIsDescribedAndTheOtherWayRound() {
        Reply document = client.send("GET", "/v1/openapi.json", "");
        assertEquals(OperatorRoutes.openApi(), document.body());
        controller.commit(() -> {
            answered("m1", World.order(1, 2, 3));
            controller.row(Rows.MIGRATIONS, World.migrationKey("m2"),
                    World.migration(MigrationState.DONE, World.sample(), World.part("a", World.answer(World.order(1, 2, 3).blocks()))));
            controller.row(Rows.MARKS, World.markKey("a", "chat/1", 1), World.mark("chat/1"));
            controller.row(Rows.MARKS, World.markKey("a", "chat/1", 2), World.mark("chat/1"));
        });
        awaitState("m2", "DONE");
        client.get("/v1/migrations/m1");
        client.get("/v1/migrations");
        client.get("/v1/migrations?limit=1");
        client.get("/v1/marks?limit=1");
        client.get("/v1/nodes?limit=1");
        client.get("/v1/nodes/a");
        client.get("/v1/groups");
        client.get("/v1/policy");
        client.ask("POST", "/v1/migrations", COPY_OF_THREE.formatted("m3").replaceFirst("\\{", "{\"deadline_ms\":0,"));
        client.ask("DELETE", "/v1/marks", "{\"node\":\"a\",\"deadline_ms\":0}");
        client.ask("DELETE", "/v1/migrations/m1", "{\"deadline_ms\":0}");
        client.ask("POST", "/v1/nodes/a/drain", "{\"deadline_ms\":0}");
        client.ask("POST", "/v1/migrations", "{}");
        CompletableFuture<Reply> policy = client.later("POST", "/v1/policy", "{\"document\":\"back_up: false\\ntiers: {disk: {capacity: 1GiB}}\"}");
        ScriptedController.Asked<PolicyChangeRequested> change = controller.next(PolicyChangeRequested.class);
        controller.commit(() -> {
            controller.row(Rows.POLICY, new RowKey.Aggregate("policy"), new PolicyRow(4, change.event().policy()));
            controller.fact(new PolicyVersioned(controller.envelope("policy", change.cause()), 4, change.event().policy()));
        });
        Reply changed = policy.join();
        client.check.answer("POST", "/v1/policy", changed.status(), changed.mediaType(), changed.body());

        List<String> never = new ArrayList<>();
        client.check.document().path("components").path("schemas").fieldNames().forEachRemaining(schema -> {
            if (!schema.endsWith("Request")) {
                never.addAll(client.check.neverSeen(schema));
            }
        });
        assertEquals(List.of(), never);
    }

    private void open(String id, MigrationOrder order) {
        controller.row(Rows.MIGRATIONS, World.migrationKey(id), World.migration(MigrationState.SUBMITTED, order, World.part("a", null)));
    }

    private void answered(String id, MigrationOrder order) {
        controller.row(Rows.MIGRATIONS, World.migrationKey(id),
                World.migration(MigrationState.RUNNING, order, World.part("a", World.answer(order.blocks()))));
    }

    private void state(String id, MigrationState state) {
        controller.row(Rows.MIGRATIONS, World.migrationKey(id),
                World.migration(state, World.order(1, 2, 3), World.part("a", World.answer(World.order(1, 2, 3).blocks()))));
    }

    private MarkCleared cleared(String cause, int... numbers) {
        return new MarkCleared(controller.envelope("node/a", cause), Tier.DISK, "chat/1",
                Arrays.stream(numbers).mapToObj(World::key).toList(), MarkClearReason.OPERATOR);
    }

    private JsonNode awaitState(String id, String state) {
        String path = "/v1/migrations/" + id;
        TestLog.await(id + " to be " + state, () -> client.get(path).body().path("state").asText().equals(state));
        return client.get(path).body();
    }

    /** One field of all rows of a list, page after page. */
    private List<String> pages(String first, String list, String field) {
        List<String> found = new ArrayList<>();
        String path = first;
        for (int page = 0; page < 20; page++) {
            JsonNode body = client.get(path).body();
            body.path(list).forEach(row -> found.add(row.path(field).asText()));
            if (body.path("next").isNull()) {
                return found;
            }
            path = first + "&after=" + body.path("next").asText();
        }
        throw new AssertionError("the pages of " + first + " have no end");
    }
}
