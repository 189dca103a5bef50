/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What {@link PlacementIndex} must be, on the heap and without any art. */
final class ReferenceIndex {
    /** A placement, or an unreadable record. */
    private record Known(boolean readable, BlockPlacement placed) {}

    private final Map<BlockKey, Map<Location, Known>> blocks = new LinkedHashMap<>();
    private final Map<String, Long> highest = new HashMap<>();

    void put(BlockKey block, BlockPlacement placed) {
        blocks.computeIfAbsent(block, _ -> new LinkedHashMap<>()).put(placed.location(), new Known(true, placed));
        highest.merge(placed.location().owner(), placed.incarnation(), Math::max);
    }

    void unreadable(BlockKey block, Location location) {
        blocks.computeIfAbsent(block, _ -> new LinkedHashMap<>()).put(location, new Known(false, new BlockPlacement(location, 0, 0, 0)));
    }

    boolean remove(BlockKey block, Location location) {
        Map<Location, Known> known = blocks.get(block);
        boolean had = known != null && known.remove(location) != null;
        if (known != null && known.isEmpty()) {
            blocks.remove(block);
        }
        return had;
    }

    Presence presence(BlockKey block) {
        if (!where(block).isEmpty()) {
            return Presence.FOUND;
        }
        return blocks.getOrDefault(block, Map.of()).values().stream().allMatch(Known::readable) ? Presence.NOT_FOUND : Presence.UNKNOWN;
    }

    List<BlockPlacement> where(BlockKey block) {
        List<BlockPlacement> serving = new ArrayList<>();
        for (Known known : blocks.getOrDefault(block, Map.of()).values()) {
            long newest = highest.getOrDefault(known.placed().location().owner(), Long.MIN_VALUE);
            if (known.readable() && known.placed().incarnation() >= newest) {
                serving.add(known.placed());
            }
        }
        return serving;
    }

    List<Location> locations(BlockKey block) {
        return List.copyOf(blocks.getOrDefault(block, Map.of()).keySet());
    }

    List<BlockKey> blocks() {
        return List.copyOf(blocks.keySet());
    }

    int size() {
        return blocks.size();
    }

    long placements() {
        return blocks.values().stream().mapToLong(Map::size).sum();
    }

    long namespaces() {
        return blocks.keySet().stream().map(BlockKey::namespace).distinct().count();
    }
}
