/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.app.store.StoreLocation;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import io.tierlog.schemas.BlockStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A store behind a server, as an agent opens it: host pages to it and back through the agent's workers, one block a unit, written if absent and
 * verified when read. At the end of a round all objects are deleted, each by its generation, so every round writes new ones. For one thread.
 */
abstract class ServerStoreBench implements TierBench {
    private static final int TIMEOUT_MS = 60_000;

    private final String tier;
    private final HostBlocks host;
    private final Window window = new Window();
    private final StoreUnits units;
    private long generation;

    /**
     * @param tier its name in the report
     * @param location what {@code --store} names, with a first parameter; bounds of calls are added, since many large blocks may wait for each other
     */
    ServerStoreBench(String tier, HostBlocks host, String location) {
        this.tier = tier;
        this.host = host;
        StoreLocation at = StoreLocation.parse(location + "&connections=" + host.shape().depth() + "&timeout-ms=" + TIMEOUT_MS);
        this.units = new StoreUnits(at.open(false), host, window::ended);
    }

    final HostBlocks host() {
        return host;
    }

    @Override
    public final List<Comparison> comparisons() {
        return List.of(
                new Comparison("host to " + tier, new Variant("Tierlog", () -> move(Mode.write)), others(Mode.write), 0),
                new Comparison(tier + " to host", new Variant("Tierlog", () -> move(Mode.read)), others(Mode.read), 0));
    }

    /** What the store is compared with. */
    abstract List<Variant> others(Mode mode);

    private Sample move(Mode mode) throws InterruptedException {
        if (mode == Mode.read) {
            host.spoil();
        }
        Window.Times times = window.run(host.shape().blocks(), host.shape().depth(), (id, block) -> units.begin(mode, id, block), host::wrong);
        return Sample.of(host.shape().bytes(), times.nanos(), times.unitNanos());
    }

    @Override
    public final void beginRound() {
        generation++;
    }

    @Override
    public void endRound() {
        try {
            window.run(host.shape().blocks(), host.shape().depth(), (id, block) -> units.delete(id, block, generation), ServerStoreBench::kept);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("the benchmark was interrupted", "run it again").causedBy(e);
        }
    }

    private static @Nullable String kept(int block, List<UnitResult> results) {
        UnitResult result = results.getFirst();
        return result.status() == BlockStatus.GONE ? null
                : "block " + block + " was to be deleted and ended " + result.status() + ", " + result.reason();
    }

    @Override
    public void close() {
        units.close();
    }
}
