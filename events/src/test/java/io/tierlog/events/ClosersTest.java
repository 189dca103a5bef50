/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosersTest {
    private final List<String> closed = new ArrayList<>();
    private final Closers closers = new Closers();

    private AutoCloseable part(String name) {
        return () -> closed.add(name);
    }

    @Test
    void closesLastFirstAndOnce() {
        AutoCloseable first = part("first");
        assertSame(first, closers.add("first", first));
        closers.add("second", part("second"));
        closers.close();
        closers.close();
        assertEquals(List.of("second", "first"), closed);
    }

    @Test
    void aPartThatFailsKeepsNoOtherOpen() {
        closers.add("first", part("first"));
        closers.add("broken", () -> {
            throw new IllegalStateException("broken");
        });
        closers.add("interrupted", () -> {
            throw new InterruptedException();
        });
        closers.close();
        assertEquals(List.of("first"), closed);
        assertTrue(Thread.interrupted());
    }

    @Test
    void aPartAddedByAClosingPartIsClosed() {
        closers.add("first", part("first"));
        closers.add("second", () -> closers.add("third", part("third")));
        closers.close();
        assertEquals(List.of("third", "first"), closed);
    }
}
