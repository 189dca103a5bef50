/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.threads.RareWarning;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes what libraries log through {@code java.util.logging} on to the log of the process, without stack traces. gRPC would print one for each
 * client that does not speak HTTP/2, such as a port scan: those are one warning in ten seconds. Safe for use by several threads.
 */
final class LibraryWarnings extends Handler {
    private static final String SERVER_TRANSPORT = "NettyServerTransport";
    private static final int LONGEST = 200;

    private final SimpleFormatter format = new SimpleFormatter();
    private final RareWarning badClients;

    LibraryWarnings(Logger logger) {
        badClients = new RareWarning(logger);
    }

    /** Takes the place of the handlers that print to standard error. */
    static void install() {
        LogManager.getLogManager().reset();
        java.util.logging.Logger.getLogger("").addHandler(new LibraryWarnings(LoggerFactory.getLogger(LibraryWarnings.class)));
    }

    @Override
    public void publish(LogRecord logged) {
        String name = String.valueOf(logged.getLoggerName());
        String text = text(logged);
        Logger logger = LoggerFactory.getLogger(name);
        if (name.contains(SERVER_TRANSPORT) && logged.getThrown() != null) {
            badClients.warn("a client was disconnected, its bytes are no gRPC: {}", cause(logged.getThrown()));
        } else if (logged.getLevel().intValue() >= Level.WARNING.intValue()) {
            logger.warn("{}", text);
        } else {
            logger.info("{}", text);
        }
    }

    private String text(LogRecord logged) {
        String message = format.formatMessage(logged);
        return logged.getThrown() == null ? message : message + ": " + cause(logged.getThrown());
    }

    private static String cause(Throwable thrown) {
        String message = thrown.getMessage() == null ? thrown.getClass().getSimpleName() : thrown.getMessage();
        return message.length() > LONGEST ? message.substring(0, LONGEST) + "..." : message;
    }

    @Override
    public void flush() {
        // Nothing is kept back.
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
