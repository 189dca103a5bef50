/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import io.tierlog.agent.core.layout.FusedGeometry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32;

/** G1: 4 layers, 2 heads of 8, 16 tokens, 32 blocks; what must be in memory before, on the host, and after. For tests of every device. */
public final class GoldenVector {
    /** The numbers of the model. */
    public static final FusedGeometry GEOMETRY = new FusedGeometry(4, 2, 8, 16, 2);
    /** Blocks on the device. */
    public static final int BLOCKS = 32;
    /** Bytes of a host page. */
    public static final int PAGE_BYTES = 4_096;
    /** Bytes of the device. */
    public static final int DEVICE_BYTES = 131_072;
    /** Pages on the host. */
    public static final int PAGES = 3;
    /** What a save reads: logical blocks 0, 1, 2. */
    public static final List<CopyPlanner.Pair> SAVE =
            List.of(new CopyPlanner.Pair(1, 0), new CopyPlanner.Pair(2, 1), new CopyPlanner.Pair(3, 2));
    /** Where a load puts them. */
    public static final List<CopyPlanner.Pair> LOAD =
            List.of(new CopyPlanner.Pair(10, 0), new CopyPlanner.Pair(11, 1), new CopyPlanner.Pair(12, 2));
    /** SHA-256 and CRC32 of the device before. */
    public static final String DEVICE_BEFORE = "b08e997d1beceaadb99b8be841eb90ce68c1fd67443444fb8b0e78c8970049f6 b03a586e";
    /** Of the layer-first host image. */
    public static final String LAYER_FIRST = "d6e3e8e54229d7f76f6787b4205c4bd190ad5271dd11a92574d95ac54acedb05 8a940a31";
    /** Of the page-first host image. */
    public static final String PAGE_FIRST = "664fb86aefce0bb7bf6648a2c95d61df042c545727180e65325d48fb26a0edb7 963fb7c1";
    /** CRC32 of each logical block. */
    public static final List<String> BLOCK_CRC32 = List.of("72be046f", "b8874b2a", "47cb1d2e");
    /** SHA-256 and CRC32 of the device after the load. */
    public static final String DEVICE_AFTER = "6a541ddac14be247ff4f535a15995753f8ef82f532972a84631231d0c4925d2e 077d6e41";

    private GoldenVector() {}

    /** The device before: logical blocks 0, 1, 2 in blocks 1, 2, 3, the rest zero. */
    public static byte[] device() {
        ByteBuffer device = ByteBuffer.allocate(DEVICE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int elements = (int) GEOMETRY.segmentBytes() / 2;
        for (int logical = 0; logical < PAGES; logical++) {
            for (int layer = 0; layer < GEOMETRY.layers(); layer++) {
                for (int segment = 0; segment < 2; segment++) {
                    int at = (int) GEOMETRY.offset(logical + 1, layer, segment);
                    for (int e = 0; e < elements; e++) {
                        device.putShort(at + 2 * e, element(logical, layer, segment, e));
                    }
                }
            }
        }
        return device.array();
    }

    private static short element(int logical, int layer, int segment, int e) {
        int s = (logical * 9_973 + layer * 257 + segment * 131 + e * 7) % 4_093;
        return bf16((float) s / 11 - 90);
    }

    /** The upper half of a float, rounded to the nearest, to even at a tie; the value is finite. */
    private static short bf16(float value) {
        int bits = Float.floatToRawIntBits(value);
        return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
    }

    /** SHA-256, a space, CRC32; as the constants. */
    public static String sums(byte[] bytes) {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(bytes);
            return HexFormat.of().formatHex(sha256) + " " + crc32(bytes, 0, bytes.length);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** CRC32 of a part, eight digits. */
    public static String crc32(byte[] bytes, int from, int length) {
        CRC32 crc = new CRC32();
        crc.update(bytes, from, length);
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }
}
