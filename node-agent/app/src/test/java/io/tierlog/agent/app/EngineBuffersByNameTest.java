/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static io.tierlog.agent.app.EngineMessages.page;
import static io.tierlog.agent.app.EngineMessages.submit;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.Direction;
import io.tierlog.engine.v1.BlockReason;
import io.tierlog.engine.v1.BlockStatus;
import io.tierlog.engine.v1.ExistRequest;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.ReadRequest;
import io.tierlog.engine.v1.ReserveReply;
import io.tierlog.engine.v1.ReserveRequest;
import io.tierlog.engine.v1.SaveReply;
import io.tierlog.engine.v1.SaveRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.Whereabouts;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.SaveRequested;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What engines ask for by the names of blocks, over gRPC: 4 of 16 host pages hold blocks 0 to 3 of the prompt, which the store has too. */
class EngineBuffersByNameTest extends WarmEngineServer {
    private ExistRequest exist(int blocks) {
        return ExistRequest.newBuilder().setSession(session).setNamespace(AgentAppTest.NAMESPACE)
                .addAllKeys(submit(session, "any", blocks).getKeysList()).build();
    }

    private ReadRequest read(int first, int blocks, int page) {
        ReadRequest.Builder read = ReadRequest.newBuilder().setSession(session).setNamespace(AgentAppTest.NAMESPACE).setWaitMs(20_000);
        IntStream.range(0, blocks).forEach(i -> read.addBlocks(page(first + i, page + i)));
        return read.build();
    }

    @Test
    void whereBlocksAre() {
        EngineWorld.Held before = world.held();

        List<Whereabouts> there = engine.calls().exist(exist(6)).getBlocksList();

        assertEquals(List.of(true, true, true, true, false, false), there.stream().map(Whereabouts::getHost).toList());
        assertEquals(Whereabouts.Store.STORE_PRESENT, there.get(3).getStore());
        assertEquals(
                List.of(Whereabouts.Store.STORE_ABSENT, Whereabouts.Store.STORE_UNKNOWN),
                there.subList(4, 6).stream().map(Whereabouts::getStore).toList());
        assertFalse(there.getFirst().getDisk());
        world.assertHeld(before);
    }

    @Test
    void whatIsReservedIsLoadedInAnyPartOnce() throws Exception {
        EngineWorld.Held before = world.held();
        ReserveReply reserved = engine.calls().reserve(ReserveRequest.newBuilder().setSession(session).setNamespace(AgentAppTest.NAMESPACE)
                .addAllKeys(submit(session, "any", 4).getKeysList()).build());
        Eventually.await("all four are pinned", () -> world.use().pinCount() == before.hostPins() + 4);

        assertEquals(2, engine.calls().load(LoadRequest.newBuilder().setSession(session).setNamespace(AgentAppTest.NAMESPACE)
                .setLease(reserved.getLease()).addBlocks(page(1, 9)).addBlocks(page(2, 10)).build()).getLoaded());

        world.assertOnDevice(1, 9);
        world.assertOnDevice(2, 10);
        assertEquals(2 * EngineWorld.BLOCK, world.await(LoadBackDone.class).movedBytes());
        world.assertHeld(before);
    }

    @Test
    void theMemoryOfAnEngineThatLeavesIsLetGo() throws Exception {
        Path maps = Path.of("/proc/self/maps");
        assertTrue(Files.readString(maps).contains(world.file.toString()));

        engine.leave();

        Eventually.await("it is mapped no longer", () -> {
            try {
                return !Files.readString(maps).contains(world.file.toString());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Test
    void blocksThatAreHeldAreReadAndTheOthersReported() throws Exception {
        EngineWorld.Held before = world.held();

        List<BlockStatus> read = engine.calls().read(read(2, 3, 5)).getBlocksList();

        assertEquals(List.of(true, true, false), read.stream().map(BlockStatus::getDone).toList());
        assertEquals(BlockReason.BLOCK_REASON_DONE, read.getFirst().getReason());
        assertFalse(read.getLast().getReason() == BlockReason.BLOCK_REASON_DONE || read.getLast().getReasonValue() == 0, read::toString);
        world.assertOnDevice(2, 5);
        world.assertOnDevice(3, 6);
        world.assertHeld(before);
    }

    /** The controller has block 4 written back because of the Save; a Read that comes meanwhile waits for it. */
    @Test
    void aSavedBlockIsOnTheHostAndAReadWaitsForOneThatIsOnItsWay() throws Exception {
        engine.calls().submit(submit(session, "r", 4));
        engine.calls().prefilled(PrefilledRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1).build());
        try (FileChannel file = FileChannel.open(world.file, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(EngineWorld.content(4)), 12L * EngineWorld.BLOCK);
        }
        engine.calls().sealed(SealedRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1)
                .setNamespace(AgentAppTest.NAMESPACE).setRoot(page(0, 0).getKey()).setParent(page(3, 0).getKey()).addBlocks(page(4, 12)).build());
        SaveRequest save = SaveRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1)
                .setNamespace(AgentAppTest.NAMESPACE).addBlocks(page(4, 12)).build();

        CompletableFuture<SaveReply> saved = EngineBadInputTest.later(() -> engine.calls().save(save));
        assertEquals(12, world.await(SaveRequested.class).blocks().getFirst().page());
        world.gate(Direction.SAVE).pauseAfter(0);
        world.command(new WriteBackBlocks(
                ScriptedController.envelope("a", 1), world.header(), "op", "r", 1, AgentAppTest.NAMESPACE, ScriptedController.key(0),
                List.of(new PagedBlock(ScriptedController.block(4), 12, 1, 0)), 10_000));
        Eventually.await("the copy is under way", () -> world.gate(Direction.SAVE).holds());
        CompletableFuture<List<BlockStatus>> read = EngineBadInputTest.later(() -> engine.calls().read(read(4, 1, 13)).getBlocksList());
        Eventually.await("the read waits", () -> read.isDone() || world.status().activeOperations() == 2);
        assertFalse(read.isDone(), () -> read.join().toString());
        assertFalse(saved.isDone() || read.isDone());

        world.gate(Direction.SAVE).resume();
        assertEquals(
                List.of(true), saved.get(20, TimeUnit.SECONDS).getBlocksList().stream().map(BlockStatus::getDone).toList());
        assertEquals(List.of(true), read.get(20, TimeUnit.SECONDS).stream().map(BlockStatus::getDone).toList());
        world.assertOnDevice(4, 13);
    }
}
