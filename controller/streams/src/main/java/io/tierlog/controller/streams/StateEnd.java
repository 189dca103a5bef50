/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.RecordStamp;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Where the state of a partition ends: the last event that it decided and the last decision that it has, as they must be on the log. It is a row of
 * the state, so it is true whatever others append to the log. Immutable.
 *
 * @param event offset of the last event that was decided, from 0
 * @param eventCrc32c checksum of that record's value; {@link #UNKNOWN} when the state came from a snapshot and nothing was decided since
 * @param decisionsFrom the last decision has this offset or a later one; with an empty aggregate it is the one before this offset
 * @param aggregate what the last decision is about, whose number and checksum the state has; empty when the state came from a snapshot
 */
public record StateEnd(long event, int eventCrc32c, long decisionsFrom, String aggregate) {
    /** No event was decided. */
    static final StateEnd NONE = new StateEnd(-1, 0, 0, "");

    /** No checksum. */
    static final int UNKNOWN = 0;

    private static final int FIXED_BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

    /** Of a state that came from a snapshot, which ends before {@code nextEvent} and {@code nextDecision}; both are offsets. */
    public static StateEnd ofSnapshot(long nextEvent, long nextDecision) {
        return nextEvent == 0 ? NONE : new StateEnd(nextEvent - 1, UNKNOWN, nextDecision, "");
    }

    /** Checksum of a record's value, which may be missing. */
    static int crc32c(byte @Nullable [] value) {
        return value == null ? UNKNOWN : RecordStamp.crc32c(value);
    }

    /** After {@code event} with this value was decided, and {@code decided} is the aggregate of the last decision; null when there was none. */
    StateEnd after(long event, byte @Nullable [] value, @Nullable String decided) {
        return new StateEnd(event, crc32c(value), decisionsFrom, decided == null ? aggregate : decided);
    }

    byte[] toBytes() {
        byte[] name = aggregate.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(FIXED_BYTES + name.length).putLong(event).putInt(eventCrc32c).putLong(decisionsFrom).put(name).array();
    }

    static StateEnd fromBytes(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        return new StateEnd(in.getLong(), in.getInt(), in.getLong(),
                new String(bytes, FIXED_BYTES, bytes.length - FIXED_BYTES, StandardCharsets.UTF_8));
    }
}
