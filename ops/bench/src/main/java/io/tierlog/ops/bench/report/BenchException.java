/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.report;

/** The reason why a benchmark did not run to its end. The command line prints the message and the hint, without a stack trace. */
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

    /** The request makes no sense, or needs something else to be done first. */
    public static BenchException badInput(String message, String hint) {
        return new BenchException(message, hint, true);
    }

    /** The benchmark understood the request and could not do it. */
    public static BenchException failed(String message, String hint) {
        return new BenchException(message, hint, false);
    }

    /** Refuses an option whose value is not between {@code least} and {@code most}. */
    public static void requireWithin(String flag, long value, long least, long most) {
        if (value < least || value > most) {
            throw badInput(flag + " " + value + " is not between " + least + " and " + most, "choose another value");
        }
    }

    /** Adds the exception behind it. */
    public BenchException causedBy(Throwable cause) {
        initCause(cause);
        return this;
    }

    /** The problem, one sentence without a full stop. */
    @Override
    public String getMessage() {
        return message;
    }

    /** What to do next. */
    public String hint() {
        return hint;
    }

    /** Whether other options would help (exit code 2), or not (exit code 1). */
    public boolean isBadInput() {
        return badInput;
    }
}
