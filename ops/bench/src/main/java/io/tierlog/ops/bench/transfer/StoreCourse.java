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
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Host pages to a store in a directory and back, by the agent's workers, against fio with a file per block, as many threads, through the page
 * cache as the store, without fsync as the store by default, and against plain files of the same pages. All begin each round with no files.
 */
final class StoreCourse implements Course {
    private static final double AIM = 0.90;

    private final HostBlocks host;
    private final TemporaryDirectory directory;
    private final Optional<Fio> fio;
    private final Window window = new Window();
    private @Nullable Open open;

    /** The store of a round. */
    private record Open(DirectoryStore store, StoreWorkers workers) {}

    StoreCourse(HostBlocks host, TemporaryDirectory directory, Optional<Fio> fio) {
        this.host = host;
        this.directory = directory;
        this.fio = fio;
    }

    /** Most bytes that are on the disk at a time: the store's, fio's, and the plain ones. */
    static long roomBytes(Shape shape) {
        long fioBlocks = (long) Math.ceilDiv(shape.blocks(), shape.depth()) * shape.depth();
        return (2L * shape.blocks() + fioBlocks) * (shape.blockBytes() + 4_096L);
    }

    @Override
    public String title() {
        return "store, a directory, through the page cache, no fsync";
    }

    @Override
    public List<Contest> contests() {
        return List.of(
                new Contest("host to store", new Way("Tierlog", this::write), others(Mode.write), aim()),
                new Contest("store to host", new Way("Tierlog", this::read), others(Mode.read), aim()));
    }

    /** It is about fio. */
    private double aim() {
        return fio.isPresent() ? AIM : 0;
    }

    private List<Way> others(Mode mode) {
        List<Way> ways = new ArrayList<>();
        fio.ifPresent(program -> ways.add(new Way(program.version() + ", psync, a file per block", () -> program.run(mode, arguments()))));
        PlainFiles plain = new PlainFiles(host, directory.resolve("plain"));
        ways.add(new Way("plain files, the same pages, as many threads", () -> plain.run(mode)));
        return ways;
    }

    private List<String> arguments() {
        Shape shape = host.shape();
        int files = Math.ceilDiv(shape.blocks(), shape.depth());
        return List.of(
                "--directory=" + directory.resolve("fio"),
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

    private Sample write() throws InterruptedException {
        StoreWorkers workers = open().workers;
        Window.Times times = window.run(
                host.shape().blocks(),
                host.shape().depth(),
                (id, block) -> workers.write(id, HostBlocks.NAMESPACE, List.of(new PageObject(host.key(block), block, host.crc32c(block)))),
                host::wrong);
        return Sample.of(host.shape().bytes(), times.nanos(), times.unitNanos());
    }

    private Sample read() throws InterruptedException {
        StoreWorkers workers = open().workers;
        host.spoil();
        Window.Times times = window.run(
                host.shape().blocks(),
                host.shape().depth(),
                (id, block) -> workers.read(id, HostBlocks.NAMESPACE, List.of(new PageObject(host.key(block), block, 0))),
                host::wrong);
        return Sample.of(host.shape().bytes(), times.nanos(), times.unitNanos());
    }

    private Open open() {
        if (open == null) {
            throw new IllegalStateException("no round has begun");
        }
        return open;
    }

    @Override
    public void beginRound() throws IOException {
        Files.createDirectories(directory.resolve("fio"));
        Files.createDirectories(directory.resolve("plain"));
        DirectoryStore store = DirectoryStore.open(directory.resolve("store"), DirectoryStore.Options.DEFAULTS);
        StoreWorkers.Limits usual = StoreWorkers.Limits.DEFAULTS;
        int depth = host.shape().depth();
        StoreWorkers.Limits limits = new StoreWorkers.Limits(depth, depth, usual.queueObjects(), usual.queueBytes(), usual.pieceObjects());
        open = new Open(store, new StoreWorkers("bench", store, host.pool(), limits, this::ended));
    }

    private void ended(AgentInput input) {
        if (input instanceof StoreUnitEnded ended) {
            window.ended(ended.unit(), ended.results());
        }
    }

    @Override
    public void endRound() {
        close();
        TemporaryDirectory.remove(directory.resolve("store"));
        TemporaryDirectory.remove(directory.resolve("fio"));
        TemporaryDirectory.remove(directory.resolve("plain"));
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
