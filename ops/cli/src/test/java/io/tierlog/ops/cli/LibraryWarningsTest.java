/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

/** A port scan of a gRPC port. */
class LibraryWarningsTest {
    @Test
    void badConnectionsAreOneWarningWithoutAStackTrace() {
        Logger logger = new LoggerContext().getLogger("scan");
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        LibraryWarnings warnings = new LibraryWarnings(logger);
        for (int i = 0; i < 500; i++) {
            LogRecord failed = new LogRecord(Level.INFO, "Transport failed");
            failed.setLoggerName("io.grpc.netty.shaded.io.grpc.netty.NettyServerTransport");
            failed.setThrown(new IllegalStateException("HTTP/2 client preface string missing or corrupt. Hex dump for received bytes: 16030100"));
            warnings.publish(failed);
        }
        assertEquals(1, logged.list.size());
        assertNull(logged.list.getFirst().getThrowableProxy());
        assertEquals("a client was disconnected, its bytes are no gRPC: HTTP/2 client preface string missing or corrupt. "
                + "Hex dump for received bytes: 16030100", logged.list.getFirst().getFormattedMessage());
    }
}
