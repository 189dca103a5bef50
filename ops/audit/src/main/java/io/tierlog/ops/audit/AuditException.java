/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

/** A log cannot be read. This is not a finding about its content. */
public final class AuditException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;
    private final String hint;

    /**
     * @param message what is wrong, one sentence without a full stop
     * @param hint what to do next
     */
    public AuditException(String message, String hint) {
        super(message);
        this.message = message;
        this.hint = hint;
    }

    /** As the other constructor, with the exception that caused it. */
    public AuditException(String message, String hint, Throwable cause) {
        this(message, hint);
        initCause(cause);
    }

    @Override
    public String getMessage() {
        return message;
    }

    /** What to do next. */
    public String hint() {
        return hint;
    }
}
