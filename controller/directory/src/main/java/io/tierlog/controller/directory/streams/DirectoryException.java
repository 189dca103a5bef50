/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.events.Causes;
import java.nio.file.Path;

/** Why a directory did not start, other than errors of the log itself or of an address. Each message names the remedy. */
public abstract sealed class DirectoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private DirectoryException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The registry did not answer within the bound for starting. */
    public static final class RegistryUnreachable extends DirectoryException {
        private static final long serialVersionUID = 1L;

        /** Because of this. */
        public RegistryUnreachable(Throwable cause) {
            super("the schema registry did not answer: " + cause.getMessage()
                    + "; check --registry-url, or leave it out to use the bundled schemas", cause);
        }
    }

    /** The state directory cannot be written, or another process uses it. */
    public static final class StateDirUnusable extends DirectoryException {
        private static final long serialVersionUID = 1L;

        StateDirUnusable(Path stateDir, Throwable cause) {
            super("the state directory " + stateDir + " cannot be used: " + Causes.of(cause)
                    + "; give each directory a --state-dir of its own that it may write to", cause);
        }
    }

    /** The instance is being closed while it waits. */
    static final class Closing extends DirectoryException {
        private static final long serialVersionUID = 1L;

        Closing() {
            super("the directory is closing while it waits for the schema registry", new InterruptedException());
        }
    }
}
