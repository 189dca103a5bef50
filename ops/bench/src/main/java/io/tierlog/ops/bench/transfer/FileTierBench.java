/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;

/**
 * A tier of files behind the agent's workers: host pages to the tier and back, one block a unit, against fio with as many transfers at a time. Every
 * round begins without files. For one thread.
 */
abstract class FileTierBench implements TierBench {
    static final double AIM = 0.90;
    private static final List<String> OTHERS = List.of("fio", "plain");

    private final String tier;
    private final HostBlocks host;
    private final TemporaryDirectory directory;
    private final Optional<Fio> fio;
    private final Window window = new Window();

    /** @param tier its name in the report, and of its directory */
    FileTierBench(String tier, HostBlocks host, TemporaryDirectory directory, Optional<Fio> fio) {
        this.tier = tier;
        this.host = host;
        this.directory = directory;
        this.fio = fio;
    }

    final HostBlocks host() {
        return host;
    }

    final TemporaryDirectory directory() {
        return directory;
    }

    final Optional<Fio> fio() {
        return fio;
    }

    @Override
    public final List<Comparison> comparisons() {
        return List.of(
                new Comparison("host to " + tier, new Variant("Tierlog", () -> move(Mode.write)), others(Mode.write), aim()),
                new Comparison(tier + " to host", new Variant("Tierlog", () -> move(Mode.read)), others(Mode.read), aim()));
    }

    /** What the tier is compared with; the aim is about the first. */
    abstract List<Variant> others(Mode mode);

    /** Least share of fio's GB/s; 0 without fio. */
    private double aim() {
        return fio.isPresent() ? AIM : 0;
    }

    /** Begins the transfer of a block, as unit {@code id}. */
    abstract void begin(Mode mode, long id, int block);

    /** Opens an empty tier. */
    abstract void open() throws IOException;

    /** A unit of the tier has ended. */
    final void ended(long id, List<UnitResult> results) {
        window.ended(id, results);
    }

    private Sample move(Mode mode) throws InterruptedException {
        if (mode == Mode.read) {
            host.spoil();
        }
        Window.Times times = window.run(host.shape().blocks(), host.shape().depth(), (id, block) -> begin(mode, id, block), host::wrong);
        return Sample.of(host.shape().bytes(), times.nanos(), times.unitNanos());
    }

    @Override
    public final void beginRound() throws IOException {
        for (String name : OTHERS) {
            Files.createDirectories(directory.resolve(name));
        }
        open();
    }

    @Override
    public final void endRound() {
        close();
        TemporaryDirectory.remove(directory.resolve(tier));
        OTHERS.forEach(name -> TemporaryDirectory.remove(directory.resolve(name)));
    }
}
