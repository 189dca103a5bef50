/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts that a process has opened. {@link #close} closes them last first, each once. A part that fails is logged and does not keep the others
 * open. Safe for use by several threads: a second call of {@link #close} returns when all parts are closed.
 */
public final class Closers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Closers.class);

    private record Part(String what, AutoCloseable closeable) {}

    private final Deque<Part> parts = new ConcurrentLinkedDeque<>();

    /**
     * Adds a part.
     *
     * @param what names it in the log
     * @return the part
     */
    public <T extends AutoCloseable> T add(String what, T part) {
        parts.push(new Part(what, part));
        return part;
    }

    @Override
    public synchronized void close() {
        Part part;
        while ((part = parts.poll()) != null) {
            try {
                part.closeable.close();
            } catch (Exception e) {
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
                LOG.warn("{} did not close cleanly", part.what, e);
            }
        }
    }
}
