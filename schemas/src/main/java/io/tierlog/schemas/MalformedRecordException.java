/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

/**
 * The bytes are not one whole record of the expected type, or the writer's schema cannot be read as this type.
 *
 * <p>The same bytes fail again every time: skip the record by a decision or dead-letter it, do not retry.
 */
public final class MalformedRecordException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String typeName;

    MalformedRecordException(String typeName, String detail) {
        super(typeName + ": " + detail);
        this.typeName = typeName;
    }

    MalformedRecordException(String typeName, Throwable cause) {
        super(typeName + ": " + (cause.getMessage() == null ? cause.toString() : cause.getMessage()), cause);
        this.typeName = typeName;
    }

    /** Full name of the type the bytes were read as. */
    public String typeName() {
        return typeName;
    }
}
