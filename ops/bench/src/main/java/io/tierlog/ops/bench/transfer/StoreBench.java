/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.StoreWorkers;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A store in a directory, against fio with a file per block, as many threads, through the page cache like the store, without fsync like the store by
 * default, and against plain files of the same pages.
 */
final class StoreBench extends FileTierBench {
    private @Nullable Open open;

    /** The store of a round. */
    private record Open(DirectoryStore store, StoreWorkers workers) {}

    StoreBench(HostBlocks host, TemporaryDirectory directory, Optional<Fio> fio) {
        super("store", host, directory, fio);
    }

    /** Most bytes on the disk at a time: of the store, fio, and the plain files. */
    static long neededBytes(Shape shape) {
        long fioBlocks = (long) Math.ceilDiv(shape.blocks(), shape.depth()) * shape.depth();
        return (2L * shape.blocks() + fioBlocks) * (shape.blockBytes() + 4_096L);
    }

    @Override
    public String title() {
        return "store, a directory, through the page cache, no fsync";
    }

    @Override
    List<Variant> others(Mode mode) {
        List<Variant> others = new ArrayList<>();
        fio().ifPresent(program ->
                others.add(new Variant(program.version() + ", psync, a file per block", () -> program.run(mode, arguments()))));
        PlainFiles plain = new PlainFiles(host(), directory().resolve("plain"));
        others.add(new Variant("plain files, the same pages, as many threads", () -> plain.run(mode)));
        return others;
    }

    private List<String> arguments() {
        Shape shape = host().shape();
        int files = Math.ceilDiv(shape.blocks(), shape.depth());
        return List.of(
                "--directory=" + directory().resolve("fio"),
                "--ioengine=psync",
                "--bs=" + shape.blockBytes(),
                "--numjobs=" + shape.depth(),
                "--nrfiles=" + files,
                "--filesize=" + shape.blockBytes(),
                "--size=" + (long) files * shape.blockBytes(),
                "--openfiles=1",
                "--file_service_type=sequential",
                "--create_on_open=1",
                "--direct=0",
                "--invalidate=0",
                "--fallocate=none");
    }

    @Override
    void begin(Mode mode, long id, int block) {
        StoreWorkers workers = Objects.requireNonNull(open, "no round has begun").workers;
        switch (mode) {
            case write -> workers.write(id, HostBlocks.NAMESPACE, List.of(new PageObject(host().key(block), block, host().crc32c(block))));
            case read -> workers.read(id, HostBlocks.NAMESPACE, List.of(new PageObject(host().key(block), block, 0)));
        }
    }

    @Override
    void open() throws IOException {
        DirectoryStore store = DirectoryStore.open(directory().resolve("store"), DirectoryStore.Options.DEFAULTS);
        StoreWorkers.Limits usual = StoreWorkers.Limits.DEFAULTS;
        int depth = host().shape().depth();
        StoreWorkers.Limits limits = new StoreWorkers.Limits(depth, depth, depth, usual.queueObjects(), usual.queueBytes(), usual.pieceObjects());
        open = new Open(store, new StoreWorkers("bench", store, host().pool(), limits, this::ended));
    }

    private void ended(AgentInput input) {
        if (input instanceof StoreUnitEnded ended) {
            ended(ended.unit(), ended.results());
        }
    }

    @Override
    public void close() {
        if (open != null) {
            open.workers.close();
            open.store.close();
            open = null;
        }
    }
}
