/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.agent.disk.RecordHeader.Block;
import io.tierlog.agent.disk.RecordHeader.Content;
import io.tierlog.agent.disk.RecordHeader.Place;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands before every block, and what pads it. */
class RecordHeaderTest {
    private static final Bytes TIER = Bytes.ofHex("0123456789abcdef0123456789abcdef");
    private static final Place PLACE = new Place(TIER, 7, 12_288);

    private final MemorySegment page = Arena.ofAuto().allocate(RecordHeader.BYTES, RecordHeader.BYTES);

    @Test
    void aHeaderIsReadAsItWasWritten() {
        for (RecordHeader header : List.of(header("model", false), header("", true), header("ä".repeat(1_920), false))) {
            header.put(page);
            assertEquals(Optional.of(header), RecordHeader.parse(page, PLACE));
        }
    }

    @Test
    void aHeaderCountsOnlyWhereItWasWritten() {
        header("model", false).put(page);
        assertEquals(Optional.empty(), RecordHeader.parse(page, new Place(TIER, 8, 12_288)), "in another segment");
        assertEquals(Optional.empty(), RecordHeader.parse(page, new Place(TIER, 7, 0)), "at another place");
        assertEquals(Optional.empty(), RecordHeader.parse(page, new Place(Bytes.ofHex("00".repeat(16)), 7, 12_288)), "in another tier");
    }

    @Test
    void everyFlippedBitIsFound() {
        header("model", false).put(page);
        for (int bit = 0; bit < RecordHeader.BYTES * 8; bit += 7) {
            flip(bit);
            assertEquals(Optional.empty(), RecordHeader.parse(page, PLACE), "bit " + bit);
            flip(bit);
        }
        assertEquals(Optional.of(header("model", false)), RecordHeader.parse(page, PLACE));
    }

    @ParameterizedTest
    @CsvSource({"8848, 512, 9216", "1, 512, 512", "512, 512, 512", "513, 512, 1024", "8848, 4096, 12288", "2359296, 4096, 2359296"})
    void blocksArePadded(long bytes, int alignBytes, long padded) {
        assertEquals(padded, DiskLimits.padded(bytes, alignBytes));
    }

    @Test
    void aLabelIsReadAsItWasWrittenAndADamagedOneIsRefused() throws IOException {
        TierLabel label = new TierLabel(TIER, 4_096, 1L << 40);
        assertEquals(label, TierLabel.decode(label.encode()));
        for (int i = 0; i < label.encode().length; i++) {
            byte[] wrong = label.encode();
            wrong[i] ^= 1;
            assertThrows(DiskTierException.class, () -> TierLabel.decode(wrong));
        }
        assertThrows(DiskTierException.class, () -> TierLabel.decode(new byte[3]));
    }

    @Test
    void aTierIsOpenedOnlyAsItWasMade() throws IOException {
        MemorySegmentIo disk = new MemorySegmentIo(512, 1L << 20);
        Generations.open(disk).next();
        MemorySegmentIo other = new MemorySegmentIo(4_096, 1L << 20);
        other.writeLabel(disk.label().orElseThrow());
        assertThrows(DiskTierException.class, () -> Generations.open(other));
        MemorySegmentIo unlabelled = new MemorySegmentIo(4_096, 1L << 20);
        unlabelled.create(1, 4_096);
        assertThrows(DiskTierException.class, () -> Generations.open(unlabelled));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1_024, 8_192})
    void limitsAreChecked(int alignBytes) {
        assertThrows(IllegalArgumentException.class, () -> new DiskLimits.Space(1 << 20, 0, 1 << 18, alignBytes));
        assertThrows(IllegalArgumentException.class, () -> new DiskLimits.Space(1 << 20, 0, 1 << 20, 4_096), "two segments at least");
        assertThrows(IllegalArgumentException.class, () -> Blocks.limits().with(new DiskLimits.Blocks(1, Blocks.SEGMENT, 10, 1)),
                "a record must fit a segment");
    }

    private static RecordHeader header(String namespace, boolean dropped) {
        Block block = new Block(Namespace.of(namespace), Blocks.key(1), 99, new Content(8_848, -5), 3, Blocks.key(2), Blocks.ROOT);
        return new RecordHeader(PLACE, block, dropped);
    }

    private void flip(int bit) {
        byte old = page.get(ValueLayout.JAVA_BYTE, bit / 8);
        page.set(ValueLayout.JAVA_BYTE, bit / 8, (byte) (old ^ 1 << bit % 8));
    }
}
