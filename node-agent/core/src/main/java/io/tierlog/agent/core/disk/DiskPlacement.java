/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.disk;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.PagedBlock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One placement of a block on the disk. Only {@link DiskIndex} changes it. For the core's one thread. */
public final class DiskPlacement {
    final String namespace;
    final Block block;
    /** Names of the pins; few, so a list. */
    final List<String> pins = new ArrayList<>(0);

    DiskState state;
    long generation;
    int crc32c;
    /** True from the moment on when the log does not count it as serving, or never did. */
    boolean offLog;

    DiskPlacement(String namespace, Block block, DiskState state) {
        this.namespace = namespace;
        this.block = block;
        this.state = state;
    }

    /** Namespace of the block. */
    public String namespace() {
        return namespace;
    }

    /** The block it is a copy of. */
    public Block block() {
        return block;
    }

    /** State of the placement. */
    public DiskState state() {
        return state;
    }

    /** Generation that the disk gave it; 0 while it has none. */
    public long generation() {
        return generation;
    }

    /** CRC32C of its bytes, once they are down. */
    public int crc32c() {
        return crc32c;
    }

    /** True when it leaves and the log has the event. */
    public boolean removalReported() {
        return offLog;
    }

    /** Names of the pins on it. */
    public List<String> pins() {
        return Collections.unmodifiableList(pins);
    }

    /** As the log names it: the disk has no pages, so the page is -1. */
    public PagedBlock paged() {
        return new PagedBlock(block, -1, generation, crc32c);
    }

    @Override
    public String toString() {
        return "disk copy of " + block.key() + "@" + generation + " " + state + " " + pins;
    }
}
