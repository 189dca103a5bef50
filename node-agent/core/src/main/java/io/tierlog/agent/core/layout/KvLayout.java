/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

import static io.tierlog.agent.core.layout.RegisteredLayer.big;

import io.tierlog.agent.core.layout.LayoutFault.Reason;
import io.tierlog.schemas.Layout;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * All layers of an engine's device pool, in the order of their numbers, checked against each other. Immutable.
 *
 * <p>Addresses are the engine's own; what counts for the agent is how far a layer lies behind the beginning of its region, since the same
 * memory has another address in each process.
 */
public final class KvLayout {
    /** Most pieces of a block over all layers. */
    public static final int MOST_PIECES = 4_096;

    private static final int MOST_NAME_CHARACTERS = 256;

    /** An allocation of the engine: address of its first byte there, and its size; unsigned. */
    public record Region(long base, long bytes) {}

    /**
     * A layer.
     *
     * @param name the engine's name for it; gives the order
     * @param region number of the region it lies in
     * @param memory where exactly
     */
    public record Layer(String name, int region, RegisteredLayer memory) {}

    private final List<Region> regions;
    private final List<Layer> layers;

    private KvLayout(List<Region> regions, List<Layer> layers) {
        this.regions = regions;
        this.layers = layers;
    }

    /**
     * Checks layers against their regions and against each other.
     *
     * @throws LayoutFault with the first thing that is wrong
     */
    public static KvLayout of(List<Region> regions, List<Layer> layers) throws LayoutFault {
        if (layers.isEmpty()) {
            throw new LayoutFault(Reason.NO_LAYERS, "a layout has 1 layer or more");
        }
        long pieces = layers.stream().mapToLong(layer -> layer.memory().pieces()).sum();
        if (pieces > MOST_PIECES) {
            throw new LayoutFault(Reason.TOO_MANY_PIECES,
                    layers.size() + " layers cut a block into " + pieces + " pieces, at most " + MOST_PIECES + " are taken");
        }
        List<Layer> sorted = new ArrayList<>(layers);
        sorted.sort(Comparator.comparing(Layer::name, LayerNames.ORDER));
        Set<String> names = new LinkedHashSet<>();
        for (Layer layer : sorted) {
            checkName(layer.name(), names);
            checkRegion(layer, regions);
            if (layer.memory().blocks() != sorted.getFirst().memory().blocks()) {
                throw new LayoutFault(Reason.BLOCKS_DIFFER, "layer " + layer.name() + " has " + layer.memory().blocks() + " blocks, layer "
                        + sorted.getFirst().name() + " has " + sorted.getFirst().memory().blocks());
            }
        }
        checkApart(sorted);
        return new KvLayout(List.copyOf(regions), List.copyOf(sorted));
    }

    /** Blocks of one opaque segment, one after the other, in a region of that size. */
    public static KvLayout opaque(int blocks, long blockBytes) throws LayoutFault {
        long base = 1; // Of no meaning but that it is not 0: a single region begins where its layer does.
        long bytes = Math.multiplyExact(blocks, blockBytes);
        var segment = new LayerSpec.Segments(blockBytes, 0, 1);
        RegisteredLayer memory = RegisteredLayer.of(new LayerSpec(base, bytes, blocks, segment, OptionalLong.empty()));
        return of(List.of(new Region(base, bytes)), List.of(new Layer("kv", 0, memory)));
    }

    private static void checkName(String name, Set<String> before) throws LayoutFault {
        if (name.isEmpty() || name.length() > MOST_NAME_CHARACTERS || name.chars().anyMatch(Character::isISOControl)) {
            throw new LayoutFault(Reason.NAME_INVALID,
                    "the name of a layer has 1 to " + MOST_NAME_CHARACTERS + " characters, none of them a control, not " + name.length());
        }
        if (!before.add(name)) {
            throw new LayoutFault(Reason.NAME_REPEATED, "two layers have the name " + name);
        }
    }

    private static void checkRegion(Layer layer, List<Region> regions) throws LayoutFault {
        if (layer.region() < 0 || layer.region() >= regions.size()) {
            throw new LayoutFault(Reason.REGION_UNKNOWN,
                    "layer " + layer.name() + " names region " + layer.region() + " of " + regions.size());
        }
        Region region = regions.get(layer.region());
        BigInteger from = big(layer.memory().base());
        BigInteger end = from.add(big(layer.memory().size()));
        BigInteger regionEnd = big(region.base()).add(big(region.bytes()));
        if (from.compareTo(big(region.base())) < 0 || end.compareTo(regionEnd) > 0) {
            throw new LayoutFault(Reason.OUTSIDE_REGION, "layer " + layer.name() + " lies from " + from + " to " + end + ", its region from "
                    + big(region.base()) + " to " + regionEnd);
        }
    }

