/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.Sha256;
import java.util.List;
import java.util.regex.Pattern;

/**
 * KV layouts as agents and engines agree on them. Static and without state.
 *
 * <p>Canonical text: one line per group of layers, in their order, each ended by a line feed, fields separated by {@code |}:
 *
 * <pre>
 *   NAME|KIND|LAYERS|BLOCK_TOKENS|SEGMENT_BYTES|SEGMENTS|DTYPE
 * </pre>
 *
 * <p>with numbers in decimal. The layout digest, which an engine sends in RegisterBuffers, is the SHA-256 of that text in UTF-8. The
 * default layout of blocks of 16 KiB and 512 tokens is {@code kv|ATTENTION|1|512|16384|1|u8} and a line feed: one opaque segment.
 */
public final class Layouts {
    /** Default number of tokens in a block. */
    public static final int DEFAULT_BLOCK_TOKENS = 512;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final int MOST_GROUPS = 64;

    private Layouts() {}

    /** One group of attention layers, a block of it being one segment of {@code blockBytes} bytes. */
    public static List<Layout> opaque(long blockBytes, int blockTokens) {
        return List.of(new Layout("kv", LayoutKind.ATTENTION, 1, blockTokens, blockBytes, 1, "u8", false));
    }

    /**
     * The same for a node with so many ranks: MLA layers are replicated when there are several. That says where a block lies and not what it is, so
     * the digest stays.
     *
     * @throws IllegalArgumentException when some layers would be replicated and others not
     */
    public static List<Layout> onRanks(List<Layout> layouts, int ranks) {
        long mla = layouts.stream().filter(layout -> layout.kind() == LayoutKind.MLA).count();
        if (ranks > 1 && mla > 0 && mla < layouts.size()) {
            throw new IllegalArgumentException("layouts: on " + ranks + " ranks all groups are MLA, which every rank holds alike, or none is");
        }
        return layouts.stream()
                .map(layout -> new Layout(layout.name(), layout.kind(), layout.layers(), layout.blockTokens(), layout.segmentBytes(),
                        layout.segments(), layout.dtype(), ranks > 1 && layout.kind() == LayoutKind.MLA))
                .toList();
    }

    /** The layout digest: 32 bytes. */
    public static Bytes layoutDigest(List<Layout> layouts) {
        return Bytes.wrapUnshared(Sha256.of(canonical(layouts)));
    }

    /** The canonical text that is digested. */
    public static String canonical(List<Layout> layouts) {
        StringBuilder text = new StringBuilder();
        for (Layout layout : layouts) {
            text.append(layout.name()).append('|').append(layout.kind()).append('|').append(layout.layers()).append('|');
            text.append(layout.blockTokens()).append('|').append(layout.segmentBytes()).append('|');
            text.append(layout.segments()).append('|').append(layout.dtype()).append('\n');
        }
        return text.toString();
    }

    /** Size of a block: all segments of all layers of all groups. */
    public static long blockBytes(List<Layout> layouts) {
        long bytes = 0;
        for (Layout layout : layouts) {
            long segments = Math.multiplyExact((long) layout.layers(), layout.segments());
            bytes = Math.addExact(bytes, Math.multiplyExact(layout.segmentBytes(), segments));
        }
        return bytes;
    }

    /**
     * Refuses what cannot be a layout. What could be one but cannot be served, a hybrid for example, is the controller's to refuse.
     *
     * @throws IllegalArgumentException with the place of the first fault
     */
    public static void check(List<Layout> layouts) {
        if (layouts.isEmpty() || layouts.size() > MOST_GROUPS) {
            throw new IllegalArgumentException("layouts: 1 to " + MOST_GROUPS + " groups of layers, not " + layouts.size());
        }
        for (int i = 0; i < layouts.size(); i++) {
            Layout layout = layouts.get(i);
            String at = "layouts[" + i + "]";
            if (!NAME.matcher(layout.name()).matches()) {
                throw new IllegalArgumentException(at + ".name: 1 to 64 letters, digits, dots, dashes or underscores");
            }
            if (!NAME.matcher(layout.dtype()).matches()) {
                throw new IllegalArgumentException(at + ".dtype: 1 to 64 letters, digits, dots, dashes or underscores");
            }
            if (layout.layers() < 1 || layout.blockTokens() < 1 || layout.segmentBytes() < 1 || layout.segments() < 1) {
                throw new IllegalArgumentException(at + ": layers, blockTokens, segmentBytes and segments are 1 or more");
            }
            if (layout.blockTokens() != layouts.getFirst().blockTokens()) {
                throw new IllegalArgumentException(at + ".blockTokens: all groups of a block have the same number of tokens");
            }
        }
    }
}
