/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * What stands below an agent: which blocks the disk and the store have, and how long transfers take. No bytes: every checksum is the same. For one
 * thread.
 */
final class ModelPorts implements DeviceCopies, StoreTransfers {
    private static final int CRC = 1;

    private final long blockBytes;
    private final Set<BlockName> store;
    private final Consumer<AgentInput> completions;
    private final Map<BlockName, Long> disk = new HashMap<>();
    private final Channel loads;
    private final Channel saves;
    private final Channel storeReads;
    private final Channel storeWrites;
    private final Channel probes;
    private final Channel diskReads;
    private final Channel diskWrites;
    private long generations;

    /** A block within its namespace. */
    record BlockName(String namespace, Bytes key) {}

    ModelPorts(VirtualTime time, HardwareModel model, long blockBytes, Set<BlockName> store, Consumer<AgentInput> completions) {
        this.blockBytes = blockBytes;
        this.store = store;
        this.completions = completions;
        this.loads = new Channel(time, model.load());
        this.saves = new Channel(time, model.save());
        this.storeReads = new Channel(time, model.storeRead());
        this.storeWrites = new Channel(time, model.storeWrite());
        this.probes = new Channel(time, model.storeProbe());
        this.diskReads = new Channel(time, model.diskRead());
        this.diskWrites = new Channel(time, model.diskWrite());
    }

    WhatIfResult.Moved moved() {
        return new WhatIfResult.Moved(loads.bytes(), saves.bytes(), storeReads.bytes(), storeWrites.bytes(), diskReads.bytes(), diskWrites.bytes());
    }

    @Override
    public void save(long unit, List<PageCopy> copies) {
        saves.move(copies.size(), blockBytes, () -> completions.accept(new AgentInput.CopiesEnded(unit, arrived(copies.size()))));
    }

    @Override
    public void load(long unit, List<PageCopy> copies) {
        loads.move(copies.size(), blockBytes, () -> completions.accept(new AgentInput.CopiesEnded(unit, arrived(copies.size()))));
    }

    @Override
    public void detach() {
        // Engines stay.
    }

    @Override
    public void probe(long unit, String namespace, List<Bytes> keys) {
        probes.move(keys.size(), 0, () -> {
            int present = 0;
            while (present < keys.size() && store.contains(new BlockName(namespace, keys.get(present)))) {
                present++;
            }
            completions.accept(new AgentInput.StoreProbed(unit, present, true));
        });
    }

    @Override
    public void cancelProbe(long unit) {
        // It still ends.
    }

    @Override
    public void read(long unit, String namespace, List<PageObject> objects) {
        storeReads.move(objects.size(), blockBytes, () -> completions.accept(new AgentInput.StoreUnitEnded(unit, each(objects, object ->
                store.contains(new BlockName(namespace, object.key())) ? arrived(0L) : failed(OperationReason.NOT_FOUND)))));
    }

    @Override
    public void write(long unit, String namespace, List<PageObject> objects) {
        long fresh = objects.stream().filter(object -> !store.contains(new BlockName(namespace, object.key()))).count();
        storeWrites.move((int) fresh, blockBytes, () -> completions.accept(new AgentInput.StoreUnitEnded(unit, each(objects, object ->
                store.add(new BlockName(namespace, object.key())) ? arrived(0L) : there(0L)))));
    }

    @Override
    public void delete(long unit, String namespace, List<StoredObject> objects) {
        storeWrites.move(objects.size(), 0, () -> completions.accept(new AgentInput.StoreUnitEnded(unit, each(objects, object ->
                store.remove(new BlockName(namespace, object.key()))
                        ? new UnitResult(BlockStatus.GONE, OperationReason.COMPLETED, 0)
                        : failed(OperationReason.NOT_FOUND)))));
    }

    DiskTransfers disk() {
        return new DiskTransfers() {
            @Override
            public void write(long unit, String namespace, List<PageWrite> blocks) {
                diskWrites.move(blocks.size(), blockBytes, () -> completions.accept(new AgentInput.DiskUnitEnded(unit, each(blocks, block -> {
                    Long before = disk.get(new BlockName(namespace, block.key()));
                    if (before != null) {
                        return there(before);
                    }
                    disk.put(new BlockName(namespace, block.key()), ++generations);
                    return arrived(generations);
                }))));
            }

            @Override
            public void read(long unit, String namespace, List<PageRead> blocks) {
                diskReads.move(blocks.size(), blockBytes, () -> completions.accept(new AgentInput.DiskUnitEnded(unit, each(blocks, block ->
                        found(new BlockName(namespace, block.key()), block.generation(), BlockStatus.ARRIVED)))));
            }

            @Override
            public void drop(long unit, String namespace, List<DiskObject> blocks) {
                diskWrites.move(0, blockBytes, () -> completions.accept(new AgentInput.DiskUnitEnded(unit, each(blocks, block -> {
                    BlockName name = new BlockName(namespace, block.key());
                    UnitResult result = found(name, block.generation(), BlockStatus.GONE);
                    if (result.status() == BlockStatus.GONE) {
                        disk.remove(name);
                    }
                    return result;
                }))));
            }
        };
    }

    private UnitResult found(BlockName name, long generation, BlockStatus status) {
        Long there = disk.get(name);
        if (there == null) {
            return failed(OperationReason.NOT_FOUND);
        }
        return generation == 0 || generation == there
                ? new UnitResult(status, OperationReason.COMPLETED, CRC, there)
                : failed(OperationReason.STALE_GENERATION);
    }

    private static <T> List<UnitResult> each(List<T> blocks, Function<T, UnitResult> result) {
        List<UnitResult> results = new ArrayList<>(blocks.size());
        blocks.forEach(block -> results.add(result.apply(block)));
        return results;
    }

    private static List<UnitResult> arrived(int blocks) {
        return Collections.nCopies(blocks, arrived(0L));
    }

    private static UnitResult arrived(long generation) {
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, CRC, generation);
    }

    private static UnitResult there(long generation) {
        return new UnitResult(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, CRC, generation);
    }

    private static UnitResult failed(OperationReason why) {
        return new UnitResult(BlockStatus.FAILED, why, 0);
    }
}
