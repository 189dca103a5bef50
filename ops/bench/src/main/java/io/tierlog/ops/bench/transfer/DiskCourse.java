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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Host pages to the disk tier and back, by the agent's workers, against fio with blocks of the same size, as many at a time, past the page cache
 * when the tier goes past it, and forced as rarely: never. Both begin each round with no files.
 */
final class DiskCourse implements Course {
    private static final double AIM = 0.90;
    private static final int ALIGN_BYTES = 4_096;
    private static final long SEGMENT_BYTES = 256L << 20;
    /** One that is kept for compaction, and one that is being filled. */
    private static final int FURTHER_SEGMENTS = 2;

    private final HostBlocks host;
    private final TemporaryDirectory directory;
    private final Optional<Fio> fio;
    private final FioEngine engine;
    private final DiskLimits limits;
    private final String description;
    private final Window window = new Window();
    private @Nullable Tier tier;

    /** The tier of a round. */
    private record Tier(BlockFile file, DiskWorkers workers) {}

    DiskCourse(HostBlocks host, TemporaryDirectory directory, Optional<Fio> fio, FioEngine engine) throws IOException {
        this.host = host;
        this.directory = directory;
        this.fio = fio;
        this.engine = engine;
        this.limits = limits(host.shape());
        try (FileSegmentIo io = FileSegmentIo.open(directory.resolve("look"), ALIGN_BYTES)) {
            Path path = directory.resolve("look");
            this.description = io.description().replace(path + ", ", "");
        }
    }

    /** Most bytes that are on the disk at a time: the tier's, and fio's. */
    static long roomBytes(Shape shape) {
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
    public List<Contest> contests() {
        return List.of(
                new Contest("host to disk", new Way("Tierlog", this::write), others(Mode.write), AIM),
                new Contest("disk to host", new Way("Tierlog", this::read), others(Mode.read), AIM));
    }

    private List<Way> others(Mode mode) {
        return fio.map(program -> new Way(program.version() + ", " + engine, () -> program.run(mode, arguments())))
                .map(List::of)
                .orElse(List.of());
    }

    private List<String> arguments() {
        Shape shape = host.shape();
        long block = DiskLimits.padded(shape.blockBytes(), ALIGN_BYTES);
        boolean threads = engine == FioEngine.psync;
        List<String> all = new ArrayList<>();
        all.add("--directory=" + directory.resolve("fio"));
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

    private Sample write() throws InterruptedException {
        DiskWorkers workers = tier().workers;
        Window.Times times = window.run(
                host.shape().blocks(),
                host.shape().depth(),
                (id, block) -> workers.write(id, HostBlocks.NAMESPACE,
                        List.of(new PageWrite(host.key(block), block, Bytes.EMPTY, Bytes.EMPTY, block, host.crc32c(block)))),
                host::wrong);
        return Sample.of(host.shape().bytes(), times.nanos(), times.unitNanos());
    }

    private Sample read() throws InterruptedException {
        DiskWorkers workers = tier().workers;
        host.spoil();
        Window.Times times = window.run(
                host.shape().blocks(),
                host.shape().depth(),
                (id, block) -> workers.read(id, HostBlocks.NAMESPACE, List.of(new PageRead(host.key(block), 0, block))),
                host::wrong);
        return Sample.of(host.shape().bytes(), times.nanos(), times.unitNanos());
    }

    private Tier tier() {
        if (tier == null) {
            throw new IllegalStateException("no round has begun");
        }
        return tier;
    }

    @Override
    public void beginRound() throws IOException {
        Files.createDirectories(directory.resolve("fio"));
        BlockFile file = BlockFile.open(FileSegmentIo.open(directory.resolve("tier"), ALIGN_BYTES), limits, sofar -> {});
        tier = new Tier(file, new DiskWorkers("bench", file, host.pool()::page, this::ended));
    }

    private void ended(AgentInput input) {
        if (input instanceof DiskUnitEnded ended) {
            window.ended(ended.unit(), ended.results());
        }
    }

    @Override
    public void endRound() {
        close();
        TemporaryDirectory.remove(directory.resolve("tier"));
        TemporaryDirectory.remove(directory.resolve("fio"));
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
