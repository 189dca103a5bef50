/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import org.jspecify.annotations.Nullable;

/** A command cannot go on: printed as {@code error:} and {@code hint:}, without a stack trace. */
public final class CliError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Exit code: the command failed. */
    public static final int FAILURE = 1;

    /** Exit code: wrong usage or input, or a step that must come first is missing. */
    public static final int BAD_INPUT = 2;

    private final String message;
    private final String hint;
    private final int exitCode;

    /**
     * @param message what is wrong, one sentence without a full stop
     * @param hint what to do next
     * @param exitCode {@link #FAILURE} or {@link #BAD_INPUT}
     */
    public CliError(@Nullable String message, String hint, int exitCode) {
        super(message);
        this.message = message == null ? "no reason was given" : message;
        this.hint = hint;
        this.exitCode = exitCode;
    }

    /** With the exception that caused it, which {@code --verbose} prints. */
    public CliError(@Nullable String message, String hint, int exitCode, Throwable cause) {
        this(message, hint, exitCode);
        initCause(cause);
    }

    /** What is wrong. */
    @Override
    public String getMessage() {
        return message;
    }

    /** What to do next. */
    public String hint() {
        return hint;
    }

    /** What the process ends with. */
    public int exitCode() {
        return exitCode;
    }
}
