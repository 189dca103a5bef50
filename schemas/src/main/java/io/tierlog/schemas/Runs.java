/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.apache.avro.Schema;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.Encoder;

/**
 * Lists of blocks as runs: consecutive blocks of a prompt name each key once and their position once, pages and generations become differences.
 * What is written is read back block for block, whatever the list holds. Without state.
 *
 * <p>Trade-off: a generic Avro reader sees runs where Java sees blocks.
 */
public final class Runs {
    private static final int NO_INDEX = -1;

    private Runs() {}

    /** How a list is read: from one run to its elements. */
    @FunctionalInterface
    private interface Unpack<R, T> {
        void into(List<T> items, R run) throws IOException;
    }

    /** A part of a list that makes one run. */
    private record Part(int from, int to, boolean down) {
        int count() {
            return to - from;
        }
    }

    /** Writes a list of blocks as an array of {@link BlockRun}. */
    public static void writeBlock(Encoder out, List<Block> blocks) throws IOException {
        List<Part> parts = parts(blocks);
        out.writeArrayStart();
        out.setItemCount(parts.size());
        for (Part part : parts) {
            out.startItem();
            run(blocks, part).encode(out);
        }
        out.writeArrayEnd();
    }

    /** Writes a list of blocks in pages as an array of {@link PagedRun}. */
    public static void writePagedBlock(Encoder out, List<PagedBlock> paged) throws IOException {
        List<Block> blocks = blocks(paged, PagedBlock::block);
        List<Part> parts = parts(blocks);
        out.writeArrayStart();
        out.setItemCount(parts.size());
        for (Part part : parts) {
            int count = part.count();
            int[] pages = new int[count];
            long[] generations = new long[count];
            int[] crcs = new int[count];
            for (int i = 0; i < count; i++) {
                PagedBlock one = paged.get(part.from() + i);
                pages[i] = one.page();
                generations[i] = one.generation();
                crcs[i] = one.crc32c();
            }
            out.startItem();
            new PagedRun(run(blocks, part), differences(pages), differences(generations), checksums(crcs)).encode(out);
        }
        out.writeArrayEnd();
    }

    /** Writes a list of results as an array of {@link ResultRun}; a run ends where the outcome changes. */
    public static void writeBlockResult(Encoder out, List<BlockResult> results) throws IOException {
        List<Block> blocks = blocks(results, BlockResult::block);
        List<Part> parts = new ArrayList<>();
        for (int from = 0; from < results.size(); ) {
            int to = from + 1;
            while (to < results.size() && isAlike(results.get(from), results.get(to))) {
                to++;
            }
            addParts(parts, blocks, from, to);
            from = to;
        }
        out.writeArrayStart();
        out.setItemCount(parts.size());
        for (Part part : parts) {
            int count = part.count();
            int[] pages = new int[count];
            long[] generations = new long[count];
            int[] crcs = new int[count];
            for (int i = 0; i < count; i++) {
                BlockResult one = results.get(part.from() + i);
                pages[i] = one.page();
                generations[i] = one.generation();
                crcs[i] = one.crc32c();
            }
            BlockResult first = results.get(part.from());
            out.startItem();
            new ResultRun(run(blocks, part), first.status(), first.reason(), differences(pages), differences(generations), checksums(crcs),
                    first.source()).encode(out);
        }
        out.writeArrayEnd();
    }

    private static boolean isAlike(BlockResult a, BlockResult b) {
        return a.status() == b.status() && a.reason() == b.reason() && a.source() == b.source();
    }

    private static <T> List<Block> blocks(List<T> items, Function<T, Block> block) {
        List<Block> blocks = new ArrayList<>(items.size());
        for (T item : items) {
            blocks.add(block.apply(item));
        }
        return blocks;
    }

    private static List<Part> parts(List<Block> blocks) {
        List<Part> parts = new ArrayList<>();
        addParts(parts, blocks, 0, blocks.size());
        return parts;
    }

    private static void addParts(List<Part> parts, List<Block> blocks, int begin, int end) {
        int from = begin;
        while (from < end) {
            int up = from + 1;
            while (up < end && isNext(blocks.get(up - 1), blocks.get(up))) {
                up++;
            }
            int down = from + 1;
            while (up == from + 1 && down < end && isBefore(blocks.get(down - 1), blocks.get(down))) {
                down++;
            }
            int to = Math.max(up, down);
            parts.add(new Part(from, to, down > up));
            from = to;
        }
    }

