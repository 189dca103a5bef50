/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import java.nio.file.Path;

/** Why the operator's door could not be opened. Each message says what to do. */
public abstract sealed class ApiException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private ApiException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Somebody else listens there, or the address is not ours. */
    public static final class CannotListen extends ApiException {
        private static final long serialVersionUID = 1L;

        CannotListen(String option, ApiConfig.Endpoint endpoint, Throwable cause) {
            super("cannot serve the operator's door on " + endpoint + ": " + cause.getMessage() + "; choose another " + option
                    + ", or port 0 for any free one", cause);
        }
    }

    /** The file of tokens cannot be read, or a line of it is no token. */
    public static final class TokensUnusable extends ApiException {
        private static final long serialVersionUID = 1L;

        TokensUnusable(Path file, String why, Throwable cause) {
            super("the tokens in " + file + " cannot be used: " + why + "; each line of --api-tokens is: reader|operator NAME sha256:HEX,"
                    + " where HEX is what `printf %s TOKEN | sha256sum` says", cause);
        }
    }
}
