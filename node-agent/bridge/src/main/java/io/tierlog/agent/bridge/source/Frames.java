/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The frames of a published message. Without state. */
final class Frames {
    private Frames() {}

    /**
     * A message.
     *
     * @param seq number of the batch; empty where the publisher does not count
     */
    @SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
    record Message(String topic, OptionalLong seq, byte[] payload) {}

    /** Topic, number, payload; topic, payload; or the payload alone. Empty for anything else. */
    static Optional<Message> message(List<byte[]> frames) {
        return switch (frames.size()) {
            case 1 -> Optional.of(new Message("", OptionalLong.empty(), frames.get(0)));
            case 2 -> Optional.of(new Message(text(frames.get(0)), OptionalLong.empty(), frames.get(1)));
            case 3 -> {
                long seq = frames.get(1).length == Long.BYTES ? ByteBuffer.wrap(frames.get(1)).getLong() : -1;
                yield seq < 0 ? Optional.empty() : Optional.of(new Message(text(frames.get(0)), OptionalLong.of(seq), frames.get(2)));
            }
            default -> Optional.empty();
        };
    }

    static String text(byte[] frame) {
        return new String(frame, StandardCharsets.UTF_8);
    }
}
