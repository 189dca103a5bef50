/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.agent.app.log.CommandSource;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.threads.LoggedLines;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An agent with the keys of its node, on a real broker: decisions and commands without a right code do nothing. */
class ForgedCommandsTest {
    private static final Topics TOPICS = new Topics("forged");

    @TempDir
    Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : opened.reversed()) {
            closeable.close();
        }
    }

    private Path file(List<String> lines) throws Exception {
        Path file = Files.createTempFile(directory, "keys", "", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.write(file, lines);
    }

    private ScriptedController controller(KafkaAccess access) {
        ScriptedController controller = new ScriptedController(access, TOPICS);
        opened.add(controller);
        return controller;
    }

    @Test
    void onlyACommandOfTheControllerIsRun() throws Exception {
        KafkaAccess access = AgentCopyTest.broker(opened, directory, TOPICS);
        RecordKeys master = RecordKeys.read(file(List.of("k1 " + "01".repeat(32))));
        ScriptedController forger = controller(access);
        ScriptedController controller = controller(access.withSigning(new RecordSigning(master, TOPICS, RecordSigning.Mode.REQUIRE)));
        AgentApp agent = AgentApp.start(AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store"))
                .with(LogOptions.TOPIC_PREFIX, TOPICS.prefix())
                .with(LogOptions.RECORD_KEYS, file(master.derivedLines(KeyNames.ofNode("a"))))
                .with(Map.of(AgentOptions.HOST, "16blocks", AgentOptions.BYTES_PER_BLOCK, "4096B", AgentOptions.BLOCK_TOKENS, 2,
                        AgentOptions.STATUS_LISTEN, "127.0.0.1:0")));
        opened.add(agent);
        AgentRegistering asked = controller.await(AgentRegistering.class);
        forger.accept(asked, 7);
        controller.accept(asked, 1);
        Eventually.await("the agent is on the log", () -> agent.status().onTheLog());
        assertEquals(1, agent.status().incarnation());

        // It would end the process: a later incarnation is there.
        FenceAgent fence = new FenceAgent(ScriptedController.envelope("a", 1), new CommandHeader("node/a@1.9", 0), 5);
        try (LoggedLines lines = new LoggedLines(CommandSource.class)) {
            forger.command("a", fence);
            Eventually.await("the refusal", () -> agent.forgedCommands() == 1);
            StatusReader.awaitPart(agent, "records", "DEGRADED");
            StatusReader.awaitMetric(agent, "tierlog_agent_commands_forged_total 1.0");
            assertEquals(1, lines.with("is refused, no controller with our keys wrote it"), lines::toString);
        }
        assertFalse(agent.ended().toCompletableFuture().isDone());
        controller.command("a", fence);
        assertEquals(AgentEnd.Kind.FENCED, agent.ended().toCompletableFuture().get(60, TimeUnit.SECONDS).kind());
        assertEquals(1, agent.forgedCommands());
    }
}
