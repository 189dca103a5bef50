/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.DiskLimits;
import io.tierlog.agent.disk.DiskWorkers;
import io.tierlog.agent.disk.FileSegmentIo;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.FioEngine;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The disk tier, against fio with blocks of the same size, as many at a time, with O_DIRECT where the tier has it, and without fsync like the tier.
 */
final class DiskBench extends FileTierBench {
    private static final int ALIGN_BYTES = 4_096;
    private static final long SEGMENT_BYTES = 256L << 20;
    /** One reserved for compaction, and one that is being filled. */
    private static final int FURTHER_SEGMENTS = 2;

    private final FioEngine engine;
    private final DiskLimits limits;
    private final String description;
    private @Nullable Tier tier;

    /** The tier of a round. */
    private record Tier(BlockFile file, DiskWorkers workers) {}

    DiskBench(HostBlocks host, TemporaryDirectory directory, Optional<Fio> fio, FioEngine engine) throws IOException {
        super("disk", host, directory, fio);
        this.engine = engine;
        this.limits = limits(host.shape());
        try (FileSegmentIo io = FileSegmentIo.open(directory.resolve("look"), ALIGN_BYTES)) {
            Path path = directory.resolve("look");
            this.description = io.description().replace(path + ", ", "");
        }
    }

    /** Most bytes on the disk at a time: of the tier and fio. */
    static long neededBytes(Shape shape) {
        return limits(shape).space().capacityBytes() + fioBlocks(shape) * DiskLimits.padded(shape.blockBytes(), ALIGN_BYTES);
    }

    private static DiskLimits limits(Shape shape) {
        long record = ALIGN_BYTES + DiskLimits.padded(shape.blockBytes(), ALIGN_BYTES);
        long perSegment = Math.clamp(SEGMENT_BYTES / record, 1, shape.blocks());
        long segments = Math.ceilDiv(shape.blocks(), perSegment) + FURTHER_SEGMENTS;
        long capacity = segments * perSegment * record;
        DiskLimits limits = DiskLimits.of(capacity, shape.blockBytes());
        DiskLimits.Work work = limits.work();
        return limits
                .with(new DiskLimits.Space(capacity, 0, perSegment * record, ALIGN_BYTES))
                .with(new DiskLimits.Work(
                        shape.depth(), shape.depth(), work.queueBlocks(), shape.depth() * record, work.pieceBlocks(), work.retries()));
    }

    private static long fioBlocks(Shape shape) {
        return (long) Math.ceilDiv(shape.blocks(), shape.depth()) * shape.depth();
    }

    @Override
    public String title() {
        return "disk, " + description + ", no fsync";
    }

    @Override
    List<Variant> others(Mode mode) {
        return fio().map(program -> new Variant(program.version() + ", " + engine, () -> program.run(mode, arguments())))
                .map(List::of)
                .orElse(List.of());
    }

    private List<String> arguments() {
        Shape shape = host().shape();
        long block = DiskLimits.padded(shape.blockBytes(), ALIGN_BYTES);
        boolean threads = engine == FioEngine.psync;
        List<String> all = new ArrayList<>();
        all.add("--directory=" + directory().resolve("fio"));
        all.add("--ioengine=" + engine);
        all.add("--bs=" + block);
        all.add("--numjobs=" + (threads ? shape.depth() : 1));
        all.add("--iodepth=" + (threads ? 1 : shape.depth()));
        all.add("--size=" + fioBlocks(shape) / (threads ? shape.depth() : 1) * block);
        all.add("--direct=" + (direct() ? 1 : 0));
        all.add("--invalidate=0");
        all.add("--fallocate=" + (description.contains("not reserved") ? "none" : "posix"));
        return all;
    }

    private boolean direct() {
        return description.contains("O_DIRECT");
    }

    @Override
    void begin(Mode mode, long id, int block) {
        DiskWorkers workers = Objects.requireNonNull(tier, "no round has begun").workers;
        switch (mode) {
            case write -> workers.write(id, HostBlocks.NAMESPACE,
                    List.of(new PageWrite(host().key(block), block, Bytes.EMPTY, Bytes.EMPTY, block, host().crc32c(block))));
            case read -> workers.read(id, HostBlocks.NAMESPACE, List.of(new PageRead(host().key(block), 0, block)));
        }
    }

    @Override
    void open() throws IOException {
        BlockFile file = BlockFile.open(FileSegmentIo.open(directory().resolve("disk"), ALIGN_BYTES), limits, sofar -> {});
        tier = new Tier(file, new DiskWorkers("bench", file, host().pool()::page, this::ended));
    }

    private void ended(AgentInput input) {
        if (input instanceof DiskUnitEnded ended) {
            ended(ended.unit(), ended.results());
        }
    }

    @Override
    public void close() {
        if (tier != null) {
            tier.workers.close();
            tier.file.close();
            tier = null;
        }
    }
}
