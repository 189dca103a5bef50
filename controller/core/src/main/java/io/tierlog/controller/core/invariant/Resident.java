/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The blocks that serve on one tier of an agent, by its own events, with the count of those that extend each. */
final class Resident {
    private final Findings findings;
    private final Tier tier;
    private final Map<String, Map<Bytes, Copy>> spaces = new LinkedHashMap<>();
    private int size;

    /** A block that serves, or a stand-in for one that does not while others extend it. */
    static final class Copy {
        boolean serves;
        int page;
        long generation;
        int crc32c;
        Bytes parent = Bytes.EMPTY;
        int children;
        int readers;
    }

    Resident(Findings findings, Tier tier) {
        this.findings = findings;
        this.tier = tier;
    }

    /** Number of blocks that serve. */
    int size() {
        return size;
    }

    /** Under which name a copy is kept. */
    record Name(String namespace, Bytes key) {}

    /** The names of all copies, by identity. */
    IdentityHashMap<Copy, Name> names() {
        IdentityHashMap<Copy, Name> names = new IdentityHashMap<>();
        spaces.forEach((namespace, space) -> space.forEach((key, copy) -> names.put(copy, new Name(namespace, key))));
        return names;
    }

    /** The copy or stand-in of that name. */
    @Nullable Copy any(String namespace, Bytes key) {
        return space(namespace).get(key);
    }

    void state(FoldBytes io) {
        size = io.int32(size);
        io.map(spaces, io::text, space -> {
            Map<Bytes, Copy> moved = space == null ? new LinkedHashMap<>() : space;
            io.map(moved, io::bytes, copy -> copy(io, copy == null ? new Copy() : copy));
            return moved;
        });
    }

    private static Copy copy(FoldBytes io, Copy copy) {
        copy.serves = io.bool(copy.serves);
        copy.page = io.int32(copy.page);
        copy.generation = io.int64(copy.generation);
        copy.crc32c = io.int32(copy.crc32c);
        copy.parent = io.bytes(io.reads() ? null : copy.parent);
        copy.children = io.int32(copy.children);
        copy.readers = io.int32(copy.readers);
        return copy;
    }

    private Map<Bytes, Copy> space(String namespace) {
        Map<Bytes, Copy> space = spaces.get(namespace);
        if (space == null) {
            space = new LinkedHashMap<>();
            spaces.put(namespace, space);
        }
        return space;
    }

    /** The block that serves under that key, or null. */
    @Nullable Copy find(String namespace, Bytes key) {
        Copy copy = space(namespace).get(key);
        return copy != null && copy.serves ? copy : null;
    }

    /** A block serves. On a tier without pages a second copy replaces the first. */
    void serve(String namespace, PagedBlock block) {
        Map<Bytes, Copy> space = space(namespace);
        Copy copy = space.computeIfAbsent(block.block().key(), k -> new Copy());
        if (copy.serves) {
            if (block.page() >= 0) {
                findings.say(Invariant.I4, "block " + block.block().key() + " serves in page " + block.page() + ", and in page " + copy.page);
            }
        } else {
            copy.serves = true;
            size++;
            copy.parent = block.block().parent();
            if (!copy.parent.isEmpty()) {
                space.computeIfAbsent(copy.parent, k -> new Copy()).children++;
            }
        }
        copy.page = block.page();
        copy.generation = block.generation();
        copy.crc32c = block.crc32c();
    }

    /**
     * Blocks leave together.
     *
     * @param chosen whether the agent or the controller chose them: then no block may extend them and no operation may read them
     */
    void leave(String namespace, List<PagedBlock> blocks, boolean chosen) {
        Map<Bytes, Copy> space = space(namespace);
        List<PagedBlock> left = new ArrayList<>(blocks.size());
        for (PagedBlock block : blocks) {
            Copy copy = space.get(block.block().key());
            // What serves no longer, or is another copy by now, is gone already.
            if (copy != null && copy.serves && copy.generation == block.generation() && copy.page == block.page()) {
                if (chosen && copy.readers > 0) {
                    findings.say(Invariant.I3, "block " + block.block().key() + " leaves page " + copy.page + " of " + tier + " while it is read");
                }
                copy.serves = false;
                size--;
                left.add(block);
                release(space, copy.parent);
            }
        }
        for (PagedBlock block : left) {
            Copy copy = space.get(block.block().key());
            if (copy != null) {
                if (chosen && copy.children > 0) {
                    findings.say(Invariant.I10, "block " + block.block().key() + ", index " + block.block().index() + ", leaves " + tier
                            + " while " + copy.children + " that extend it serve");
                }
                forget(space, block.block().key(), copy);
            }
        }
    }

    private static void release(Map<Bytes, Copy> space, Bytes parent) {
        Copy above = parent.isEmpty() ? null : space.get(parent);
        if (above != null) {
            above.children--;
            forget(space, parent, above);
        }
    }

    private static void forget(Map<Bytes, Copy> space, Bytes key, Copy copy) {
        if (!copy.serves && copy.children == 0 && copy.readers == 0) {
            space.remove(key);
        }
    }

    /** An operation starts or ends reading the block. */
    void read(String namespace, PagedBlock block, int more) {
        Map<Bytes, Copy> space = space(namespace);
        Copy copy = space.get(block.block().key());
        if (more > 0 && (copy == null || !copy.serves || copy.page != block.page() || copy.generation != block.generation())) {
            findings.say(Invariant.I3, "page " + block.page() + " is read as block " + block.block().key() + ", which does not serve there");
        }
        if (copy == null) {
            copy = new Copy();
            space.put(block.block().key(), copy);
        }
        copy.readers += more;
        forget(space, block.block().key(), copy);
    }

    /** What was read from here has the checksum of what is here. */
    void checkContent(String namespace, BlockResult result) {
        Copy copy = find(namespace, result.block().key());
        if (copy != null && copy.crc32c != 0 && result.crc32c() != 0 && copy.crc32c != result.crc32c()) {
            findings.say(Invariant.I9, "block " + result.block().key() + " was read from " + tier + " with another checksum than it has there");
        }
    }
}
