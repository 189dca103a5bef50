/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import io.tierlog.agent.bridge.decode.Decoded;
import java.util.zip.CRC32C;

/**
 * A batch as it came.
 *
 * @param seq its number in the publisher's count, from 0
 * @param topic under which it was published; empty where a replay does not say
 * @param size of the payload, bytes
 * @param crc32c of the payload: tells a repeat from a batch of another process
 * @param content what it says
 */
public record Frame(long seq, String topic, int size, int crc32c, Decoded content) {
    /** A frame of that payload. */
    public static Frame of(long seq, String topic, byte[] payload, Decoded content) {
        CRC32C crc = new CRC32C();
        crc.update(payload);
        return new Frame(seq, topic, payload.length, (int) crc.getValue(), content);
    }
}
