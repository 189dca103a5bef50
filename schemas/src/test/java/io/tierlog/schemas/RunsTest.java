/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lists of blocks as runs: nothing of them is lost, chains are short, and what is no run is refused. */
class RunsTest {
    private static final BlockStatus ARRIVED = BlockStatus.ARRIVED;
    private static final OperationReason COMPLETED = OperationReason.COMPLETED;

    @FunctionalInterface
    private interface Write<T> {
        void to(Encoder out, List<T> items) throws IOException;
    }

    @FunctionalInterface
    private interface Read<T> {
        List<T> from(Decoder in) throws IOException;
    }

    private static <T> byte[] bytes(Write<T> write, List<T> items) throws IOException {
        ByteArrayOutputStream buffer = new ByteArrayOutputStream();
        BinaryEncoder out = EncoderFactory.get().binaryEncoder(buffer, null);
        write.to(out, items);
        out.flush();
        return buffer.toByteArray();
    }

    private static <T> List<T> read(Read<T> read, byte[] bytes) throws IOException {
        return read.from(DecoderFactory.get().binaryDecoder(new ByteArrayInputStream(bytes), null));
    }

    private static List<BlockRun> runs(List<Block> blocks) throws IOException {
        byte[] bytes = bytes(Runs::writeBlock, blocks);
        Decoder in = DecoderFactory.get().binaryDecoder(bytes, null);
        List<BlockRun> runs = new ArrayList<>();
        for (long count = in.readArrayStart(); count > 0; count = in.arrayNext()) {
            for (long i = 0; i < count; i++) {
                runs.add(BlockRun.decode(in));
            }
        }
        return runs;
    }

    private static Bytes key(int number) {
        return Bytes.ofHex("%016x".formatted(number));
    }

    /** Block {@code index} of prompt 0: its key is 1 + index, and no parent at index 0. */
    private static Block block(int index) {
        return new Block(index, key(1 + index), index == 0 ? Bytes.EMPTY : key(index));
    }

    private static List<Block> blocks(int... indexes) {
        return IntStream.of(indexes).mapToObj(RunsTest::block).toList();
    }

    @Test
    void aChainIsOneRunUpAndDown() throws IOException {
        assertEquals(List.of(new BlockRun(0, false, Bytes.EMPTY, 8, Bytes.ofHex("000000000000000100000000000000020000000000000003"))),
                runs(blocks(0, 1, 2)));
        assertEquals(List.of(new BlockRun(2, true, key(1), 8, Bytes.ofHex("00000000000000030000000000000002"))), runs(blocks(2, 1)));
        assertEquals(3, runs(blocks(0, 1, 3, 5, 4)).size());
        Block far = new Block(-1, key(9), Bytes.EMPTY);
        assertEquals(2, runs(List.of(far, far, block(0))).size());
    }

    /** Ten consecutive blocks of 16 bytes, one behind the other in memory: 10 * (16 + 4) bytes and less than 32 besides. */
    @Test
    void consecutivePagesOfAChainCostTheirKeysAndChecksums() throws IOException {
        List<PagedBlock> paged = new ArrayList<>();
        Bytes parent = Bytes.ofHex("ff".repeat(16));
        for (int i = 0; i < 10; i++) {
            Bytes key = Bytes.ofHex("%032x".formatted(i + 1));
            paged.add(new PagedBlock(new Block(100 + i, key, parent), 5_000 + i, 77, 0x12345678 + i));
            parent = key;
        }
        int size = bytes(Runs::writePagedBlock, paged).length;
        assertTrue(size < 10 * (16 + 4) + 16 + 32, () -> size + " bytes");
    }

