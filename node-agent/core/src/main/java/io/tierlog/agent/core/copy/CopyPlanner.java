/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import io.tierlog.agent.core.copy.Copy.Fragment;
import io.tierlog.agent.core.copy.Copy.Gather;
import io.tierlog.agent.core.copy.Copy.Linear;
import io.tierlog.agent.core.copy.Copy.Pitch;
import io.tierlog.agent.core.copy.Copy.Strided;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes few copies of many: a pure function of where blocks lie on both sides. Static and without state.
 *
 * <ol>
 *   <li>Neighbours on both sides, of one allocation on each, become one run.
 *   <li>Runs of equal length at equal distances on both sides become a rectangle: over the blocks of a layer or over the layers of a block,
 *       whichever makes fewer copies.
 *   <li>On request, runs too short for a copy of their own become one list for a gather kernel.
 * </ol>
 */
public final class CopyPlanner {
    /** Two rows are as well copied one by one. */
    static final int LEAST_ROWS = 3;

    /** So few fragments are as well copied one by one: a kernel disturbs decoding. */
    static final int LEAST_FRAGMENTS = 4;

    /** Below this length, in bytes, one gather kernel beats single copies. */
    public static final long GATHER_BELOW_BYTES = 64L << 10;

    /** A block of the device and the host page it goes to or comes from. */
    public record Pair(int block, int page) {}

    /**
     * What the planner may use.
     *
     * @param mostPitchBytes largest pitch of a rectangle; 0 for no rectangles
     * @param gatherBelowBytes runs shorter than this are gathered; 0 for no gathers
     */
    public record Options(long mostPitchBytes, long gatherBelowBytes) {
        /** Single runs only. */
        public static final Options LINEAR = new Options(0, 0);
        /** Rectangles of any pitch that a driver takes. */
        public static final Options STRIDED = new Options(Integer.MAX_VALUE, 0);
        /** Rectangles, and gathers below {@link #GATHER_BELOW_BYTES}. */
        public static final Options GATHERING = new Options(Integer.MAX_VALUE, GATHER_BELOW_BYTES);
    }

    /**
     * A run, and its position in its block.
     *
     * @param lane number of its first piece in the block
     * @param order number of its block in the call
     */
    private record Run(int lane, int order, Place device, Place host, long bytes) {
        boolean touches(Run next) {
            return device.touches(bytes, next.device) && host.touches(bytes, next.host);
        }

        Run with(Run next) {
            return new Run(lane, order, device, host, bytes + next.bytes);
        }

        Linear copy() {
            return new Linear(device, host, bytes);
        }
    }

    private static final Comparator<Run> BY_PLACE = Comparator.<Run>comparingLong(run -> run.device.allocation().id())
            .thenComparingLong(run -> run.device.offset())
            .thenComparingLong(run -> run.host.allocation().id())
            .thenComparingLong(run -> run.host.offset());
    private static final Comparator<Run> BY_LANE = Comparator.comparingInt(Run::lane).thenComparingLong(Run::bytes).thenComparing(BY_PLACE);
    private static final Comparator<Run> BY_BLOCK = Comparator.comparingInt(Run::order).thenComparingLong(Run::bytes).thenComparing(BY_PLACE);

    private CopyPlanner() {}

    /**
     * Plans copies between blocks and pages.
     *
     * @param layers of the device, in the order of the host image
     * @param pairs what goes where; no destination twice
     * @throws IndexOutOfBoundsException when a block or page is not there
     */
    public static CopyPlan plan(List<DeviceLayer> layers, HostImage host, List<Pair> pairs, Options options) {
        List<Run> merged = merge(runs(layers, host, pairs));
        List<Copy> copies = new ArrayList<>();
        List<Run> rest = options.gatherBelowBytes() > 0 ? gather(merged, options.gatherBelowBytes(), copies) : merged;
        if (options.mostPitchBytes() > 0) {
            List<Copy> overBlocks = rectangles(rest, BY_LANE, options.mostPitchBytes());
            List<Copy> overLayers = rectangles(rest, BY_BLOCK, options.mostPitchBytes());
            copies.addAll(overBlocks.size() <= overLayers.size() ? overBlocks : overLayers);
        } else {
            rest.forEach(run -> copies.add(run.copy()));
        }
        return new CopyPlan(copies);
    }

