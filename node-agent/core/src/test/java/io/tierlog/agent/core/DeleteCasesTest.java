/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.agent.core.FakePorts.Deletes;
import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.operation.StoreShard;
import io.tierlog.agent.core.port.StoreTransfers.StoredObject;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.StoreFull;
import io.tierlog.schemas.event.StoreReadStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Deletions from the store, and what an agent reports of its reads and of a store without space. */
class DeleteCasesTest {
    private static final Prompt PROMPT = Prompt.range(2, 1, 10); // blocks 0 to 4
    private static final String SHARD = "store/3";

    private final World world = World.running(31, 31);

    private static ShardObjects objects(String namespace, int from, int to) {
        return new ShardObjects(namespace, IntStream.range(from, to).map(i -> to - 1 - i + from)
                .mapToObj(i -> new PagedBlock(PROMPT.block(i), -1, 10 + i, 7)).toList());
    }

    private void delete(String id, ShardObjects... objects) {
        world.command(new DeleteObjects(world.envelope(), new CommandHeader("c" + id, 0), SHARD, id, List.of(objects)));
    }

    private void end(OperationReason... reasons) {
        Deletes first = world.ports.deletes.removeFirst();
        assertEquals(reasons.length, first.objects().size());
        List<UnitResult> results = new ArrayList<>();
        for (OperationReason reason : reasons) {
            boolean gone = reason == OperationReason.COMPLETED;
            results.add(new UnitResult(gone ? BlockStatus.GONE : BlockStatus.FAILED, reason, 0));
        }
        world.on(new StoreUnitEnded(first.unit(), results));
    }

    private static List<String> said(ObjectsDeleted event) {
        return event.objects().stream().flatMap(one -> one.blocks().stream())
                .map(block -> block.block().index() + " " + block.status() + " " + block.reason()).toList();
    }

    @Test
    void eachNamespaceGoesInItsOrderAndTheShardGetsOneReport() {
        delete("d1", objects("m", 3, 5), objects("other", 0, 1));

        assertEquals(List.of(new StoredObject(PROMPT.keys().get(4), 14), new StoredObject(PROMPT.keys().get(3), 13)),
                world.ports.deletes.getFirst().objects());
        assertEquals(1, world.ports.deletes.size(), "one unit after the other");
        end(OperationReason.COMPLETED, OperationReason.NOT_FOUND);
        assertEquals("other", world.ports.deletes.getFirst().namespace());
        assertEquals(List.of(), world.seen.events(ObjectsDeleted.class));
        end(OperationReason.STALE_GENERATION);
        ObjectsDeleted done = world.seen.event(ObjectsDeleted.class);
        assertEquals(List.of("4 GONE COMPLETED", "3 GONE NOT_FOUND", "0 FAILED STALE_GENERATION"), said(done));
        assertEquals(List.of(SHARD, "a", "d1"), List.of(done.envelope().aggregate(), done.node(), done.deletion()));
        assertEquals(14, done.objects().getFirst().blocks().getFirst().generation());
    }

    @Test
    void behindAnObjectThatStaysNothingIsDeleted() {
        delete("d1", objects("m", 2, 5), objects("other", 0, 2));
        end(OperationReason.COMPLETED, OperationReason.IO, OperationReason.IO);

        assertEquals(List.of(), world.ports.deletes);
        assertEquals(List.of("4 GONE COMPLETED", "3 FAILED IO", "2 FAILED IO", "1 FAILED IO", "0 FAILED IO"),
                said(world.seen.event(ObjectsDeleted.class)));
    }

    @Test
    void whatIsPutAgainStopsNothing() {
        delete("d1", objects("m", 0, 2));
        end(OperationReason.STALE_GENERATION, OperationReason.COMPLETED);

        assertEquals(List.of("1 FAILED STALE_GENERATION", "0 GONE COMPLETED"), said(world.seen.event(ObjectsDeleted.class)));
    }

    @Test
    void aShardHasOneDeletionAtATimeAndARepeatAfterItIsRunAgain() {
        delete("d1", objects("m", 0, 1));
        delete("d1", objects("m", 0, 1));
        delete("d2", objects("m", 1, 2));
        assertEquals(1, world.ports.deletes.size());
        end(OperationReason.COMPLETED);
        delete("d1", objects("m", 0, 1));
        end(OperationReason.NOT_FOUND);

        assertEquals(List.of("d1", "d1"), world.seen.events(ObjectsDeleted.class).stream().map(ObjectsDeleted::deletion).toList());
    }

    @Test
    void aFetchReportsWhatItReadsFromTheStoreBeforeItReads() {
        world.ports.put(PROMPT, 0, 4);
        world.submit("r", PROMPT, 0);
        world.answerProbes();
        world.prefetch("r", PROMPT, 0, 4);

        StoreReadStarted read = world.seen.event(StoreReadStarted.class);
        assertEquals(List.of(0, 1, 2, 3), read.blocks().stream().map(Block::index).toList());
        assertEquals("store/" + StoreShard.of("m", PROMPT.root(), AgentLimits.defaults().storeShards()), read.envelope().aggregate());
        assertFalse(world.ports.of(Kind.READ).isEmpty());
    }

    @Test
    void aStoreWithoutSpaceIsReported() {
        world.compute("warm", PROMPT, 0, 0, 1, 2);
        String writeBack = world.writeBack("warm", PROMPT, 0, 0, 1, 2);
        world.endAll(Kind.SAVE);
        world.backUp(PROMPT, writeBack);
        world.end(Kind.WRITE, 1, OperationReason.NO_ROOM);

        assertEquals(2, world.seen.event(StoreFull.class).refusedBlocks());
    }
}