    /** Lists of few keys, so that neighbours often fit together and often almost do. */
    @Test
    void whatIsWrittenIsRead() throws IOException {
        for (int seed = 0; seed < 5_000; seed++) {
            Random random = new Random(seed);
            List<Block> blocks = IntStream.range(0, random.nextInt(12)).mapToObj(_ -> random(random)).toList();
            String at = "seed " + seed;
            assertEquals(blocks, read(Runs::readBlock, bytes(Runs::writeBlock, blocks)), at);
            List<PagedBlock> paged = blocks.stream()
                    .map(block -> new PagedBlock(block, number(random), (long) number(random) << random.nextInt(33), number(random))).toList();
            assertEquals(paged, read(Runs::readPagedBlock, bytes(Runs::writePagedBlock, paged)), at);
            List<BlockResult> results = paged.stream().map(one -> new BlockResult(one.block(), random.nextInt(4) == 0 ? BlockStatus.FAILED : ARRIVED,
                    random.nextInt(4) == 0 ? OperationReason.IO : COMPLETED, one.page(), one.generation(), one.crc32c(),
                    random.nextInt(4) == 0 ? Tier.DISK : Tier.STORE)).toList();
            assertEquals(results, read(Runs::readBlockResult, bytes(Runs::writeBlockResult, results)), at);
        }
    }

    private static int number(Random random) {
        int[] often = {0, 0, 0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE};
        int drawn = random.nextInt(often.length + 2);
        return drawn < often.length ? often[drawn] : random.nextInt();
    }

    private static Block random(Random random) {
        int index = random.nextInt(5);
        return switch (random.nextInt(12)) {
            case 0 -> new Block(-1, key(index), Bytes.EMPTY);
            case 1 -> new Block(-1, key(index), key(index + 1));
            case 2 -> new Block(index, Bytes.EMPTY, key(index));
            case 3 -> new Block(index, Bytes.ofHex("0a0b"), key(index));
            case 4 -> new Block(Integer.MAX_VALUE - index, key(index), key(index - 1));
            case 5 -> new Block(Integer.MIN_VALUE + index, key(index), key(index - 1));
            default -> block(index);
        };
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(textBlock = """
            no key at all,                  0, false, '', 8, ''
            half a key,                     0, false, '', 8, 000000000000000100
            keys of no bytes,               0, false, '', 0, 01
            keys of fewer than none,        0, false, '', -1, 01
            below the first block,          0, true, '', 1, 0102
            behind the last position,       2147483647, false, '', 1, 0102
            down without positions,         -1, true, '', 1, 0102
            a parent without positions,     -1, false, 07, 1, 0102
            positions that are none,        -2, false, '', 1, 0102
            one block down,                 3, true, 07, 1, 01
            """)
    void whatIsNoRunIsRefused(String what, int index, boolean down, String parent, int keyBytes, String keys) throws IOException {
        BlockRun run = new BlockRun(index, down, Bytes.ofHex(parent), keyBytes, Bytes.ofHex(keys));
        byte[] bytes = bytes((out, items) -> array(out, run), List.of());
        assertThrows(IOException.class, () -> read(Runs::readBlock, bytes), what);
    }

    @ParameterizedTest(name = "{0} pages, {1} generations, {2} bytes of checksums")
    @CsvSource({"0, 1, 0", "1, 2, 0", "2, 1, 0", "4, 2, 0", "2, 4, 0", "2, 2, 4", "2, 2, 16"})
    void numbersFitTheirBlocks(int pages, int generations, int checksumBytes) throws IOException {
        PagedRun run = new PagedRun(runs(blocks(0, 1, 2)).getFirst(), IntStream.range(0, pages).boxed().toList(),
                IntStream.range(0, generations).mapToObj(Long::valueOf).toList(), Bytes.copyOf(new byte[checksumBytes]));
        byte[] bytes = bytes((out, items) -> array(out, run), List.of());
        assertThrows(IOException.class, () -> read(Runs::readPagedBlock, bytes));
    }

    private static void array(Encoder out, WireRecord run) throws IOException {
        out.writeArrayStart();
        out.setItemCount(1);
        out.startItem();
        run.encode(out);
        out.writeArrayEnd();
    }
}