    /** Whether {@code b} can follow {@code a} in a run up the prompt, or in one whose positions are not known. */
    private static boolean isNext(Block a, Block b) {
        if (a.key().isEmpty() || a.key().size() != b.key().size()) {
            return false;
        }
        return a.index() == NO_INDEX
                ? b.index() == NO_INDEX && a.parent().isEmpty() && b.parent().isEmpty()
                : a.index() >= 0 && b.index() - 1 == a.index() && b.parent().equals(a.key());
    }

    /** Whether {@code b} can follow {@code a} in a run down the prompt. */
    private static boolean isBefore(Block a, Block b) {
        return !b.key().isEmpty() && a.key().size() == b.key().size() && b.index() >= 0 && a.index() - 1 == b.index()
                && a.parent().equals(b.key());
    }

    private static BlockRun run(List<Block> blocks, Part part) {
        Block first = blocks.get(part.from());
        int width = first.key().size();
        byte[] keys = new byte[width * part.count()];
        for (int i = 0; i < part.count(); i++) {
            System.arraycopy(blocks.get(part.from() + i).key().unshared(), 0, keys, i * width, width);
        }
        Bytes parent = part.down() ? blocks.get(part.to() - 1).parent() : first.parent();
        return new BlockRun(first.index(), part.down(), parent, width, Bytes.wrapUnshared(keys));
    }

    /** The first value, then the differences; at the end, those that repeat the one before are left out. */
    private static List<Integer> differences(int[] values) {
        int kept = values.length;
        while (kept > 2 && values[kept - 1] - values[kept - 2] == values[kept - 2] - values[kept - 3]) {
            kept--;
        }
        List<Integer> differences = new ArrayList<>(kept);
        for (int i = 0; i < kept; i++) {
            differences.add(i == 0 ? values[0] : values[i] - values[i - 1]);
        }
        return differences;
    }

    private static List<Long> differences(long[] values) {
        int kept = values.length;
        while (kept > 2 && values[kept - 1] - values[kept - 2] == values[kept - 2] - values[kept - 3]) {
            kept--;
        }
        List<Long> differences = new ArrayList<>(kept);
        for (int i = 0; i < kept; i++) {
            differences.add(i == 0 ? values[0] : values[i] - values[i - 1]);
        }
        return differences;
    }

    private static Bytes checksums(int[] crcs) {
        if (Arrays.stream(crcs).allMatch(crc -> crc == 0)) {
            return Bytes.EMPTY;
        }
        ByteBuffer bytes = ByteBuffer.allocate(crcs.length * Integer.BYTES);
        bytes.asIntBuffer().put(crcs);
        return Bytes.wrapUnshared(bytes.array());
    }

    /**
     * Reads an array of runs of any kind, for code that knows a record by its schema only.
     *
     * @param run schema of its elements, that of {@link BlockRun}, {@link PagedRun} or {@link ResultRun}
     * @throws IllegalArgumentException for another schema
     */
    public static List<? extends WireRecord> read(Schema run, Decoder in) throws IOException {
        return switch (run.getName()) {
            case "BlockRun" -> readBlock(in);
            case "PagedRun" -> readPagedBlock(in);
            case "ResultRun" -> readBlockResult(in);
            default -> throw new IllegalArgumentException(run.getFullName() + " is no run of blocks");
        };
    }

    /** Reads what {@link #writeBlock} wrote. */
    public static List<Block> readBlock(Decoder in) throws IOException {
        return read(in, BlockRun::decode, (items, run) -> items.addAll(blocks(run)));
    }

    /** Reads what {@link #writePagedBlock} wrote. */
    public static List<PagedBlock> readPagedBlock(Decoder in) throws IOException {
        return read(in, PagedRun::decode, (items, run) -> {
            List<Block> blocks = blocks(run.blocks());
            Values values = new Values(blocks.size(), run.pages(), run.generations(), run.crc32c());
            for (int i = 0; i < blocks.size(); i++) {
                values.next(i);
                items.add(new PagedBlock(blocks.get(i), values.page, values.generation, values.crc32c));
            }
        });
    }

