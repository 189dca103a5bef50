/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.threads;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What the logger of a class writes while this is open. */
public final class LoggedLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;

    public LoggedLines(Class<?> of) {
        this(of.getName());
    }

    public LoggedLines(String of) {
        logger = (Logger) LoggerFactory.getLogger(of);
        start();
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        lines.add(event.getFormattedMessage());
    }

    /** How many lines have this text. */
    public long with(String text) {
        return lines.stream().filter(line -> line.contains(text)).count();
    }

    @Override
    public String toString() {
        return lines.toString();
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        stop();
    }
}
