/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.disk;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.function.Supplier;

/**
 * The placements on the disk of the node: one at most per block, their states, their pins, and which others extend them.
 *
 * <p>It keeps names and never bytes; the disk itself verifies what it reads. The only writer of {@link DiskPlacement}. For one thread. Trade-off:
 * about 300 bytes of heap for each placement, so a disk of a million blocks takes 300 MB.
 *
 * <p>A pin has a name and never a count. The capacity bounds the placements in all states together, also those that leave.
 */
public final class DiskIndex {
    private static final class Space {
        final Map<Bytes, DiskPlacement> copies = new LinkedHashMap<>();
        /** How many placements extend a block: those that serve or will, and those that leave until the log has the event. */
        final Map<Bytes, Integer> children = new LinkedHashMap<>();
    }

    private final int capacity;
    private final Map<String, Space> spaces = new LinkedHashMap<>();
    private final Map<String, SequencedSet<DiskPlacement>> pins = new LinkedHashMap<>();
    private final Map<DiskState, Integer> counts = new EnumMap<>(DiskState.class);
    private int size;
    private long pinCount;

    /** An empty index with capacity for {@code capacity} placements; 0 when there is no disk tier. */
    public DiskIndex(int capacity) {
        this.capacity = capacity;
        for (DiskState state : DiskState.values()) {
            counts.put(state, 0);
        }
    }

    // --- looking

    /** Copies there may be, in blocks. */
    public int capacity() {
        return capacity;
    }

    /** True when there is no capacity for one more placement. */
    public boolean isFull() {
        return size >= capacity;
    }

    /** Number of copies in {@code state}. */
    public int count(DiskState state) {
        return counts.getOrDefault(state, 0);
    }

    /** Number of named pins on copies. */
    public long pinCount() {
        return pinCount;
    }

    /** The copy of the block, in whatever state. */
    public Optional<DiskPlacement> known(String namespace, Bytes key) {
        Space space = spaces.get(namespace);
        return space == null ? Optional.empty() : Optional.ofNullable(space.copies.get(key));
    }

    /** The copy of the block, if it serves. */
    public Optional<DiskPlacement> serving(String namespace, Bytes key) {
        return known(namespace, key).filter(copy -> copy.state == DiskState.SERVING);
    }

    /** How many others extend the copy: when none does, it may leave without making a hole. */
    public int children(DiskPlacement copy) {
        return space(copy).children.getOrDefault(copy.block.key(), 0);
    }

    /** Use of the tier; the six states of the log add up to the capacity. What was found and not reported counts as being filled. */
    public TierUsage usage() {
        return new TierUsage(
                Tier.DISK,
                capacity,
                capacity - size,
                count(DiskState.RESERVED),
                count(DiskState.FOUND) + count(DiskState.WRITING),
                count(DiskState.SERVING),
                count(DiskState.LEAVING),
                count(DiskState.QUARANTINED),
                pinCount);
    }

    // --- states of a placement

    /**
     * Takes note of a copy that the disk held at start. Of two of one block the higher generation counts.
     *
     * @return the copy when it is new
     * @throws IllegalStateException when there is no capacity
     */
    public Optional<DiskPlacement> found(String namespace, Block block, long generation, int crc32c) {
        Optional<DiskPlacement> before = known(namespace, block.key());
        DiskPlacement copy = before.orElseGet(() -> add(namespace, block, DiskState.FOUND));
        if (copy.generation < generation) {
            copy.generation = generation;
            copy.crc32c = crc32c;
        }
        return before.isPresent() ? Optional.empty() : Optional.of(copy);
    }

    /** The log has the event of a placement that was found: it serves. */
    public void reported(DiskPlacement copy) {
        become(copy, DiskState.SERVING);
    }

    /** The log has forgotten a placement that serves: it serves again once it is reported. */
    public void unreported(DiskPlacement copy) {
        become(copy, DiskState.FOUND);
    }

    /**
     * Reserves capacity for a placement of {@code block}.
     *
     * @throws IllegalStateException when there is none, or the block has a copy in whatever state
     */
    public DiskPlacement reserve(String namespace, Block block) {
        if (known(namespace, block.key()).isPresent()) {
            throw new IllegalStateException("A second copy of " + block);
        }
        return add(namespace, block, DiskState.RESERVED);
    }

    private DiskPlacement add(String namespace, Block block, DiskState first) {
        if (isFull()) {
            throw new IllegalStateException("No capacity on disk for " + block);
        }
        DiskPlacement copy = new DiskPlacement(namespace, block, first);
        Space space = spaces.computeIfAbsent(namespace, any -> new Space());
        space.copies.put(block.key(), copy);
        counts.merge(first, 1, Integer::sum);
        size++;
        if (!block.parent().isEmpty()) {
            space.children.merge(block.parent(), 1, Integer::sum);
        }
        return copy;
    }

    /** Bytes of a reserved copy begin to move. */
    public void write(DiskPlacement copy) {
        become(copy, DiskState.WRITING);
    }

    /** The bytes are down: the copy can be found from here on. */
    public void publish(DiskPlacement copy, long generation, int crc32c) {
        become(copy, DiskState.SERVING);
        copy.generation = generation;
        copy.crc32c = crc32c;
    }

    /** The write has an unknown outcome: its block gets no other placement until this one is idle and has left. */
    public void quarantine(DiskPlacement copy) {
        become(copy, DiskState.QUARANTINED);
        noChild(copy);
    }

