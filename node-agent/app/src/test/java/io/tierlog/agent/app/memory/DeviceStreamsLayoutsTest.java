/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.copy.CopyPlanner;
import io.tierlog.agent.core.copy.GoldenVector;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.KvLayout.Region;
import io.tierlog.agent.core.layout.LayerSpec;
import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.layout.RegisteredLayer;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.schemas.OperationReason;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blocks of several layers and segments, through units, slabs and pieces: the golden vector, and K and V apart in two regions. */
class DeviceStreamsLayoutsTest {
    @TempDir
    Path directory;

    private final List<CopiesEnded> ended = new CopyOnWriteArrayList<>();

    private MemoryHandle file(byte[] content) throws Exception {
        return new MemoryHandle.SharedFile(Files.write(Files.createTempFile(directory, "device", ""), content).toString());
    }

    private static byte[] read(MemoryHandle handle) throws Exception {
        return Files.readAllBytes(Path.of(((MemoryHandle.SharedFile) handle).path()));
    }

    private List<UnitResult> await(long unit) {
        Eventually.await("unit " + unit, () -> ended.stream().anyMatch(e -> e.unit() == unit));
        return ended.stream().filter(e -> e.unit() == unit).findFirst().orElseThrow().results();
    }

    private static byte[] page(HostPool host, int page) {
        return host.page(page).toArray(ValueLayout.JAVA_BYTE);
    }

    /** With pieces larger than a block, of about half a block, and of 100 bytes. */
    @Test
    void theGoldenVectorGoesThroughUnits() throws Exception {
        for (long workBytes : new long[] {1 << 20, 4_096, 200}) {
            DeviceStreams.Limits limits = new DeviceStreams.Limits(8, 1 << 20, workBytes, 0, 20_000, CopyPlanner.GATHER_BELOW_BYTES);
            EmulatedDevice device = new EmulatedDevice("golden", EmulatedDevice.Limits.DEFAULTS);
            ended.clear();
            // Slabs of two pages, so that the third lies in another one.
            HostPool.Options slabs = new HostPool.Options(true, OptionalInt.empty(), 2 * GoldenVector.PAGE_BYTES);
            try (HostPool host = HostPool.allocate(GoldenVector.PAGES, GoldenVector.PAGE_BYTES, slabs);
                    DeviceStreams streams = DeviceStreams.start("golden", device, host, limits, ended::add)) {
                MemoryHandle engine = file(GoldenVector.device());
                KvLayout layout = GoldenVector.GEOMETRY.layout(0x7f00_0000, GoldenVector.BLOCKS);
                streams.attach(EnginePool.open(device, List.of(layout), List.of(engine)));

                streams.save(1, GoldenVector.SAVE.stream().map(pair -> new PageCopy(pair.block(), pair.page(), 0)).toList());
                List<UnitResult> saved = await(1);
                assertEquals(Collections.nCopies(3, OperationReason.COMPLETED), saved.stream().map(UnitResult::reason).toList());
                assertEquals(GoldenVector.BLOCK_CRC32, IntStream.range(0, GoldenVector.PAGES)
                        .mapToObj(page -> GoldenVector.crc32(page(host, page), 0, GoldenVector.PAGE_BYTES))
                        .toList());

                streams.load(2, GoldenVector.LOAD.stream()
                        .map(pair -> new PageCopy(pair.block(), pair.page(), saved.get(pair.page()).crc32c()))
                        .toList());
                assertEquals(saved, await(2));
                assertEquals(GoldenVector.DEVICE_AFTER, GoldenVector.sums(read(engine)));
            }
        }
    }

    /** Layer 2 in a region of its own with gaps, layers 3 and 10 in another with K and V apart; 16 blocks of 3 * 2 * 64 bytes. */
    private static KvLayout split() throws LayoutFault {
        Region first = new Region(0x1000, 16 * 200);
        Region second = new Region(0x8000, 4 * 16 * 64);
        return KvLayout.of(List.of(first, second), List.of(
                layer("10", 1, 0x8000 + 2 * 16 * 64, new Segments(64, 16 * 64, 2), OptionalLong.empty()),
                layer("2", 0, 0x1000, new Segments(64, 64, 2), OptionalLong.of(200)),
                layer("3", 1, 0x8000, new Segments(64, 16 * 64, 2), OptionalLong.empty())));
    }

    private static Layer layer(String name, int region, long base, Segments segments, OptionalLong stride) throws LayoutFault {
        long size = segments.stride() == segments.bytes() ? 16 * 200 : 2 * 16 * 64;
        return new Layer(name, region, RegisteredLayer.of(new LayerSpec(base, size, 16, segments, stride)));
    }

