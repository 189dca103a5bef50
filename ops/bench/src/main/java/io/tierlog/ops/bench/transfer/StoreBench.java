/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.app.store.DirectoryStore;
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
    private @Nullable StoreUnits open;

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
        Objects.requireNonNull(open, "no round has begun").begin(mode, id, block);
    }

    @Override
    void open() throws IOException {
        open = new StoreUnits(DirectoryStore.open(directory().resolve("store"), DirectoryStore.Options.DEFAULTS), host(), this::ended);
    }

    @Override
    public void close() {
        if (open != null) {
            open.close();
            open = null;
        }
    }
}
