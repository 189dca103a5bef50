/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.RegisteredLayer;
import java.util.List;

/**
 * How blocks lie in host memory. Immutable.
 *
 * <pre>
 *   PAGE_FIRST    page 0: layer 0, layer 1, ...   page 1: layer 0, layer 1, ...     a block is one run of bytes
 *   LAYER_FIRST   layer 0: page 0, page 1, ...    layer 1: page 0, page 1, ...      a layer is one run of bytes
 * </pre>
 *
 * <p>Within a layer of a page the segments follow each other without gaps, in both forms.
 */
public final class HostImage {
    /** The two forms. */
    public enum Form {
        /** A block is one run of bytes: what the host pool, the disk and the store keep. */
        PAGE_FIRST,
        /** A layer is one run of bytes. */
        LAYER_FIRST
    }

    private final Form form;
    private final List<Allocation> slabs;
    private final int pagesPerSlab;
    private final int pages;
    private final long pageBytes;
    private final List<RegisteredLayer> layers;
    private final long[] before;

    private HostImage(Form form, List<Allocation> slabs, int pagesPerSlab, int pages, KvLayout layout) {
        this.form = form;
        this.slabs = slabs;
        this.pagesPerSlab = pagesPerSlab;
        this.pages = pages;
        this.layers = layout.layers().stream().map(KvLayout.Layer::memory).toList();
        this.before = new long[layers.size()];
        long bytes = 0;
        for (int layer = 0; layer < before.length; layer++) {
            before[layer] = bytes;
            bytes += layers.get(layer).blockBytes();
        }
        this.pageBytes = bytes;
    }

    /**
     * Pages one after the other in slabs, each of {@code pagesPerSlab} whole pages; the last may have fewer.
     *
     * @throws IllegalArgumentException when a slab that is not the last has another size than that
     */
    public static HostImage pageFirst(List<Allocation> slabs, int pagesPerSlab, KvLayout layout) {
        long bytes = layout.blockBytes();
        long pages = slabs.stream().mapToLong(slab -> slab.bytes() / bytes).sum();
        for (int i = 0; i < slabs.size(); i++) {
            long here = slabs.get(i).bytes();
            if (here > pagesPerSlab * bytes || (i < slabs.size() - 1 && here != pagesPerSlab * bytes)) {
                throw new IllegalArgumentException("slab " + i + " has " + here + " bytes, not " + pagesPerSlab + " pages of " + bytes);
            }
        }
        return new HostImage(Form.PAGE_FIRST, List.copyOf(slabs), pagesPerSlab, Math.toIntExact(pages), layout);
    }

    /**
     * All pages of layer 0, then all of layer 1 and so on, in one allocation.
     *
     * @throws IllegalArgumentException when it is too small for that
     */
    public static HostImage layerFirst(Allocation memory, int pages, KvLayout layout) {
        if (pages < 1 || memory.bytes() / pages < layout.blockBytes()) {
            throw new IllegalArgumentException(memory + " is too small for " + pages + " pages of " + layout.blockBytes() + " bytes");
        }
        return new HostImage(Form.LAYER_FIRST, List.of(memory), pages, pages, layout);
    }

    /** Which form. */
    public Form form() {
        return form;
    }

    /** Number of pages. */
    public int pages() {
        return pages;
    }

    /** Where a piece of a layer begins in a page. */
    public Place place(int page, int layer, int piece) {
        if (page < 0 || page >= pages) {
            throw new IndexOutOfBoundsException("host page " + page + " of " + pages);
        }
        RegisteredLayer memory = layers.get(layer);
        long within = piece * memory.pieceBytes();
        return switch (form) {
            case PAGE_FIRST -> slabs.get(page / pagesPerSlab).at(page % pagesPerSlab * pageBytes + before[layer] + within);
            case LAYER_FIRST -> slabs.getFirst().at(before[layer] * pages + page * memory.blockBytes() + within);
        };
    }
}
