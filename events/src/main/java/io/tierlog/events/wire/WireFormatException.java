/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.wire;

/**
 * Bytes that are not in the Confluent wire format. Asking again gives the same answer: the record is unreadable and goes to the dead
 * letters.
 */
public final class WireFormatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    WireFormatException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** What is wrong with the bytes. */
    public Reason reason() {
        return reason;
    }

    /** The closed list of what can be wrong with a frame. */
    public enum Reason {
        /** Fewer than {@link WireFormat#HEADER_BYTES} bytes; a tombstone has no value at all and never comes here. */
        TOO_SHORT,
        /** The first byte is not {@link WireFormat#MAGIC}: another format, or plain text. */
        WRONG_MAGIC,
        /** The schema id is negative, which no registry gives. */
        NEGATIVE_ID
    }
}
