/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.app.log.EventBuffer;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.controller.http.HealthLog;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.SubmitReply;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.threads.LoggedLines;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An agent whose brokers are away for longer than its buffer lasts: it goes on, and is there under a new incarnation when they are back. */
@Tag("slow")
@Timeout(600)
class AgentOutageTest {
    private static final Topics TOPICS = new Topics("outage");

    @TempDir
    Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : opened.reversed()) {
            closeable.close();
        }
    }

    private <T extends AutoCloseable> T opened(T closeable) {
        opened.add(closeable);
        return closeable;
    }

    /** With a buffer for few events, and with one whose events cannot wait for long. */
    @ParameterizedTest
    @CsvSource({"12, 900", "20000, 15"})
    void anAgentThatLostTheLogGoesOnAndReportsWhatItHolds(int records, int deliveryS) throws Exception {
        EmbeddedKafkaConfig broker = EmbeddedKafkaConfig.of(directory.resolve("broker"));
        EmbeddedKafka kafka = EmbeddedKafka.start(broker);
        KafkaAccess access = KafkaAccess.of(kafka.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(TOPICS, 4, 1);
        }
        ScriptedController before = new ScriptedController(access, TOPICS);
        AgentApp agent = opened(AgentApp.start(AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store"))
                .with(LogOptions.TOPIC_PREFIX, TOPICS.prefix())
                .with(Map.of(AgentOptions.HOST, "16blocks", AgentOptions.BYTES_PER_BLOCK, "4096B", AgentOptions.BLOCK_TOKENS, 2,
                        AgentOptions.STATUS_LISTEN, "127.0.0.1:0"))
                .with(AgentConfig.Tuning.DEFAULTS.with(new EventBuffer(records, 1 << 20, Duration.ofSeconds(deliveryS))))));
        AgentRegistering asked = before.await(AgentRegistering.class);
        before.accept(asked, 1);
        Eventually.await("the agent is on the log", () -> agent.status().onTheLog());
        TestEngine engine = opened(new TestEngine(agent.enginePort()));
        String session = AgentCopyTest.seal(directory, engine, before);
        List<PagedBlock> sealed = IntStream.range(0, 5).mapToObj(i -> new PagedBlock(ScriptedController.block(i), 4 + i, 1, 0)).toList();
        before.command("a", new io.tierlog.schemas.command.WriteBackBlocks(ScriptedController.envelope("a", 1), before.header(), "op1", "r1", 1,
                AgentAppTest.NAMESPACE, ScriptedController.key(0), sealed, 10_000));
        List<BlockResult> written = before.await(WriteBackDone.class).blocks();
        assertTrue(engine.notice().hasReleased());
        LoggedLines parts = opened(new LoggedLines(HealthLog.class));
        LoggedLines lines = opened(new LoggedLines(AgentApp.class));
        before.close();
        kafka.close();

        int submitted = 0;
        boolean full = false;
        long end = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        while (agent.status().onTheLog()) {
            assertTrue(System.nanoTime() < end, () -> agent.unacknowledgedEvents() + " events wait, and the agent still speaks for its incarnation");
            if (submitted < 6 && !full) {
                try {
                    assertEquals(5, offered(engine, session, "away-" + submitted++).getSourcesCount());
                } catch (StatusRuntimeException e) {
                    assertEquals(Status.Code.RESOURCE_EXHAUSTED, e.getStatus().getCode());
                    full = true; // with few events the buffer may be full before the brokers count as silent
                }
            }
            LockSupport.parkNanos(100_000_000);
        }
        assertEquals(1, agent.status().count(AgentCounter.REJOINED));
        Eventually.await("events is named, of this process or of the one that waits to register", () -> parts.with("events is ") >= 1);
        StatusReader.awaitPart(agent, "registration", "DEGRADED");
        StatusReader.awaitMetric(agent, "tierlog_agent_rejoined_total 1.0");
        assertEquals(1, lines.with("it registers again, as another process, when the brokers answer"), lines::toString);
        Eventually.await("what waited is abandoned", () -> agent.unacknowledgedEvents() == 0);
        for (int i = 0; i < 20; i++) { // more than the buffer of few events has space for
            assertEquals(5, offered(engine, session, "lost-" + i).getSourcesCount(), "the engine is served from the host");
        }

        opened(EmbeddedKafka.start(broker.withPort(kafka.port())));
        ScriptedController after = opened(new ScriptedController(access, TOPICS));
        AgentRegistering again = after.await(AgentRegistering.class, e -> !e.processId().equals(asked.processId()));
        assertEquals(asked.processId(), again.replaces(), "the controller need not wait for the process that it knows");
        assertEquals(List.of(0L, 1L), List.of(again.envelope().incarnation(), again.envelope().sequence()));
        assertNotEquals(asked.envelope().sender(), again.envelope().sender());
        after.accept(again, 2);
        BlocksRecovered held = after.await(BlocksRecovered.class, e -> e.envelope().incarnation() == 2);
        assertEquals(written.stream().map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c())).toList(), held.blocks());
        assertEquals(5, offered(engine, session, "after").getSourcesCount());
        after.await(RequestSubmitted.class, e -> e.request().equals("after") && e.envelope().incarnation() == 2);
        assertFalse(after.events().stream().anyMatch(e -> e.envelope().sender().equals(again.envelope().sender())
                && e instanceof RequestSubmitted request && !request.request().equals("after")),
                "what was abandoned is not reported by another process");
        assertNull(engine.streamEnd(), "its engine keeps its session");
    }

    private static Offer offered(TestEngine engine, String session, String request) {
        SubmitReply response = engine.calls().submit(EngineMessages.submit(session, request, 5));
        assertTrue(response.hasOffer(), response::toString);
        return response.getOffer();
    }
}