    @Test
    void aBlockIsPutTogetherFromItsRegionsAndTakenApart() throws Exception {
        byte[] low = new byte[16 * 200];
        byte[] high = new byte[4 * 16 * 64];
        new Random(1).nextBytes(low);
        new Random(2).nextBytes(high);
        List<MemoryHandle> engine = List.of(file(low), file(high));
        EmulatedDevice device = new EmulatedDevice("split", EmulatedDevice.Limits.DEFAULTS);
        try (HostPool host = HostPool.allocate(16, 384);
                DeviceStreams streams = DeviceStreams.start("split", device, host, DeviceStreams.Limits.DEFAULTS, ended::add)) {
            streams.attach(EnginePool.open(device, List.of(split()), engine));
            streams.save(1, IntStream.range(0, 5).mapToObj(i -> new PageCopy(i, 9 - 2 * i, 0)).toList());
            List<UnitResult> saved = await(1);
            for (int block = 0; block < 5; block++) {
                assertArrayEquals(expected(low, high, block), page(host, 9 - 2 * block), "block " + block);
            }

            streams.load(2, IntStream.range(0, 5).mapToObj(i -> new PageCopy(15 - i, 9 - 2 * i, saved.get(i).crc32c())).toList());
            assertEquals(saved, await(2));
            byte[] lowAfter = read(engine.get(0));
            byte[] highAfter = read(engine.get(1));
            for (int block = 0; block < 5; block++) {
                assertArrayEquals(expected(low, high, block), expected(lowAfter, highAfter, 15 - block), "block " + (15 - block));
            }
            assertArrayEquals(expected(low, high, 10), expected(lowAfter, highAfter, 10), "a block that was not loaded is as it was");
            for (int gap = 128; gap < 200; gap++) {
                assertEquals(low[15 * 200 + gap], lowAfter[15 * 200 + gap], "between the blocks nothing is written");
            }
        }
    }

    /** 4 blocks of 300 bytes on two ranks: what rank 0 holds is saved, and both have it after a load; without one of them no block has arrived. */
    @Test
    void replicatedLayersAreSavedFromOneRankAndLoadedToAll() throws Exception {
        byte[] first = new byte[4 * 300];
        byte[] second = new byte[100 + 4 * 300];
        new Random(3).nextBytes(first);
        new Random(4).nextBytes(second);
        List<MemoryHandle> engine = List.of(file(first), file(second));
        List<Region> regions = List.of(new Region(0x1000, first.length), new Region(0x8000, second.length));
        FaultyDeviceMemory device = new FaultyDeviceMemory(new EmulatedDevice("ranks", EmulatedDevice.Limits.DEFAULTS));
        try (HostPool host = HostPool.allocate(4, 300);
                DeviceStreams streams = DeviceStreams.start("ranks", device, host, DeviceStreams.Limits.DEFAULTS, ended::add)) {
            streams.attach(EnginePool.open(device, List.of(ofRank(regions, 0, 0x1000), ofRank(regions, 1, 0x8000 + 100)), engine));
            streams.save(1, List.of(new PageCopy(2, 0, 0), new PageCopy(3, 1, 0)));
            List<UnitResult> saved = await(1);
            assertArrayEquals(Arrays.copyOfRange(first, 2 * 300, 3 * 300), page(host, 0));

            streams.load(2, List.of(new PageCopy(0, 0, saved.get(0).crc32c()), new PageCopy(1, 1, saved.get(1).crc32c())));
            assertEquals(saved, await(2));
            assertArrayEquals(Arrays.copyOfRange(first, 2 * 300, 4 * 300), Arrays.copyOf(read(engine.get(0)), 2 * 300));
            assertArrayEquals(Arrays.copyOfRange(first, 2 * 300, 4 * 300), Arrays.copyOfRange(read(engine.get(1)), 100, 100 + 2 * 300));
            assertArrayEquals(Arrays.copyOf(second, 100), Arrays.copyOf(read(engine.get(1)), 100), "before its layers nothing is written");

            device.failAfter(FaultyDeviceMemory.Call.ENQUEUE, 1, DeviceFault.Kind.COPY_FAILED);
            streams.load(3, List.of(new PageCopy(2, 0, saved.get(0).crc32c())));
            assertEquals(List.of(OperationReason.DEVICE_FAULT), await(3).stream().map(UnitResult::reason).toList());
        }
    }

    private static KvLayout ofRank(List<Region> regions, int region, long base) throws LayoutFault {
        LayerSpec spec = new LayerSpec(base, 4 * 300, 4, new Segments(300, 0, 1), OptionalLong.empty());
        return KvLayout.of(regions, List.of(new Layer("kv", region, RegisteredLayer.of(spec))));
    }

    /** By hand: layer 2 K V, layer 3 K, V, layer 10 K, V. */
    private static byte[] expected(byte[] low, byte[] high, int block) {
        byte[] page = new byte[384];
        System.arraycopy(low, block * 200, page, 0, 128);
        for (int part = 0; part < 4; part++) {
            System.arraycopy(high, part * 16 * 64 + block * 64, page, 128 + part * 64, 64);
        }
        return page;
    }
}
