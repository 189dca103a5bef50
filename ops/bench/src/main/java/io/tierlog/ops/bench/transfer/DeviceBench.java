/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.ops.bench.report.BenchException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Host pages to the pages of an engine and back, by the agent's streams, in units as large as the agent's. The engine's pages are in random order, as
 * after some hours; the plain copy moves one contiguous run of bytes.
 */
final class DeviceBench implements TierBench {
    private static final double AIM = 0.95;
    private static final int UNIT_BLOCKS = AgentLimits.defaults().units().blocks();
    private static final int MOST_TIMED_BLOCKS = 64;
    private static final long SEED = 11;

    private final String title;
    private final HostBlocks host;
    private final Window window = new Window();
    private final DeviceStreams streams;
    private final BenchDevice.Plain plain;
    private final List<PageCopy> copies = new ArrayList<>();

    private DeviceBench(String title, HostBlocks host, BenchDevice device, KvLayout layout) throws DeviceFault {
        this.host = host;
        HostTrackingDevice memory = new HostTrackingDevice(device.open());
        this.title = title + ", " + memory.facts().name();
        this.streams = DeviceStreams.start(
                "bench", memory, host.pool(), DeviceStreams.Limits.DEFAULTS, ended -> window.ended(ended.unit(), ended.results()));
        try {
            streams.attach(EnginePool.open(memory, List.of(layout), List.of(device.allocate(host.shape().bytes()))));
            this.plain = device.plain(memory, host);
        } catch (DeviceFault e) {
            streams.close();
            throw e;
        }
        List<Integer> pages = new ArrayList<>();
        for (int page = 0; page < host.shape().blocks(); page++) {
            pages.add(page);
        }
        Collections.shuffle(pages, new Random(SEED));
        for (int block = 0; block < pages.size(); block++) {
            copies.add(new PageCopy(pages.get(block), block, host.crc32c(block)));
        }
    }

    /** @throws BenchException when the device refuses */
    static DeviceBench open(String layoutName, KvLayout layout, HostBlocks host, BenchDevice device) {
        try {
            return new DeviceBench("device, " + layoutName, host, device, layout);
        } catch (DeviceFault e) {
            throw BenchException.failed("cannot use the device: " + e.getMessage(), "use fewer --blocks, or free memory of the device").causedBy(e);
        }
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public List<Comparison> comparisons() {
        return List.of(contest("host to device", Direction.LOAD), contest("device to host", Direction.SAVE));
    }

    private Comparison contest(String name, Direction direction) {
        return new Comparison(
                name,
                new Variant("Tierlog", () -> ours(direction)),
                List.of(
                        new Variant(plain.name(), () -> all(direction)),
                        new Variant(plain.name() + ", and CRC32C of each block", () -> checked(direction))),
                AIM);
    }

    /** All blocks in the agent's units, for the throughput; then some alone, for the time of one. */
    private Sample ours(Direction direction) throws InterruptedException {
        int blocks = copies.size();
        if (direction == Direction.SAVE) {
            host.spoil();
        }
        int units = Math.ceilDiv(blocks, UNIT_BLOCKS);
        Window.Times all = window.run(units, units, (id, unit) -> begin(direction, id, unit(unit)), this::wrong);
        Window.Times alone = window.run(
                Math.min(blocks, MOST_TIMED_BLOCKS), 1, (id, block) -> begin(direction, id, copies.subList(block, block + 1)), host::wrong);
        return Sample.of(host.shape().bytes(), all.nanos(), alone.unitNanos());
    }

    private List<PageCopy> unit(int unit) {
        return copies.subList(unit * UNIT_BLOCKS, Math.min(copies.size(), (unit + 1) * UNIT_BLOCKS));
    }

    private void begin(Direction direction, long id, List<PageCopy> unit) {
        switch (direction) {
            case LOAD -> streams.load(id, unit);
            case SAVE -> streams.save(id, unit);
        }
    }

    private @Nullable String wrong(int unit, List<UnitResult> results) {
        String wrong = null;
        for (int at = 0; at < results.size() && wrong == null; at++) {
            wrong = host.wrong(unit * UNIT_BLOCKS + at, results.subList(at, at + 1));
        }
        return wrong;
    }

    /** All bytes in one copy; then some blocks alone. */
    private Sample all(Direction direction) {
        long start = System.nanoTime();
        copy(direction, 0, host.shape().bytes());
        long nanos = System.nanoTime() - start;
        Histogram took = Sample.times();
        int timed = Math.min(copies.size(), MOST_TIMED_BLOCKS);
        for (int block = 0; block < timed; block++) {
            long began = System.nanoTime();
            copyBlock(direction, block);
            took.recordValue(System.nanoTime() - began);
        }
        return Sample.of(host.shape().bytes(), nanos, took);
    }

    /** Block by block, each with its checksum: the cost of a verified copy by one thread. */
    private Sample checked(Direction direction) {
        Histogram took = Sample.times();
        long start = System.nanoTime();
        for (int block = 0; block < copies.size(); block++) {
            long began = System.nanoTime();
            copyBlock(direction, block);
            if (host.pool().crc32c(block) != host.crc32c(block)) {
                throw BenchException.failed("a plain copy has changed block " + block, "look at the memory of this machine");
            }
            took.recordValue(System.nanoTime() - began);
        }
        return Sample.of(host.shape().bytes(), System.nanoTime() - start, took);
    }

    private void copyBlock(Direction direction, int block) {
        copy(direction, (long) block * host.shape().blockBytes(), host.shape().blockBytes());
    }

    private void copy(Direction direction, long offset, long bytes) {
        try {
            plain.copy(direction, offset, bytes);
        } catch (DeviceFault e) {
            throw BenchException.failed("a plain copy failed: " + e.getMessage(), "look at the device").causedBy(e);
        }
    }

    /** Fills the device, so that saves copy defined content. */
    @Override
    public void beginRound() {
        copy(Direction.LOAD, 0, host.shape().bytes());
    }

    @Override
    public void close() {
        plain.close();
        streams.close();
    }
}
