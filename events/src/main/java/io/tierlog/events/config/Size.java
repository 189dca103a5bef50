/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Capacity of a tier as text: bytes ({@code 2GiB}), blocks ({@code 4096blocks}), or a share of the workload's unique blocks ({@code 5%}). */
public sealed interface Size {
    /** A number of bytes, 1 or more. */
    record OfBytes(long bytes) implements Size {}

    /** A number of blocks, 0 or more. */
    record OfBlocks(long blocks) implements Size {}

    /** A share of the unique blocks of the workload, in percent, above 0. */
    record OfShare(double percent) implements Size {}

    /** The largest number of blocks a tier can have here: page numbers are ints. */
    int MAX_BLOCKS = 1 << 30;

    /** What {@link #parse} understands, for help texts. */
    String SYNTAX = "bytes (2GiB, 512MiB), blocks (4096blocks), or a share of the workload's unique blocks (5%)";

    /** The same for help texts, which are formats. */
    String HELP = "bytes (2GiB, 512MiB), blocks (4096blocks), or a share of the workload's unique blocks (5%%)";

    /**
     * Parses {@code text}.
     *
     * @throws IllegalArgumentException naming the text and the syntax when it is none of the three
     */
    static Size parse(String text) {
        Matcher m = Syntax.NUMBER_AND_UNIT.matcher(text.trim());
        if (!m.matches()) {
            throw wrong(text);
        }
        double number = Double.parseDouble(m.group(1));
        String unit = m.group(2).toLowerCase(Locale.ROOT);
        Size size =
                switch (unit) {
                    case "%" -> new OfShare(number);
                    case "block", "blocks" -> new OfBlocks((long) number);
                    case "", "b" -> new OfBytes((long) number);
                    case "kib", "k" -> new OfBytes((long) (number * (1L << 10)));
                    case "mib", "m" -> new OfBytes((long) (number * (1L << 20)));
                    case "gib", "g" -> new OfBytes((long) (number * (1L << 30)));
                    case "tib", "t" -> new OfBytes((long) (number * (1L << 40)));
                    default -> throw wrong(text);
                };
        boolean positive =
                switch (size) {
                    case OfBytes b -> b.bytes() > 0;
                    case OfBlocks _ -> true;
                    case OfShare s -> s.percent() > 0 && s.percent() <= 10_000;
                };
        if (!positive) {
            throw new IllegalArgumentException("'" + text + "' is out of range: give more than 0, and at most 10000%");
        }
        return size;
    }

    /**
     * The number of blocks this is.
     *
     * @param blockBytes size of a block in bytes
     * @param uniqueBlocks unique blocks of the workload
     * @throws IllegalArgumentException when it is less than one block, or more than {@link #MAX_BLOCKS}
     */
    default int toBlocks(long blockBytes, long uniqueBlocks) {
        long blocks =
                switch (this) {
                    case OfBytes b -> b.bytes() / blockBytes;
                    case OfBlocks b -> b.blocks();
                    case OfShare s -> Math.max(1, Math.round(s.percent() / 100 * uniqueBlocks));
                };
        if (blocks < 1 || blocks > MAX_BLOCKS) {
            throw new IllegalArgumentException(
                    "'" + text() + "' is " + blocks + " blocks of " + blockBytes + " bytes: it must be 1 to " + MAX_BLOCKS + " blocks");
        }
        return (int) blocks;
    }

    /** As {@link #parse} takes it. */
    default String text() {
        return switch (this) {
            case OfBytes b -> b.bytes() + "B";
            case OfBlocks b -> b.blocks() + "blocks";
            case OfShare s -> String.format(Locale.ROOT, "%f%%", s.percent());
        };
    }

    private static IllegalArgumentException wrong(String text) {
        return new IllegalArgumentException("'" + text + "' is not a size: give " + SYNTAX);
    }

    /** Kept out of the interface's public constants. */
    final class Syntax {
        private static final Pattern NUMBER_AND_UNIT = Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,6})?)\\s*([a-zA-Z%]*)");

        private Syntax() {}
    }
}
