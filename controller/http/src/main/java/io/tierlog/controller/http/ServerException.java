/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.nio.file.Path;

/** Why a door could not be opened. Each message says what to do. */
public abstract sealed class ServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private ServerException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Somebody else listens there, or the address is not ours. */
    public static final class CannotListen extends ServerException {
        private static final long serialVersionUID = 1L;

        /** On {@code endpoint}, which the flag {@code option} named. */
        public CannotListen(String option, Endpoint endpoint, Throwable cause) {
            super("cannot serve on " + endpoint + ": " + cause.getMessage() + "; choose another " + option
                    + ", or port 0 for any free one", cause);
        }
    }

    /** The file of tokens cannot be read, or a line of it is no token. */
    public static final class TokensUnusable extends ServerException {
        private static final long serialVersionUID = 1L;

        /** What is wrong with the file. */
        public TokensUnusable(Path file, String why, Throwable cause) {
            super("the tokens in " + file + " cannot be used: " + why + "; each line of --api-tokens is: reader|operator NAME sha256:HEX"
                    + " [namespaces=PATTERN,...], where HEX is what `printf %s TOKEN | sha256sum` says", cause);
        }
    }
}
