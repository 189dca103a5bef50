/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Why the broker did not start. Nothing is left running when one of these is thrown. */
public abstract sealed class EmbeddedKafkaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;
    private final String hint;

    private EmbeddedKafkaException(String message, String hint, @Nullable Throwable cause) {
        super(message, cause);
        this.message = message;
        this.hint = hint;
    }

    /** What is wrong, in one sentence. */
    @Override
    public String getMessage() {
        return message;
    }

    /** What to do next, in one sentence. */
    public String hint() {
        return hint;
    }

    /** Another process listens on the wanted port. */
    public static final class PortInUse extends EmbeddedKafkaException {
        private static final long serialVersionUID = 1L;

        private final int port;

        PortInUse(String host, int port, Throwable cause) {
            super(
                    "port " + port + " on " + host + " is already in use",
                    "stop the broker or other program that listens on port " + port + ", or choose another port (0 takes a free one)",
                    cause);
            this.port = port;
        }

        /** The port that was wanted. */
        public int port() {
            return port;
        }
    }

    /** The data directory cannot be used: written by another program, in use, or not writable. */
    public static final class UnusableData extends EmbeddedKafkaException {
        private static final long serialVersionUID = 1L;

        UnusableData(Path directory, String why, String hint, @Nullable Throwable cause) {
            super("cannot use the data directory " + directory + ": " + why, hint, cause);
        }
    }

    /** Kafka itself refused to start. */
    public static final class StartFailed extends EmbeddedKafkaException {
        private static final long serialVersionUID = 1L;

        StartFailed(String message, String hint, Throwable cause) {
            super(message, hint, cause);
        }
    }
}
