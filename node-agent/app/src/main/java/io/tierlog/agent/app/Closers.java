/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What has been opened, to be closed in reverse order, each whatever the others do. Safe for use by several threads. */
final class Closers {
    private static final Logger LOG = LoggerFactory.getLogger(Closers.class);

    private record Closer(String what, AutoCloseable closeable) {}

    private final ArrayDeque<Closer> closers = new ArrayDeque<>();

    /** Adds something and returns it. */
    <T extends AutoCloseable> T add(String what, T closeable) {
        synchronized (closers) {
            closers.push(new Closer(what, closeable));
        }
        return closeable;
    }

    /** Closes everything once; what goes wrong is logged. */
    void close() {
        while (true) {
            Closer next;
            synchronized (closers) {
                next = closers.poll();
            }
            if (next == null) {
                return;
            }
            try {
                next.closeable().close();
            } catch (Exception e) {
                LOG.warn("{} did not close cleanly", next.what(), e);
            }
        }
    }
}