    /** The plan as single copies, one per piece: a plan must be equal to it, byte by byte. */
    public static CopyPlan naive(List<DeviceLayer> layers, HostImage host, List<Pair> pairs) {
        return new CopyPlan(runs(layers, host, pairs).stream().<Copy>map(Run::copy).toList());
    }

    private static List<Run> runs(List<DeviceLayer> layers, HostImage host, List<Pair> pairs) {
        List<Run> runs = new ArrayList<>();
        for (int order = 0; order < pairs.size(); order++) {
            Pair pair = pairs.get(order);
            int lane = 0;
            for (int layer = 0; layer < layers.size(); layer++) {
                DeviceLayer device = layers.get(layer);
                for (int piece = 0; piece < device.memory().pieces(); piece++) {
                    Place from = device.place(pair.block(), piece);
                    runs.add(new Run(lane++, order, from, host.place(pair.page(), layer, piece), device.memory().pieceBytes()));
                }
            }
        }
        return runs;
    }

    /** Neighbours on the device are neighbours once sorted by device places, so one pass finds all that can be merged. */
    private static List<Run> merge(List<Run> runs) {
        runs.sort(BY_PLACE);
        List<Run> merged = new ArrayList<>(runs.size());
        for (Run run : runs) {
            if (!merged.isEmpty() && merged.getLast().touches(run)) {
                merged.add(merged.removeLast().with(run));
            } else {
                merged.add(run);
            }
        }
        return merged;
    }

    /** Takes the short runs out, into gathers of one length each; returns the rest. */
    private static List<Run> gather(List<Run> runs, long belowBytes, List<Copy> copies) {
        Map<Long, List<Run>> byLength = new TreeMap<>();
        List<Run> rest = new ArrayList<>();
        for (Run run : runs) {
            if (run.bytes() < belowBytes) {
                byLength.computeIfAbsent(run.bytes(), any -> new ArrayList<>()).add(run);
            } else {
                rest.add(run);
            }
        }
        byLength.forEach((bytes, all) -> {
            if (all.size() < LEAST_FRAGMENTS) {
                rest.addAll(all);
            } else {
                copies.add(new Gather(all.stream().map(run -> new Fragment(run.device(), run.host())).toList(), bytes));
            }
        });
        return rest;
    }

    private static List<Copy> rectangles(List<Run> runs, Comparator<Run> order, long mostPitch) {
        List<Run> sorted = new ArrayList<>(runs);
        sorted.sort(order);
        List<Copy> copies = new ArrayList<>();
        for (int at = 0; at < sorted.size(); ) {
            Run first = sorted.get(at);
            int rows = rows(sorted, at, mostPitch);
            if (rows >= LEAST_ROWS) {
                copies.add(new Strided(first.device(), first.host(), pitch(first, sorted.get(at + 1)), first.bytes(), rows));
                at += rows;
            } else {
                copies.add(first.copy());
                at++;
            }
        }
        return copies;
    }

    /** How many runs from {@code at} on are rows of one rectangle. */
    private static int rows(List<Run> runs, int at, long mostPitch) {
        Run first = runs.get(at);
        if (at + 1 >= runs.size() || !sameKind(first, runs.get(at + 1))) {
            return 1;
        }
        Pitch pitch = pitch(first, runs.get(at + 1));
        long least = Math.min(pitch.device(), pitch.host());
        if (least < first.bytes() || Math.max(pitch.device(), pitch.host()) > mostPitch) {
            return 1;
        }
        int rows = 2;
        while (at + rows < runs.size()
                && sameKind(first, runs.get(at + rows))
                && pitch(runs.get(at + rows - 1), runs.get(at + rows)).equals(pitch)) {
            rows++;
        }
        return rows;
    }

    private static boolean sameKind(Run a, Run b) {
        return a.bytes() == b.bytes()
                && a.device().allocation().id() == b.device().allocation().id()
                && a.host().allocation().id() == b.host().allocation().id();
    }

    private static Pitch pitch(Run a, Run b) {
        return new Pitch(b.device().offset() - a.device().offset(), b.host().offset() - a.host().offset());
    }
}
