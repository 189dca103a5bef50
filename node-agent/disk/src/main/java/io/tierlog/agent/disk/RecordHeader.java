/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The 4,096 bytes before the bytes of every block, big-endian:
 *
 * <pre>
 *   0  int      magic "TLDB"                    52  int       CRC32C of the block
 *   4  short    version, 1                      56  int       index of the block in its prompt
 *   6  short    1 live, 2 dropped               60  short[4]  lengths of key, parent, root, namespace
 *   8  byte[16] id of the tier                  96  byte[32]  SHA-256 of the namespace
 *  24  long     number of the segment          128  byte[32]  key, filled up with zeros
 *  32  long     offset of this header          160  byte[32]  parent, filled up with zeros
 *  40  long     generation                     192  byte[32]  root, filled up with zeros
 *  48  int      length of the block            224  byte[]    namespace in UTF-8, filled up with zeros
 *                                             4092  int       CRC32C of bytes 0 to 4,091
 * </pre>
 *
 * <p>A header contains its own place, so one that was written to a wrong place, or that lies there from an earlier use of the segment, is
 * detected; the tier's id is random, so the bytes of a block cannot pass for one. Immutable. Trade-off: a page per block.
 *
 * @param place where it lies
 * @param block the block
 * @param dropped true when the tier does not hold the block and only its length counts
 */
record RecordHeader(Place place, Block block, boolean dropped) {
    static final int BYTES = 4_096;

    /** Space for the text of a namespace, in bytes. */
    static final int MOST_NAMESPACE_BYTES = 3_840;

    static final int MAGIC = 0x544C_4442;
    static final int TIER_ID_BYTES = 16;
    private static final short VERSION = 1;
    private static final short LIVE = 1;
    private static final short DROPPED = 2;
    private static final int AT_LENGTHS = 60;
    private static final int AT_DIGEST = 96;
    private static final int AT_KEY = 128;
    private static final int AT_PARENT = 160;
    private static final int AT_ROOT = 192;
    private static final int AT_NAMESPACE = 224;
    private static final int AT_CHECKSUM = 4_092;

    /** Tier, segment and offset. */
    record Place(Bytes tier, long segment, long offset) {}

    /**
     * A block.
     *
     * @param index in the prompt, from 0
     * @param parent key of the block before it, empty for the first
     * @param root key of the first block of the prompt
     */
    record Block(Namespace namespace, Bytes key, long generation, Content content, int index, Bytes parent, Bytes root) {
        BlockName name() {
            return new BlockName(namespace.digest(), key);
        }
    }

    /** Length and CRC32C of a block's bytes. */
    record Content(int length, int crc32c) {}

    /** Writes the header to the first {@link #BYTES} bytes of {@code out}. */
    void put(MemorySegment out) {
        byte[] text = block.namespace.text().getBytes(StandardCharsets.UTF_8);
        out.asSlice(0, BYTES).fill((byte) 0);
        ByteBuffer to = out.asSlice(0, BYTES).asByteBuffer();
        to.putInt(MAGIC).putShort(VERSION).putShort(dropped ? DROPPED : LIVE).put(place.tier.unshared());
        to.putLong(place.segment).putLong(place.offset).putLong(block.generation);
        to.putInt(block.content.length).putInt(block.content.crc32c).putInt(block.index);
        to.putShort((short) block.key.size()).putShort((short) block.parent.size());
        to.putShort((short) block.root.size()).putShort((short) text.length);
        to.put(AT_DIGEST, block.namespace.digest().unshared());
        to.put(AT_KEY, block.key.unshared()).put(AT_PARENT, block.parent.unshared()).put(AT_ROOT, block.root.unshared());
        to.put(AT_NAMESPACE, text);
        to.putInt(AT_CHECKSUM, Checksums.crc32c(out.asSlice(0, AT_CHECKSUM)));
    }

    /** The header in the first {@link #BYTES} bytes of {@code in}, or empty when there is no whole one that belongs to {@code place}. */
    static Optional<RecordHeader> parse(MemorySegment in, Place place) {
        ByteBuffer from = in.asSlice(0, BYTES).asByteBuffer();
        short state = from.getShort(6);
        if (from.getInt(0) != MAGIC
                || from.getShort(4) != VERSION
                || (state != LIVE && state != DROPPED)
                || from.getLong(24) != place.segment
                || from.getLong(32) != place.offset
                || !bytes(from, 8, TIER_ID_BYTES).equals(place.tier)
                || from.getInt(AT_CHECKSUM) != Checksums.crc32c(in.asSlice(0, AT_CHECKSUM))) {
            return Optional.empty();
        }
        return Optional.ofNullable(block(from)).map(block -> new RecordHeader(place, block, state == DROPPED));
    }

    private static @Nullable Block block(ByteBuffer from) {
        int key = from.getShort(AT_LENGTHS);
        int parent = from.getShort(AT_LENGTHS + 2);
        int root = from.getShort(AT_LENGTHS + 4);
        int text = from.getShort(AT_LENGTHS + 6);
        int length = from.getInt(48);
        if (length < 1
                || key < DiskLimits.LEAST_KEY_BYTES
                || key > DiskLimits.MOST_KEY_BYTES
                || Math.min(Math.min(parent, root), text) < 0
                || Math.max(parent, root) > DiskLimits.MOST_KEY_BYTES
                || text > MOST_NAMESPACE_BYTES) {
            return null;
        }
        byte[] utf8 = bytes(from, AT_NAMESPACE, text).unshared();
        Bytes digest = bytes(from, AT_DIGEST, Namespace.DIGEST_BYTES);
        Namespace namespace = new Namespace(new String(utf8, StandardCharsets.UTF_8), digest);
        Content content = new Content(length, from.getInt(52));
        return new Block(namespace, bytes(from, AT_KEY, key), from.getLong(40), content, from.getInt(56),
                bytes(from, AT_PARENT, parent), bytes(from, AT_ROOT, root));
    }

    private static Bytes bytes(ByteBuffer from, int at, int length) {
        byte[] bytes = new byte[length];
        from.get(at, bytes);
        return Bytes.wrapUnshared(bytes);
    }
}