    // --- layers that lie within each other

    private static void checkApart(List<Layer> layers) throws LayoutFault {
        for (int i = 0; i < layers.size(); i++) {
            for (int j = i + 1; j < layers.size(); j++) {
                Layer a = layers.get(i);
                Layer b = layers.get(j);
                if (a.region() == b.region() && !disjoint(a.memory(), b.memory()) && shareBytes(a.memory(), b.memory())) {
                    throw new LayoutFault(Reason.LAYERS_OVERLAP, "layers " + a.name() + " (from " + big(a.memory().base()) + ") and "
                            + b.name() + " (from " + big(b.memory().base()) + ") share bytes, or lie within each other with block strides of "
                            + a.memory().blockStride() + " and " + b.memory().blockStride());
                }
            }
        }
    }

    private static boolean disjoint(RegisteredLayer a, RegisteredLayer b) {
        return big(lastByte(a)).compareTo(big(b.base())) < 0 || big(lastByte(b)).compareTo(big(a.base())) < 0;
    }

    private static long lastByte(RegisteredLayer layer) {
        return layer.pieceAddress(layer.blocks() - 1, layer.pieces() - 1) + layer.pieceBytes() - 1;
    }

    /** Exact for layers of one block stride; layers of different strides that lie within each other are not worth telling apart. */
    private static boolean shareBytes(RegisteredLayer a, RegisteredLayer b) {
        if (a.blockStride() != b.blockStride()) {
            return true;
        }
        for (int i = 0; i < a.pieces(); i++) {
            for (int j = 0; j < b.pieces(); j++) {
                long distance = b.pieceAddress(0, j) - a.pieceAddress(0, i);
                long floor = Math.floorDiv(distance, a.blockStride());
                for (long d = floor; d <= floor + 1; d++) {
                    long gap = distance - d * a.blockStride();
                    boolean overlap = gap < a.pieceBytes() && -gap < b.pieceBytes();
                    if (overlap && Math.abs(d) < a.blocks()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    // --- looking

    /** The layers, by their numbers. */
    public List<Layer> layers() {
        return layers;
    }

    /** The regions, as the engine numbered them. */
    public List<Region> regions() {
        return regions;
    }

    /** Number of blocks of every layer. */
    public int blocks() {
        return layers.getFirst().memory().blocks();
    }

    /** Bytes of a block over all layers, without gaps: the size of a host page. */
    public long blockBytes() {
        return layers.stream().mapToLong(layer -> layer.memory().blockBytes()).sum();
    }

    /** Bytes of a block on a disk that writes whole sectors of that size; see {@link RegisteredLayer#diskBytes}. */
    public long diskBytes(int sectorBytes) {
        return layers.stream().mapToLong(layer -> layer.memory().diskBytes(sectorBytes)).sum();
    }

    /**
     * Compares with the layouts that engine and agent agreed on by their digest: as many layers, in their order, with segments of that
     * number and size. Layouts of one layer of one segment are opaque: any layers will do whose bytes add up to it.
     *
     * @throws LayoutFault GEOMETRY_MISMATCH with the first layer that differs
     */
    public void checkAgainst(List<Layout> agreed) throws LayoutFault {
        if (agreed.size() == 1 && agreed.getFirst().layers() == 1 && agreed.getFirst().segments() == 1) {
            if (agreed.getFirst().segmentBytes() != blockBytes()) {
                throw mismatch("a block has " + blockBytes() + " bytes, agreed are " + agreed.getFirst().segmentBytes());
            }
            return;
        }
        long expected = agreed.stream().mapToLong(Layout::layers).sum();
        if (expected != layers.size()) {
            throw mismatch(layers.size() + " layers, agreed are " + expected);
        }
        int at = 0;
        for (Layout group : agreed) {
            for (int i = 0; i < group.layers(); i++) {
                Layer layer = layers.get(at++);
                if (layer.memory().segments() != group.segments() || layer.memory().segmentBytes() != group.segmentBytes()) {
                    throw mismatch("layer " + layer.name() + " has " + layer.memory().segments() + " segments of "
                            + layer.memory().segmentBytes() + " bytes, agreed for " + group.name() + " are " + group.segments() + " of "
                            + group.segmentBytes());
                }
            }
        }
    }

    private static LayoutFault mismatch(String detail) {
        return new LayoutFault(Reason.GEOMETRY_MISMATCH, detail);
    }
}
