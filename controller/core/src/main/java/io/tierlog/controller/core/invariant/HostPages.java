/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The pages of an agent's host memory: at any time each is in one operation's hands, or serves one block, or neither. */
final class HostPages {
    private final Findings findings;
    private final long capacity;
    private final Resident resident;
    private final List<Page> pages = new ArrayList<>();

    private static final class Page {
        long generation;
        @Nullable String operation;
        Resident.@Nullable Copy copy;
    }

    HostPages(Findings findings, long capacity) {
        this.findings = findings;
        this.capacity = capacity;
        this.resident = new Resident(findings, Tier.HOST);
    }

    /** The blocks that serve. */
    Resident resident() {
        return resident;
    }

    void state(FoldBytes io) {
        resident.state(io);
        IdentityHashMap<Resident.Copy, Resident.Name> names = resident.names();
        List<Page> moved = io.list(pages, page -> page(io, page, names));
        if (io.reads()) {
            pages.addAll(moved);
        }
    }

    /** A page and the block in it by name; a block that is no longer there, though its page was not taken since, has none. */
    private Page page(FoldBytes io, @Nullable Page known, IdentityHashMap<Resident.Copy, Resident.Name> names) {
        Page page = known == null ? new Page() : known;
        page.generation = io.int64(page.generation);
        page.operation = io.optional(page.operation);
        if (io.bool(page.copy != null)) {
            Resident.Name name = page.copy == null ? null : names.get(page.copy);
            if (io.bool(name != null)) {
                String namespace = io.text(name == null ? null : name.namespace());
                Bytes key = io.bytes(name == null ? null : name.key());
                page.copy = io.reads() ? resident.any(namespace, key) : page.copy;
            } else if (io.reads()) {
                page.copy = new Resident.Copy();
                page.copy.page = -1;
            }
        }
        return page;
    }

    private @Nullable Page page(int number) {
        if (number < 0 || number >= capacity) {
            findings.say(Invariant.I4, "page " + number + " is none of " + capacity);
            return null;
        }
        while (pages.size() <= number) {
            pages.add(new Page());
        }
        return pages.get(number);
    }

    /** An operation takes a page to fill it. */
    void reserve(PagedBlock block, String operation) {
        Page page = page(block.page());
        if (page == null) {
            return;
        }
        if (page.operation != null) {
            findings.say(Invariant.I2, "page " + block.page() + " is given to " + operation + " before " + page.operation + " has had its end");
        }
        Resident.Copy copy = page.copy;
        if (copy != null && copy.page == block.page() && copy.generation == page.generation
                && (copy.serves || copy.readers > 0)) {
            findings.say(copy.readers > 0 ? Invariant.I3 : Invariant.I4, "page " + block.page() + " is given to " + operation + " while a block "
                    + (copy.readers > 0 ? "is read from it" : "serves in it"));
        }
        if (block.generation() <= page.generation) {
            findings.say(Invariant.I2, "page " + block.page() + " is given away with generation " + block.generation() + ", and it had "
                    + page.generation);
        }
        page.generation = block.generation();
        page.operation = operation;
        page.copy = null;
    }

    /** A block serves in the page that was taken for it. */
    void arrived(String namespace, BlockResult result, String operation) {
        Page page = page(result.page());
        if (page == null) {
            return;
        }
        if (!operation.equals(page.operation) || page.generation != result.generation()) {
            findings.say(Invariant.I2, "block " + result.block().key() + " arrived in page " + result.page() + ", generation " + result.generation()
                    + ", which " + operation + " did not take");
        }
        resident.serve(namespace, new PagedBlock(result.block(), result.page(), result.generation(), result.crc32c()));
        page.copy = resident.find(namespace, result.block().key());
    }

    /** A block serves since an earlier incarnation of the same process. */
    void recovered(String namespace, PagedBlock block) {
        Page page = page(block.page());
        if (page == null) {
            return;
        }
        if (page.operation != null || page.copy != null) {
            findings.say(Invariant.I4, "page " + block.page() + " is reported to serve since before, and it is in use");
        }
        page.generation = block.generation();
        resident.serve(namespace, block);
        page.copy = resident.find(namespace, block.block().key());
    }

    /** The operation has ended: it no longer owns its pages. */
    void release(PagedBlock block, String operation) {
        Page page = page(block.page());
        if (page != null && operation.equals(page.operation)) {
            page.operation = null;
        }
    }

    /** An operation reads a page, or does so no longer. */
    void read(String namespace, PagedBlock block, int more) {
        resident.read(namespace, block, more);
    }

    /** What was read from here has the checksum of what is here. */
    void checkContent(String namespace, BlockResult result) {
        resident.checkContent(namespace, result);
    }
}
