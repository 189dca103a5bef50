/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.FakePorts.Unit;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A world with blocks 0..4 of one prompt on a tier, from which they are copied. Blocks of 2 tokens, 31 device pages, 20 blocks on the disk. */
final class CopyWorld {
    /** 11 tokens: 5 whole blocks. */
    final Prompt prompt = Prompt.range(2, 1, 11);
    final World world;
    private final int hostPages;

    CopyWorld(int hostPages, int bouncePages) {
        this(hostPages, AgentLimits.defaults().withBounceBlocks(bouncePages), 0);
    }

    /** A world whose disk holds the first blocks from an earlier process. */
    CopyWorld(int hostPages, AgentLimits limits, int onDisk) {
        this.hostPages = hostPages;
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, onDisk);
        world = new World(31, hostPages, 20, limits, past);
        world.on(new AgentInput.DiskFound(past.disk().found(), true));
        world.register();
        world.attach();
    }

    static CopyWorld withDisk(int hostPages, int bouncePages) {
        return new CopyWorld(hostPages, AgentLimits.defaults().withBounceBlocks(bouncePages), 5);
    }

    // --- where blocks are

    /** Computes and finishes "r": block i in device page i. */
    List<PagedBlock> onDevice() {
        world.compute("r", prompt, 0, 0, 1, 2, 3, 4);
        return device(4, 3, 2, 1, 0);
    }

    List<PagedBlock> device(int... indexes) {
        return IntStream.of(indexes).mapToObj(i -> world.paged(prompt, i, i)).toList();
    }

    List<PagedBlock> onHost() {
        world.compute("warm", prompt, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
        return paged(world.seen.last(WriteBackDone.class).blocks().reversed());
    }

    /** Copies on the disk, which gave them the generations 1 to 5. */
    List<PagedBlock> disk(int... indexes) {
        return IntStream.of(indexes)
                .mapToObj(i -> new PagedBlock(prompt.block(i), -1, i + 1, FakePorts.crc(content(i))))
                .toList();
    }

    byte[] content(int index) {
        return FakePorts.content(prompt.namespace(), prompt.keys().get(index));
    }

    static List<PagedBlock> paged(List<BlockResult> results) {
        return results.stream().map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c())).toList();
    }

    boolean stored(int index) {
        return world.ports.store.containsKey(FakePorts.name(prompt.namespace(), prompt.keys().get(index)));
    }

    // --- commands

    CopyOrigin origin() {
        return new CopyOrigin("r", 1, prompt.root());
    }

    CopyBlocks command(Tier source, Tier target, List<PagedBlock> blocks) {
        return world.copyCommand(prompt, source, target, blocks, source == Tier.DEVICE ? origin() : null);
    }

    String copy(Tier source, Tier target, List<PagedBlock> blocks) {
        CopyBlocks command = command(source, target, blocks);
        world.command(command);
        return command.operation();
    }

    // --- units

    /** Ends units of both kinds well, in turn, until there is none. */
    void endBoth(Kind first, Kind second) {
        while (!world.ports.of(first).isEmpty() || !world.ports.of(second).isEmpty()) {
            world.endAll(first);
            world.endAll(second);
        }
    }

    /** The port moves everything of its oldest unit of that kind, and reports one block more or fewer. */
    Unit miscount(Kind kind, boolean more) {
        Unit unit = world.ports.of(kind).getFirst();
        List<UnitResult> results = new ArrayList<>(results(world.ports.end(unit, Integer.MAX_VALUE, OperationReason.IO)));
        if (more) {
            results.add(results.getFirst());
        } else {
            results.removeLast();
        }
        world.on(FakePorts.input(unit, results));
        return unit;
    }

    static List<UnitResult> results(AgentInput ended) {
        return switch (ended) {
            case AgentInput.CopiesEnded e -> e.results();
            case AgentInput.StoreUnitEnded e -> e.results();
            case AgentInput.DiskUnitEnded e -> e.results();
            default -> throw new IllegalArgumentException("no unit of blocks: " + ended);
        };
    }

    /** Host pages that a unit moves from or to. */
    static List<Integer> pages(Unit unit) {
        List<Integer> pages = new ArrayList<>();
        unit.copies().forEach(copy -> pages.add(copy.hostPage()));
        unit.objects().forEach(object -> pages.add(object.hostPage()));
        unit.disk().writes().forEach(write -> pages.add(write.hostPage()));
        unit.disk().reads().forEach(read -> pages.add(read.hostPage()));
        return pages;
    }

    AgentStatus.Bounce bounce() {
        return world.core.status().bounce();
    }

    int firstBounce() {
        return hostPages;
    }
}
