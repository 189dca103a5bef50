/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The operator API of a running controller shows committed state, on every instance, before and after a restart. */
@Tag("slow")
class CommittedAnswersTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path state;

    @Test
    void responsesAreCommittedStateAlsoAfterARestartAndOnEveryInstance() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2)) {
            ControllerConfig first = log.controller(state.resolve("1")).api(ApiConfig.loopback(0)).build();
            JsonNode before;
            try (ControllerApp app = ControllerApp.start(first);
                    ObedientNode _ = new ObedientNode(log, withBlocks(log, "a", 3))) {
                TestLog.await("3 blocks on the host", () -> usedOnHost(app, "a") == 3);
                before = get(app, "/v1/nodes/a");
                assertEquals("3072", before.path("tiers").get(1).path("used_bytes").asText());
                assertEquals(FakeAgent.NAMESPACE, before.path("namespaces").get(0).path("namespace").asText());
                assertEquals("engine-0", before.path("engines").get(0).path("instance").asText());
                assertEquals(0, get(app, "/v1/policy").path("version").asInt(-1));
                assertEquals(256, get(app, "/v1/policy").path("policy").path("relief_batch_blocks").asInt());
                assertEquals(404, status(app, "/v1/nodes/b"));
            }
            try (ControllerApp again = ControllerApp.start(first);
                    ControllerApp second = ControllerApp.start(log.controller(state.resolve("2")).api(ApiConfig.loopback(0)).build())) {
                TestLog.await("both APIs", () -> usedOnHost(again, "a") == 3 && usedOnHost(second, "a") == 3);
                assertEquals(before.path("namespaces"), get(second, "/v1/nodes/a").path("namespaces"));
                long asOf = get(second, "/v1/nodes").path("as_of_ms").asLong();
                TestLog.await("time to go on", () -> get(second, "/v1/nodes").path("as_of_ms").asLong() > asOf);
                // A list is of its oldest partition, which ticks seldom where no node lives.
                assertTrue(before.path("as_of_ms").asLong() <= get(second, "/v1/nodes/a").path("as_of_ms").asLong());
            }
        }
    }

    /** A node with a disk and that many blocks of one prompt on its host. */
    static FakeAgent withBlocks(TestLog log, String node, int blocks) {
        FakeAgent agent = new FakeAgent(node, "p1", 1_000, 1_000);
        try (LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(agent.registering());
            TestLog.await("the registration", () -> decisions.of(AgentAccepted.class).stream().anyMatch(fact -> fact.node().equals(node)));
        }
        agent.accepted(1);
        log.append(agent.attached());
        FakeAgent.Prompt prompt = new FakeAgent.Prompt(1, blocks);
        log.append(agent.writeBackDone("elsewhere/1", IntStream.range(0, blocks).mapToObj(prompt::block).toList()));
        return agent;
    }

    private static long usedOnHost(ControllerApp app, String node) {
        for (JsonNode tier : get(app, "/v1/nodes/" + node).path("tiers")) {
            if (tier.path("tier").asText().equals("HOST")) {
                return tier.path("used_blocks").asLong();
            }
        }
        return -1;
    }

    private static int status(ControllerApp app, String path) {
        return send(app, path).statusCode();
    }

    static JsonNode get(ControllerApp app, String path) {
        try {
            return JSON.readTree(send(app, path).body());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static HttpResponse<String> send(ControllerApp app, String path) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + app.apiPort() + path);
            return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