    /** No lookup finds it from now on; it counts as extending others until {@link #removalReported}, or until it is removed. */
    public void leave(DiskPlacement copy) {
        become(copy, DiskState.LEAVING);
    }

    /** The agent reports in this step that the leaving placement does not serve any more. */
    public void removalReported(DiskPlacement copy) {
        if (copy.state != DiskState.LEAVING) {
            throw new IllegalStateException("Does not leave: " + copy);
        }
        noChild(copy);
    }

    /**
     * The copy is forgotten: its bytes have left the disk, or never came down.
     *
     * @throws IllegalStateException when it serves, may still be written, or is pinned
     */
    public void remove(DiskPlacement copy) {
        if (!copy.state.mayGo() || !copy.pins.isEmpty()) {
            throw new IllegalStateException("May not be forgotten: " + copy);
        }
        noChild(copy);
        counts.merge(copy.state, -1, Integer::sum);
        size--;
        Space space = space(copy);
        space.copies.remove(copy.block.key());
        if (space.copies.isEmpty()) {
            spaces.remove(copy.namespace());
        }
    }

    private void noChild(DiskPlacement copy) {
        if (copy.offLog) {
            return;
        }
        copy.offLog = true;
        if (!copy.block.parent().isEmpty()) {
            space(copy).children.computeIfPresent(copy.block.parent(), (parent, n) -> n == 1 ? null : n - 1);
        }
    }

    private Space space(DiskPlacement copy) {
        Space space = spaces.get(copy.namespace());
        if (space == null) {
            throw new IllegalStateException("No namespace for " + copy);
        }
        return space;
    }

    private void become(DiskPlacement copy, DiskState next) {
        if (!copy.state.mayBecome(next)) {
            throw new IllegalStateException(copy + " may not become " + next);
        }
        counts.merge(copy.state, -1, Integer::sum);
        counts.merge(next, 1, Integer::sum);
        copy.state = next;
    }

    // --- pins

    /**
     * Pins a copy that serves, or that has a pin, under {@code name}; once more under the same name is nothing.
     *
     * @throws IllegalStateException when it neither serves nor has a pin
     */
    public void pin(String name, DiskPlacement copy) {
        if (copy.state != DiskState.SERVING && copy.pins.isEmpty()) {
            throw new IllegalStateException("Pin " + name + " on " + copy);
        }
        if (!copy.pins.contains(name)) {
            copy.pins.add(name);
            pins.computeIfAbsent(name, any -> new LinkedHashSet<>()).add(copy);
            pinCount++;
        }
    }

    /** Releases every pin of that name; a name that is not there is nothing. */
    public void unpinAll(String name) {
        SequencedSet<DiskPlacement> pinned = pins.remove(name);
        if (pinned != null) {
            for (DiskPlacement copy : pinned) {
                copy.pins.remove(name);
                pinCount--;
            }
        }
    }

    /**
     * Looks at every copy; for tests and for a sample now and then.
     *
     * @throws IllegalStateException when the index contradicts itself
     */
    public void check() {
        Map<DiskState, Integer> seen = new EnumMap<>(DiskState.class);
        int copies = 0;
        long pinned = 0;
        for (Space space : spaces.values()) {
            Map<Bytes, Integer> children = new LinkedHashMap<>();
            for (DiskPlacement copy : space.copies.values()) {
                copies++;
                pinned += copy.pins.size();
                seen.merge(copy.state, 1, Integer::sum);
                boolean hasLeft = copy.state == DiskState.LEAVING || copy.state == DiskState.QUARANTINED;
                require(hasLeft || !copy.offLog, () -> "what extends others, " + copy);
                if (!copy.offLog && !copy.block.parent().isEmpty()) {
                    children.merge(copy.block.parent(), 1, Integer::sum);
                }
                // A unit of the epoch before may still read what was found again.
                boolean readable = copy.state == DiskState.SERVING || copy.state == DiskState.LEAVING || copy.state == DiskState.FOUND;
                require(copy.pins.isEmpty() || readable, () -> "pins of " + copy);
                require(copy.state != DiskState.SERVING || copy.generation > 0, () -> "generation of " + copy);
                copy.pins.forEach(name -> require(pins.getOrDefault(name, new LinkedHashSet<>()).contains(copy), () -> name + " on " + copy));
            }
            require(children.equals(space.children), () -> "children " + space.children + ", seen " + children);
        }
        for (DiskState state : DiskState.values()) {
            require(seen.getOrDefault(state, 0) == count(state), () -> "counted " + count(state) + " copies " + state + ", seen " + seen);
        }
        int copiesSeen = copies;
        long pinsSeen = pinned;
        require(copies == size && size <= capacity, () -> "counted " + size + " copies, seen " + copiesSeen + ", capacity " + capacity);
        require(pinned == pinCount, () -> "counted " + pinCount + " pins, seen " + pinsSeen);
    }

    /** All copies; for tests and for a sample now and then. */
    public List<DiskPlacement> all() {
        List<DiskPlacement> all = new ArrayList<>(size);
        spaces.values().forEach(space -> all.addAll(space.copies.values()));
        return all;
    }

    private static void require(boolean holds, Supplier<String> what) {
        if (!holds) {
            throw new IllegalStateException("Disk index broken: " + what.get());
        }
    }
}
