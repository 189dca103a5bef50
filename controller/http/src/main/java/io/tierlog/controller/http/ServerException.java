/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.nio.file.Path;

/** Why a server did not start. Each message says what to do. */
public abstract sealed class ServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private ServerException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The address is in use, or not of this machine. */
    public static final class CannotListen extends ServerException {
        private static final long serialVersionUID = 1L;

        /** Failed to listen on {@code endpoint}, which the flag {@code option} named. */
        public CannotListen(String option, Endpoint endpoint, Throwable cause) {
            super("cannot serve on " + endpoint + ": " + cause.getMessage() + "; choose another " + option
                    + ", or port 0 for any free one", cause);
        }
    }

    /** The token file cannot be read, or a line of it is not a token. */
    public static final class TokensUnusable extends ServerException {
        private static final long serialVersionUID = 1L;

        /** The file, and its error. */
        public TokensUnusable(Path file, String why, Throwable cause) {
            super("the tokens in " + file + " cannot be used: " + why + "; each line of --api-tokens is: reader|operator NAME sha256:HEX"
                    + " [namespaces=PATTERN,...], where HEX is the output of `printf %s TOKEN | sha256sum`", cause);
        }
    }
}
