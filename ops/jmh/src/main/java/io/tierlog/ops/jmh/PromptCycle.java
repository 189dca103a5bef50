/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import io.tierlog.ops.jmh.CoreWorld.Prompt;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.List;

/** The events of one prompt of {@value CoreWorld#BLOCKS} blocks, step by step. Confined to one thread. */
final class PromptCycle {
    private final CoreWorld world;
    private final Prompt prompt;
    private final String namespace;

    PromptCycle(CoreWorld world) {
        this(world, CoreWorld.BLOCKS);
    }

    /** A prompt of that many blocks, at most {@value CoreWorld#BLOCKS}. */
    PromptCycle(CoreWorld world, int blocks) {
        this(world, blocks, CoreWorld.NAMESPACE);
    }

    /** The same in a namespace of its own. */
    PromptCycle(CoreWorld world, int blocks, String namespace) {
        this.world = world;
        this.prompt = world.prompt(blocks);
        this.namespace = namespace;
    }

    Prompt prompt() {
        return prompt;
    }

    /** Submitted and waiting; all blocks are in the store. */
    void submitWaiting() {
        world.step(world.submitted(prompt, prompt.request(), namespace, true, false));
    }

    /** The end of the fetch: all blocks have arrived. */
    PrefetchDone fetchDone() {
        PrefetchBlocks command = world.command(PrefetchBlocks.class);
        return new PrefetchDone(world.envelope(), command.operation(), command.lease(), namespace,
                CoreWorld.arrived(prompt, Tier.STORE), 0, 0);
    }

    void fetched() {
        world.step(fetchDone());
    }

    /** Prefilled and finished; nothing was sealed. */
    void finished() {
        world.step(new RequestPrefilled(world.envelope(), prompt.request(), 1, 0, 0, 0));
        world.step(new RequestFinished(world.envelope(), prompt.request(), 1, RequestReason.COMPLETED, 1));
    }

    /** Answered at once, computed on the device, finished; the core has commanded a write-back. */
    void computed() {
        world.step(world.submitted(prompt, prompt.request(), namespace, false, true));
        world.step(new RequestPrefilled(world.envelope(), prompt.request(), 1, 0, 0, 0));
        List<PagedBlock> sealed = CoreWorld.deepestFirst(prompt).reversed();
        world.step(new BlocksSealed(world.envelope(), prompt.request(), 1, namespace, prompt.keys().getFirst(), sealed));
        world.step(new RequestFinished(world.envelope(), prompt.request(), 1, RequestReason.COMPLETED, 1));
    }

    /** The end of the write-back: all blocks have arrived. */
    WriteBackDone writeBackDone() {
        WriteBackBlocks command = world.command(WriteBackBlocks.class);
        return new WriteBackDone(world.envelope(), command.operation(), namespace, CoreWorld.arrived(prompt, Tier.DEVICE), 0, 0);
    }

    void backedUp() {
        BackUpBlocks command = world.command(BackUpBlocks.class);
        world.step(new BackUpDone(world.envelope(), command.operation(), namespace, CoreWorld.arrived(prompt, Tier.HOST), 0, 0));
    }

    /** The agent evicts all blocks from that tier. */
    BlocksEvicted evicted(Tier tier) {
        return new BlocksEvicted(world.envelope(), tier, namespace, RemovalReason.PRESSURE, CoreWorld.deepestFirst(prompt));
    }

    /** The end of the last drop: all its blocks are gone. */
    static DropDone dropped(CoreWorld world) {
        DropBlocks command = world.command(DropBlocks.class);
        List<BlockResult> gone = command.blocks().stream()
                .map(b -> new BlockResult(b.block(), BlockStatus.GONE, OperationReason.COMPLETED, b.page(), b.generation(), 0, command.reliesOn()))
                .toList();
        return new DropDone(world.envelope(), command.operation(), command.tier(), CoreWorld.NAMESPACE, gone);
    }
}
