/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.disk.DiskLimits.Work;
import io.tierlog.agent.queue.UnitQueue;
import io.tierlog.agent.queue.UnitQueue.Load;
import io.tierlog.agent.queue.UnitQueue.Unit;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.threads.RareWarning;
import io.tierlog.threads.ThreadFaults;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves blocks between host pages and the disk tier with a bounded number of threads: the queue depth of the disk.
 *
 * <p>A unit is cut into pieces that several workers take, and ends once, when its last piece has. Reads have workers of their own: a request
 * waits for those. Compaction is done by the writers, a step at a time, between units. Calls come from the core's thread, completions from the
 * workers' (or from the caller's when the queue is full); their consumer must not block. Units of one direction may end in another order than
 * they began.
 */
public final class DiskWorkers implements DiskTransfers, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskWorkers.class);
    private static final int MOST_NAMESPACES = 1_000;

    /** Does a run of blocks of a unit, from and to by index; results in their order. */
    private interface Doer {
        List<DiskResult> run(int from, int to);
    }

    private final BlockFile file;
    private final IntFunction<MemorySegment> pages;
    private final Consumer<AgentInput> completions;
    private final UnitQueue readers;
    private final UnitQueue writers;
    private final AtomicBoolean compacting = new AtomicBoolean();
    private final RareWarning warning = new RareWarning(LOG);
    private final Map<String, Namespace> namespaces = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Namespace> eldest) {
            return size() > MOST_NAMESPACES;
        }
    });

    /**
     * @param name begins the names of the threads
     * @param file whose limits set the number of threads and the length of the queue; not closed with this
     * @param pages the bytes of a host page by its number
     * @param completions called once for each unit
     */
    public DiskWorkers(String name, BlockFile file, IntFunction<MemorySegment> pages, Consumer<AgentInput> completions) {
        this.file = file;
        this.pages = pages;
        this.completions = completions;
        Work work = file.limits().work();
        Load most = new Load(work.queueBlocks(), work.queueBytes());
        this.readers = new UnitQueue(name + "-disk-read", work.readers(), most);
        this.writers = new UnitQueue(name + "-disk-write", work.writers(), most);
    }

    @Override
    public void write(long unit, String namespace, List<PageWrite> blocks) {
        Namespace name = namespace(namespace);
        List<BlockWrite> writes = blocks.stream()
                .map(block -> new BlockWrite(
                        block.key(),
                        new BlockWrite.Position(block.index(), block.parent(), block.root()),
                        List.of(pages.apply(block.hostPage())),
                        block.crc32c()))
                .toList();
        long bytes = writes.stream().mapToLong(write -> write.bytes().getFirst().byteSize()).sum();
        // One force for several blocks pays; without one every block may have a thread of its own.
        int pieceBlocks = file.limits().force() == ForcePolicy.PER_BATCH ? file.limits().work().pieceBlocks() : 1;
        run(writers, unit, new Unit(writes.size(), pieceBlocks, new Load(writes.size(), bytes)),
                (from, to) -> file.write(name, writes.subList(from, to)));
    }

    @Override
    public void read(long unit, String namespace, List<PageRead> blocks) {
        Namespace name = namespace(namespace);
        List<BlockRead> reads = blocks.stream()
                .map(block -> new BlockRead(block.key(), block.generation(), List.of(pages.apply(block.hostPage()))))
                .toList();
        long bytes = reads.stream().mapToLong(read -> read.into().getFirst().byteSize()).sum();
        run(readers, unit, new Unit(reads.size(), 1, new Load(reads.size(), bytes)), (from, to) -> file.read(name, reads.subList(from, to)));
    }

    @Override
    public void drop(long unit, String namespace, List<DiskObject> blocks) {
        Namespace name = namespace(namespace);
        List<BlockDrop> drops = blocks.stream().map(block -> new BlockDrop(block.key(), block.generation())).toList();
        run(writers, unit, new Unit(drops.size(), file.limits().work().pieceBlocks(), new Load(drops.size(), 0)),
                (from, to) -> file.drop(name, drops.subList(from, to)));
    }

    /** Lets pieces under way end, answers the rest with CANCELLED, and returns when no byte moves. */
    @Override
    public void close() {
        readers.close();
        writers.close();
    }

    private void run(UnitQueue queue, long id, Unit unit, Doer doer) {
        UnitResult[] results = new UnitResult[unit.blocks()];
        Arrays.fill(results, failed(OperationReason.CANCELLED));
        boolean queued = queue.submit(unit, (from, to, ran) -> {
            if (ran) {
                runPiece(doer, from, to, results);
            }
        }, () -> {
            completions.accept(new DiskUnitEnded(id, Arrays.asList(results)));
            compactIfWanted();
        });
        if (!queued) {
            file.counters().add(DiskCounter.REFUSED_QUEUE_FULL, unit.blocks());
            completions.accept(new DiskUnitEnded(id, Collections.nCopies(unit.blocks(), failed(OperationReason.QUEUE_FULL))));
        }
    }

    private void runPiece(Doer doer, int from, int to, UnitResult[] results) {
        try {
            List<DiskResult> done = doer.run(from, to);
            for (int i = from; i < to; i++) {
                DiskResult result = done.get(i - from);
                results[i] = new UnitResult(result.status(), result.reason(), result.crc32c(), result.generation());
                if (!result.isDone() && result.reason() != OperationReason.NOT_FOUND) {
                    warning.warn("disk tier: {}", result.detail());
                }
            }
        } catch (RuntimeException | Error e) {
            // A block file does not throw; a defect of it must not leave the unit without an end.
            ThreadFaults.ofProcess().met("tierlog-disk", e);
            Arrays.fill(results, from, to, failed(OperationReason.IO));
        }
    }

    private void compactIfWanted() {
        if (file.wantsCompaction() && compacting.compareAndSet(false, true) && !submitCompaction()) {
            compacting.set(false);
        }
    }

    /** There is at most one step, so the queue need not bound it. */
    private boolean submitCompaction() {
        return writers.submit(Unit.OWN, this::compactOneStep, () -> {});
    }

    /** One step, then the next behind what has come meanwhile. */
    private void compactOneStep(int from, int to, boolean ran) {
        boolean more = false;
        try {
            more = ran && file.compact().more();
        } catch (RuntimeException | Error e) {
            ThreadFaults.ofProcess().met("tierlog-compaction", e);
        }
        if (!more || !submitCompaction()) {
            compacting.set(false);
        }
    }

    private static UnitResult failed(OperationReason reason) {
        return new UnitResult(BlockStatus.FAILED, reason, 0, 0);
    }

    private Namespace namespace(String text) {
        return namespaces.computeIfAbsent(text, Namespace::of);
    }
}
