/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.event.Event;
import org.jspecify.annotations.Nullable;

/** The event that decisions answer. Confined to its partition's fold. */
final class Cause {
    final long offset;
    final @Nullable Event event;
    /** What the event reports about the end of an operation; null when it does not end one. */
    final @Nullable Ending ending;
    private long lastOrdinal = -1;

    /** An event, or null for a record that is not an event. */
    Cause(long offset, @Nullable Event event) {
        this.offset = offset;
        this.event = event;
        this.ending = event == null ? null : Ending.of(event);
    }

    /**
     * Whether an id was made for this cause and is new: AGGREGATE@OFFSET.ORDINAL with a higher ordinal than those before. An id is therefore never
     * given twice, and old ids need not be stored.
     */
    boolean gives(String aggregate, String id) {
        int dot = id.lastIndexOf('.');
        int at = id.lastIndexOf('@', dot);
        if (at != aggregate.length() || !id.startsWith(aggregate) || number(id, at + 1, dot) != offset) {
            return false;
        }
        long ordinal = number(id, dot + 1, id.length());
        boolean rises = ordinal > lastOrdinal;
        lastOrdinal = ordinal;
        return rises;
    }

    /** The offset that a cause names, AGGREGATE@OFFSET; -1 when it names none. */
    static long offsetOf(@Nullable String cause) {
        return cause == null ? -1 : number(cause, cause.lastIndexOf('@') + 1, cause.length());
    }

    /** Digits from..to-1 as a number; -1 when there is anything else, or too much of it. */
    private static long number(String text, int from, int to) {
        if (from <= 0 || from >= to || to - from > 18) {
            return -1;
        }
        long value = 0;
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            value = value * 10 + (c - '0');
        }
        return value;
    }
}
