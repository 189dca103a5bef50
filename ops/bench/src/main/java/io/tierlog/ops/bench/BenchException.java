/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

/** Why a benchmark did not run to its end. The command line prints the message and the hint, without a stack trace. */
public final class BenchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;
    private final String hint;
    private final boolean badInput;

    private BenchException(String message, String hint, boolean badInput) {
        super(message);
        this.message = message;
        this.hint = hint;
        this.badInput = badInput;
    }

    /** What was asked makes no sense, or needs something else to be done first. */
    public static BenchException badInput(String message, String hint) {
        return new BenchException(message, hint, true);
    }

    /** What was asked was understood and could not be done. */
    public static BenchException failed(String message, String hint) {
        return new BenchException(message, hint, false);
    }

    /** The same with the exception behind it. */
    public BenchException causedBy(Throwable cause) {
        initCause(cause);
        return this;
    }

    /** What is wrong, one sentence without a full stop. */
    @Override
    public String getMessage() {
        return message;
    }

    /** What to do next. */
    public String hint() {
        return hint;
    }

    /** Whether asking in another way would help (exit code 2), or not (exit code 1). */
    public boolean isBadInput() {
        return badInput;
    }
}
