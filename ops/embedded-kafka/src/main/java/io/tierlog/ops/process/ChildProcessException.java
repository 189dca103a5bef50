/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.process;

/** A child process could not start, ended early, or did not answer in time. The message names the process and its last lines. */
public final class ChildProcessException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;

    ChildProcessException(String message, Throwable cause) {
        super(message, cause);
        this.message = message;
    }

    /** The name of the process and its problem, without a full stop. */
    @Override
    public String getMessage() {
        return message;
    }
}
