/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.CopyPlanner.Options;
import io.tierlog.agent.core.copy.CopyPlanner.Pair;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.KvLayout.Region;
import io.tierlog.agent.core.layout.LayerSpec;
import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.layout.RegisteredLayer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Any plan, whole or cut, moves the bytes of the formula: random layouts (contiguous, split, padded, several regions), random pages,
 * both images, all options. The expected bytes are copied segment by segment from the addresses, not by the planner.
 */
class RandomPlansTest {
    private static final int SEEDS = 2_000;

    private final Random random = new Random();

    /** Everything of one seed. */
    private final class World {
        final List<Region> regions = new ArrayList<>();
        final List<byte[]> device = new ArrayList<>();
        final KvLayout layout;
        final int pages = 1 + random.nextInt(8);
        final byte[] host;
        final List<Pair> pairs = new ArrayList<>();

        World() throws LayoutFault {
            int blocks = 1 + random.nextInt(8);
            List<Layer> layers = new ArrayList<>();
            int count = 1 + random.nextInt(5);
            long base = random.nextLong(1, 1_000);
            boolean oneRegion = random.nextBoolean();
            for (int i = 0; i < count; i++) {
                RegisteredLayer memory = RegisteredLayer.of(spec(base, blocks));
                layers.add(new Layer(String.valueOf(i), oneRegion ? 0 : i, memory));
                regions.add(new Region(memory.base(), memory.size()));
                base += memory.size();
            }
            if (oneRegion) {
                long from = regions.getFirst().base();
                regions.clear();
                regions.add(new Region(from, base - from));
            }
            layout = KvLayout.of(regions, layers);
            regions.forEach(region -> device.add(bytes((int) region.bytes())));
            host = bytes((int) (pages * layout.blockBytes()));
            choosePairs(blocks);
        }

        private LayerSpec spec(long base, int blocks) {
            long bytes = random.nextLong(1, 6);
            int segments = 1 + random.nextInt(3);
            int gap = random.nextInt(3);
            return switch (random.nextInt(3)) {
                case 0 -> {
                    long stride = bytes * segments + gap;
                    yield new LayerSpec(base, blocks * stride, blocks, new Segments(bytes, bytes, segments), OptionalLong.of(stride));
                }
                case 1 -> {
                    long segmentStride = blocks * bytes + gap;
                    var segment = new Segments(bytes, segmentStride, segments);
                    yield new LayerSpec(base, segments * segmentStride + bytes, blocks, segment, OptionalLong.empty());
                }
                default -> {
                    long segmentStride = bytes + 1 + gap;
                    var segment = new Segments(bytes, segmentStride, segments);
                    yield new LayerSpec(base, segments * segmentStride * blocks, blocks, segment, OptionalLong.of(segments * segmentStride));
                }
            };
        }

        private void choosePairs(int blocks) {
            List<Integer> from = new ArrayList<>(IntStream.range(0, blocks).boxed().toList());
            List<Integer> to = new ArrayList<>(IntStream.range(0, pages).boxed().toList());
            if (random.nextBoolean()) {
                Collections.shuffle(from, random);
                Collections.shuffle(to, random);
            }
            int some = random.nextInt(Math.min(blocks, pages) + 1);
            IntStream.range(0, some).forEach(i -> pairs.add(new Pair(from.get(i), to.get(i))));
        }

        /** What the formula and the two pictures of {@link HostImage} say, one segment after the other. */
        void expected(HostImage.Form form, Direction direction, List<byte[]> deviceAfter, byte[] hostAfter) {
            for (Pair pair : pairs) {
                int before = 0;
                for (Layer layer : layout.layers()) {
                    int bytes = (int) layer.memory().segmentBytes();
                    int perPage = bytes * layer.memory().segments();
                    for (int segment = 0; segment < layer.memory().segments(); segment++) {
                        long base = regions.get(layer.region()).base();
                        int onDevice = (int) (layer.memory().address(pair.block(), segment) - base);
                        int onHost = segment * bytes + (form == HostImage.Form.PAGE_FIRST
                                ? pair.page() * (int) layout.blockBytes() + before
                                : pages * before + pair.page() * perPage);
                        if (direction == Direction.SAVE) {
                            System.arraycopy(deviceAfter.get(layer.region()), onDevice, hostAfter, onHost, bytes);
                        } else {
                            System.arraycopy(hostAfter, onHost, deviceAfter.get(layer.region()), onDevice, bytes);
                        }
                    }
                    before += perPage;
                }
            }
        }
    }

    private byte[] bytes(int length) {
        byte[] made = new byte[length];
        random.nextBytes(made);
        return made;
    }

    @Test
    void anyPlanMovesTheBytesOfTheFormula() throws LayoutFault {
        for (long seed = 0; seed < SEEDS; seed++) {
            random.setSeed(seed);
            World world = new World();
            for (HostImage.Form form : HostImage.Form.values()) {
                for (Direction direction : Direction.values()) {
                    Options options = new Options(random.nextInt(40), random.nextInt(3) == 0 ? random.nextInt(12) : 0);
                    check("seed " + seed + " " + form + " " + direction + " " + options, world, form, direction, options);
                }
            }
        }
    }

    private void check(String what, World world, HostImage.Form form, Direction direction, Options options) {
        PlanRunner runner = new PlanRunner();
        List<byte[]> device = world.device.stream().map(byte[]::clone).toList();
        byte[] host = world.host.clone();
        List<Allocation> opened = device.stream().map(bytes -> runner.add(Allocation.Side.DEVICE, 0x1000, bytes)).toList();
        Allocation slab = runner.add(Allocation.Side.HOST, 0x9000, host);
        HostImage image = form == HostImage.Form.PAGE_FIRST
                ? HostImage.pageFirst(List.of(slab), world.pages, world.layout)
                : HostImage.layerFirst(slab, world.pages, world.layout);
        List<DeviceLayer> layers = DeviceLayer.of(world.layout, opened);
        CopyPlan plan = CopyPlanner.plan(layers, image, world.pairs, options);

        long unit = random.nextLong(1, 31);
        for (CopyPlan part : plan.cut(unit)) {
            assertTrue(part.bytes() <= unit, what);
            assertTrue(part.copies().stream().allMatch(Copy::inBounds), what);
            runner.run(part, direction);
        }

        List<byte[]> deviceExpected = world.device.stream().map(byte[]::clone).toList();
        byte[] hostExpected = world.host.clone();
        world.expected(form, direction, deviceExpected, hostExpected);
        assertArrayEquals(hostExpected, host, what);
        for (int i = 0; i < device.size(); i++) {
            assertArrayEquals(deviceExpected.get(i), device.get(i), what);
        }
        assertEquals(world.pairs.size() * world.layout.blockBytes(), plan.bytes(), what);
        int naive = CopyPlanner.naive(layers, image, world.pairs).copies().size();
        assertTrue(plan.copies().size() <= naive, what);
    }
}
