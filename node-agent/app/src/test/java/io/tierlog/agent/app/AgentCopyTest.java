/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static io.tierlog.agent.app.EngineMessages.page;
import static io.tierlog.agent.app.EngineMessages.submit;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.RequestFinished;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies to colder tiers by a whole agent with real files, whose host has no blocks: all bytes go through its own pages. Blocks of 4,096 bytes and 2
 * tokens.
 */
class AgentCopyTest {
    private static final int BLOCK = 4_096;
    private static final int PAGES = 16;
    private static final Topics TOPICS = new Topics("copies");

    @TempDir
    Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : opened.reversed()) {
            closeable.close();
        }
    }

    @Test
    void whatTheDeviceHasComesToTheDiskAndFromThereToTheStoreThroughAHostOfNoBlocks() throws Exception {
        KafkaAccess access = broker(opened, directory, TOPICS);
        ScriptedController controller = opened(new ScriptedController(access, TOPICS));
        AgentConfig config = AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store"))
                .with(LogOptions.TOPIC_PREFIX, TOPICS.prefix())
                .with(AgentOptions.HOST, "0blocks")
                .with(AgentOptions.BYTES_PER_BLOCK, BLOCK + "B")
                .with(AgentOptions.BLOCK_TOKENS, 2)
                .with(Map.of(AgentOptions.DISK, directory.resolve("disk"), AgentOptions.DISK_SIZE, "16blocks"))
                .with(AgentConfig.Tuning.DEFAULTS.with(AgentLimits.defaults().withBounceBlocks(3)));
        AgentApp agent = opened(AgentApp.start(config));
        AgentRegistering asked = controller.await(AgentRegistering.class);
        assertEquals(List.of(new TierCapacity(Tier.HOST, 0, BLOCK), new TierCapacity(Tier.DISK, 16, BLOCK)), asked.tiers());
        assertEquals("3", asked.configuration().get("limit.core.bounce.blocks"));
        controller.accept(asked, 1);
        Eventually.await("the agent is on the log", () -> agent.status().onTheLog());
        TestEngine engine = opened(new TestEngine(agent.enginePort()));
        seal(directory, engine, controller);

        // Device to disk: blocks 4 to 0 of device pages 8 to 4.
        List<PagedBlock> sealed = IntStream.rangeClosed(0, 4)
                .mapToObj(i -> new PagedBlock(ScriptedController.block(4 - i), 8 - i, 1, 0)).toList();
        controller.command("a", new CopyBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "down", Tier.DEVICE, Tier.DISK, AgentAppTest.NAMESPACE, sealed,
                new CopyOrigin("r1", 1, ScriptedController.key(0))));
        CopyDone down = controller.await(CopyDone.class);
        assertEquals(List.of(8, 7, 6, 5, 4), engine.notice().getReleased().getPagesList());
        assertResults(down, Tier.DEVICE);
        assertEquals(5, agent.diskStatus().orElseThrow().blocks());

        // Disk to store.
        controller.command("a", new CopyBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "out", Tier.DISK, Tier.STORE, AgentAppTest.NAMESPACE, copies(down),
                new CopyOrigin("", 0, ScriptedController.key(0))));
        CopyDone out = controller.await(CopyDone.class, end -> end.operation().equals("out"));
        assertResults(out, Tier.DISK);
        assertTrue(out.durationMicros() >= 0 && out.movedBytes() == 5 * BLOCK, out::toString);
        assertEquals(5, controller.await(BlocksStored.class).blocks().size());
        DirectoryStore store = DirectoryStore.open(directory.resolve("store"), DirectoryStore.Options.DEFAULTS);
        for (int i = 0; i < 5; i++) {
            ByteBuffer stored = ByteBuffer.allocateDirect(BLOCK);
            assertEquals(
                    BlockStatus.ARRIVED,
                    store.read(new ObjectName(ObjectName.digest(AgentAppTest.NAMESPACE), ScriptedController.key(i)), stored).status());
            byte[] bytes = new byte[BLOCK];
            stored.get(0, bytes);
            assertArrayEquals(content(i), bytes, "block " + i);
        }

        // What the store has the disk lets go.
        controller.command("a", new DropBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "drop", Tier.DISK, AgentAppTest.NAMESPACE,
                copies(down).subList(0, 2), Tier.STORE));
        assertTrue(controller.await(DropDone.class).blocks().stream().allMatch(block -> block.status() == BlockStatus.GONE));
        assertEquals(10, agent.status().count(AgentCounter.BOUNCED_BLOCKS));
        assertEquals(new AgentStatus.Bounce(3, 3, 0), agent.status().bounce());
        engine.leave();
        agent.close();

        // The rest is still there after a restart, as the log records.
        AgentApp second = opened(AgentApp.start(config));
        controller.accept(controller.await(AgentRegistering.class, again -> asked.processId().equals(again.replaces())), 2);
        assertEquals(
                copies(down).subList(2, 5).reversed(),
                controller.await(BlocksRecovered.class).blocks());
        assertFalse(second.status().count(AgentCounter.DISK_COPIES_GIVEN_UP) > 0);
    }

    private static void assertResults(CopyDone done, Tier source) {
        assertEquals(
                IntStream.rangeClosed(0, 4).mapToObj(i -> List.of(4 - i, crc(4 - i))).toList(),
                done.blocks().stream().map(block -> List.of(block.block().index(), block.crc32c())).toList());
        assertTrue(
                done.blocks().stream().allMatch(
                        block -> block.status() == BlockStatus.ARRIVED && block.page() == -1 && block.source() == source),
                done::toString);
    }

    private static List<PagedBlock> copies(CopyDone done) {
        return done.blocks().stream()
                .map((BlockResult block) -> new PagedBlock(block.block(), -1, block.generation(), block.crc32c()))
                .toList();
    }

    /** The engine computes the 5 blocks of the prompt into pages 4 to 8, seals and finishes. */
    static String seal(Path directory, TestEngine engine, ScriptedController controller) throws IOException {
        String session = engine.open("gpu0");
        ByteBuffer device = ByteBuffer.allocate(PAGES * BLOCK);
        for (int i = 0; i < 5; i++) {
            device.put((4 + i) * BLOCK, content(i));
        }
        Path file = Files.write(directory.resolve("device"), device.array());
        engine.calls().registerBuffers(RegisterBuffersRequest.newBuilder()
                .setSession(session)
                .setSharedMemoryPath(file.toString())
                .setPages(PAGES)
                .setBlockBytes(BLOCK)
                .setLayoutDigest(TestEngine.bytes(Layouts.layoutDigest(Layouts.opaque(BLOCK, 2))))
                .build());
        assertFalse(engine.calls().submit(submit(session, "r1", 5)).hasWaiting(), "there is nothing below");
        engine.calls().prefilled(PrefilledRequest.newBuilder().setSession(session).setRequest("r1").setAttempt(1).setComputedBlocks(5).build());
        SealedRequest.Builder sealed = SealedRequest.newBuilder().setSession(session).setRequest("r1").setAttempt(1)
                .setNamespace(AgentAppTest.NAMESPACE).setRoot(TestEngine.bytes(ScriptedController.key(0)));
        IntStream.range(0, 5).forEach(i -> sealed.addBlocks(page(i, 4 + i)));
        engine.calls().sealed(sealed.build());
        engine.calls().finish(FinishRequest.newBuilder().setSession(session).setRequest("r1").setAttempt(1)
                .setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).setGeneratedTokens(1).build());
        controller.await(RequestFinished.class);
        return session;
    }

    /** A broker with a log on it, to be closed with the rest. */
    static KafkaAccess broker(List<AutoCloseable> opened, Path directory, Topics topics) {
        EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker")));
        opened.add(kafka);
        KafkaAccess access = KafkaAccess.of(kafka.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(topics, 4, 1);
        }
        return access;
    }

    private <T extends AutoCloseable> T opened(T closeable) {
        opened.add(closeable);
        return closeable;
    }

    private static byte[] content(int index) {
        byte[] bytes = new byte[BLOCK];
        new Random(index).nextBytes(bytes);
        return bytes;
    }

    private static int crc(int index) {
        return Checksums.crc32c(content(index), 0, BLOCK);
    }
}
