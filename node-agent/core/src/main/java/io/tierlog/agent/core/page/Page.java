/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One page of the host pool. Only {@link PageTable} changes it. For the core's one thread. */
public final class Page {
    static final Block NO_BLOCK = new Block(-1, Bytes.EMPTY, Bytes.EMPTY);

    final int number;
    /** Names of the pins; few, so a list. */
    final List<String> pins = new ArrayList<>(0);

    PageState state = PageState.FREE;
    long generation;
    String namespace = "";
    Block block = NO_BLOCK;
    int crc32c;
    boolean heldInStore;
    boolean heldOnDisk;
    long touch;

    Page(int number) {
        this.number = number;
    }

    /** Number of the page, from 0. */
    public int number() {
        return number;
    }

    /** How often the page was given to content; rises at each reuse. */
    public long generation() {
        return generation;
    }

    /** State of the page. */
    public PageState state() {
        return state;
    }

    /** Namespace of the block; empty when the page is free. */
    public String namespace() {
        return namespace;
    }

    /** The block the page is for. */
    public Block block() {
        return block;
    }

    /** CRC32C of the bytes, once they serve. */
    public int crc32c() {
        return crc32c;
    }

    /** True when the store holds the block too. */
    public boolean heldInStore() {
        return heldInStore;
    }

    /** True when the node's disk serves a copy of the block too. */
    public boolean heldOnDisk() {
        return heldOnDisk;
    }

    public boolean heldElsewhere() {
        return heldInStore || heldOnDisk;
    }

    /** Names of the pins on it. */
    public List<String> pins() {
        return Collections.unmodifiableList(pins);
    }

    /** True when a pin of that name is on it. */
    public boolean pinnedBy(String name) {
        return pins.contains(name);
    }

    /** The block with this page and its generation, as the log names it. */
    public PagedBlock paged() {
        return new PagedBlock(block, number, generation, crc32c);
    }

    @Override
    public String toString() {
        return "page " + number + "@" + generation + " " + state + " " + block.key() + " " + pins;
    }
}