    /** Reads what {@link #writeBlockResult} wrote. */
    public static List<BlockResult> readBlockResult(Decoder in) throws IOException {
        return read(in, ResultRun::decode, (items, run) -> {
            List<Block> blocks = blocks(run.blocks());
            Values values = new Values(blocks.size(), run.pages(), run.generations(), run.crc32c());
            for (int i = 0; i < blocks.size(); i++) {
                values.next(i);
                items.add(new BlockResult(
                        blocks.get(i), run.status(), run.reason(), values.page, values.generation, values.crc32c, run.source()));
            }
        });
    }

    private static <R extends WireRecord, T> List<T> read(Decoder in, WireType.Reader<R> reader, Unpack<R, T> unpack) throws IOException {
        List<T> items = new ArrayList<>();
        for (long count = in.readArrayStart(); count > 0; count = in.arrayNext()) {
            for (long i = 0; i < count; i++) {
                unpack.into(items, reader.read(in));
            }
        }
        return items;
    }

    private static List<Block> blocks(BlockRun run) throws IOException {
        int width = run.keyBytes();
        int length = run.keys().size();
        // A key without bytes is a run of its own: so a run never names more blocks than it has bytes.
        int count = width > 0 ? length / width : 1;
        boolean whole = width > 0 ? count > 0 && count * width == length : width == 0 && length == 0;
        if (!whole || !isLegal(run, count)) {
            throw new IOException("A run of " + length + " bytes of keys, " + width + " each, from position " + run.index()
                    + (run.down() ? " down" : " up"));
        }
        if (count == 1) {
            return List.of(new Block(run.index(), run.keys(), run.parent()));
        }
        List<Block> blocks = new ArrayList<>(count);
        byte[] all = run.keys().unshared();
        Bytes before = run.parent();
        for (int i = 0; i < count; i++) {
            // From the shallowest block on, whose parent the run names.
            int from = (run.down() ? count - 1 - i : i) * width;
            Bytes key = Bytes.wrapUnshared(Arrays.copyOfRange(all, from, from + width));
            int index = run.index() == NO_INDEX ? NO_INDEX : run.down() ? run.index() - (count - 1 - i) : run.index() + i;
            blocks.add(new Block(index, key, before));
            before = run.index() == NO_INDEX ? Bytes.EMPTY : key;
        }
        return run.down() ? blocks.reversed() : blocks;
    }

    /** Whether runs of several blocks are written with that position and direction. */
    private static boolean isLegal(BlockRun run, int count) {
        if (count == 1) {
            return !run.down();
        } else if (run.index() == NO_INDEX) {
            return !run.down() && run.parent().isEmpty();
        }
        return run.index() >= 0 && (run.down() ? run.index() >= count - 1 : run.index() <= Integer.MAX_VALUE - (count - 1));
    }

    /** Pages, generations and checksums of a run, one block after the other. */
    private static final class Values {
        private final List<Integer> pages;
        private final List<Long> generations;
        private final byte[] crcs;
        private int page;
        private long generation;
        private int crc32c;

        Values(int count, List<Integer> pages, List<Long> generations, Bytes crcs) throws IOException {
            this.pages = pages;
            this.generations = generations;
            this.crcs = crcs.unshared();
            boolean named = crcs.isEmpty() || crcs.size() == count * Integer.BYTES;
            if (!named || isNotOf(count, pages.size()) || isNotOf(count, generations.size())) {
                throw new IOException("A run of " + count + " blocks has " + pages.size() + " pages, " + generations.size() + " generations and "
                        + crcs.size() + " bytes of checksums");
            }
        }

        /** One difference stands for all further ones, and a value alone for no other. */
        private static boolean isNotOf(int count, int differences) {
            return differences > count || differences < Math.min(count, 2);
        }

        void next(int i) {
            page += pages.get(Math.min(i, pages.size() - 1));
            generation += generations.get(Math.min(i, generations.size() - 1));
            crc32c = crcs.length == 0 ? 0 : ByteBuffer.wrap(crcs).getInt(i * Integer.BYTES);
        }
    }
}
