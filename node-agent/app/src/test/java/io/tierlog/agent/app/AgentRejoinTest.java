/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.engine.v1.Offer;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.threads.LoggedLines;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An agent that the controller declared lost, as one that was stopped for longer than its node timeout: the process goes on. */
@Tag("slow")
class AgentRejoinTest {
    private static final Topics TOPICS = new Topics("rejoin");

    @TempDir
    Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : opened.reversed()) {
            closeable.close();
        }
    }

    private static FenceAgent lost(long incarnation) {
        return new FenceAgent(ScriptedController.envelope("a", incarnation), new CommandHeader("node/a@" + incarnation + ".9", 0), 0);
    }

    @Test
    void itRegistersAgainReportsItsHostAndKeepsItsEngines() throws Exception {
        KafkaAccess access = AgentCopyTest.broker(opened, directory, TOPICS);
        ScriptedController controller = new ScriptedController(access, TOPICS);
        opened.add(controller);
        AgentApp agent = AgentApp.start(AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store"))
                .with(LogOptions.TOPIC_PREFIX, TOPICS.prefix())
                .with(Map.of(AgentOptions.HOST, "16blocks", AgentOptions.BYTES_PER_BLOCK, "4096B", AgentOptions.BLOCK_TOKENS, 2,
                        AgentOptions.STATUS_LISTEN, "127.0.0.1:0")));
        opened.add(agent);
        LoggedLines lines = new LoggedLines(AgentApp.class);
        opened.add(lines);
        AgentRegistering asked = controller.await(AgentRegistering.class);
        controller.accept(asked, 1);
        Eventually.await("the agent is on the log", () -> agent.status().onTheLog());
        TestEngine engine = new TestEngine(agent.enginePort());
        opened.add(engine);
        String session = AgentCopyTest.seal(directory, engine, controller);
        List<PagedBlock> sealed = IntStream.range(0, 5).mapToObj(i -> new PagedBlock(ScriptedController.block(i), 4 + i, 1, 0)).toList();
        controller.command("a", new WriteBackBlocks(ScriptedController.envelope("a", 1), controller.header(), "op1", "r1", 1,
                AgentAppTest.NAMESPACE, ScriptedController.key(0), sealed, 10_000));
        List<BlockResult> written = controller.await(WriteBackDone.class).blocks();
        assertTrue(engine.notice().hasReleased());

        for (long incarnation = 1; incarnation < 4; incarnation++) {
            long next = incarnation + 1;
            int before = controller.events().size();
            controller.command("a", lost(incarnation));
            controller.command("a", lost(incarnation)); // one for each event that was refused
            AgentRegistering again = controller.await(AgentRegistering.class,
                    e -> controller.events().indexOf(e) >= before && e.processId().equals(asked.processId()));
            assertEquals(0, again.envelope().incarnation());
            StatusReader.awaitPart(agent, "registration", "DEGRADED");
            StatusReader.awaitMetric(agent, "tierlog_agent_rejoined_total " + incarnation + ".0");
            assertEquals(1, lines.with("its incarnation " + incarnation + " has ended, since the controller received nothing from it"),
                    lines::toString);
            controller.accept(again, next);
            BlocksRecovered held = controller.await(BlocksRecovered.class, e -> e.envelope().incarnation() == next);
            assertEquals(Tier.HOST, held.tier());
            assertEquals(written.stream().map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c())).toList(), held.blocks());
            assertEquals("gpu0", controller.await(EngineAttached.class, e -> e.envelope().incarnation() == next).instance());
            assertFalse(engine.hasNotice(), "its engines notice nothing");
            assertNull(engine.streamEnd());

            String request = "after-" + next;
            Offer offer = engine.calls().submit(EngineMessages.submit(session, request, 5)).getOffer();
            assertEquals(5, offer.getSourcesCount());
            controller.await(RequestSubmitted.class, e -> e.request().equals(request) && e.envelope().incarnation() == next);
        }
        controller.command("a", new FenceAgent(ScriptedController.envelope("a", 4), new CommandHeader("node/a@9.9", 0), 5));
        assertEquals(AgentEnd.Kind.FENCED, agent.ended().toCompletableFuture().get(20, java.util.concurrent.TimeUnit.SECONDS).kind());
        assertTrue(engine.notice().hasClosing());
    }

    @Test
    void commandsOfTheNextIncarnationThatComeBeforeItsAcceptanceIsReadAreRun() throws Exception {
        KafkaAccess access = AgentCopyTest.broker(opened, directory, TOPICS);
        ScriptedController controller = new ScriptedController(access, TOPICS);
        opened.add(controller);
        AgentApp agent = AgentApp.start(AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store"))
                .with(LogOptions.TOPIC_PREFIX, TOPICS.prefix())
                .with(Map.of(AgentOptions.HOST, "16blocks", AgentOptions.BYTES_PER_BLOCK, "4096B", AgentOptions.BLOCK_TOKENS, 2)));
        opened.add(agent);
        controller.accept(controller.await(AgentRegistering.class), 1);
        Eventually.await("the agent is on the log", () -> agent.status().onTheLog());
        controller.command("a", lost(1));
        Eventually.await("it has left the log", () -> !agent.status().onTheLog());
        AgentRegistering again = controller.await(AgentRegistering.class, e -> e.envelope().sequence() > 1);
        controller.command("a", new ResumeRequest(ScriptedController.envelope("a", 2), controller.header(), "none", 1,
                io.tierlog.schemas.RequestReason.BELOW_THRESHOLD));
        controller.accept(again, 2);
        assertEquals(1, controller.await(io.tierlog.schemas.event.CommandRefused.class).commandSequence());
    }
}
