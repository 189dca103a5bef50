/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.tierlog.controller.http.Page;
import io.tierlog.controller.http.Problem;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Streams without a server: what a slow browser gets, and how many there may be. */
class LiveStreamsTest {
    private static final PageQuery OVERVIEW = new PageQuery("overview", 15, "", new RequestFilter("", "", 0, false), 0);
    private static final long PATIENCE_S = 60;

    private final AtomicInteger number = new AtomicInteger();
    private final LiveStreams streams = new LiveStreams(new LiveStreams.Limits(2, 2, 60_000),
            query -> JsonNodeFactory.instance.objectNode().put("number", number()));
    private final List<Thread> threads = new ArrayList<>();

    private volatile Optional<Error> failure = Optional.empty();

    private int number() {
        failure.ifPresent(error -> {
            throw error;
        });
        return number.incrementAndGet();
    }

    /** A browser that takes one event for each permit. */
    private final class Browser implements Page.Out {
        private final Semaphore permits = new Semaphore(0);
        private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

        Browser() {
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    streams.stream(OVERVIEW, this);
                } catch (IOException e) {
                    got.add("gone");
                }
            }));
        }

        @Override
        public void file(String mediaType, Map<String, String> headers, byte[] body) {
            throw new AssertionError("a stream is no file");
        }

        @Override
        public Page.Events events() {
            return text -> {
                got.add(text);
                try {
                    if (!permits.tryAcquire(PATIENCE_S, TimeUnit.SECONDS)) {
                        throw new IOException("too slow");
                    }
                } catch (InterruptedException e) {
                    throw new IOException("ended", e);
                }
            };
        }

        String next() throws InterruptedException {
            String text = got.poll(PATIENCE_S, TimeUnit.SECONDS);
            permits.release();
            return String.valueOf(text);
        }
    }

    @AfterEach
    void end() throws Exception {
        streams.close();
        for (Thread thread : threads) {
            thread.interrupt();
            assertTrue(thread.join(Duration.ofSeconds(PATIENCE_S)));
        }
    }

    /** The browser hangs in its first page; five more come: two wait, three are lost, and it gets to know. */
    @Test
    void aSlowBrowserMissesPagesAndGetsAGap() throws Exception {
        Browser browser = new Browser();
        while (browser.got.isEmpty()) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < 5; i++) {
            streams.makeAll();
        }

        assertEquals("event: page\ndata: {\"number\":1}\n\n", browser.next());
        assertEquals("event: gap\ndata: {\"missed\":3}\n\n", browser.next());
        assertEquals("event: page\ndata: {\"number\":5}\n\n", browser.next());
        assertEquals("event: page\ndata: {\"number\":6}\n\n", browser.next());
    }

    /** Both show the same page: it is made once for them. */
    @Test
    void onePageIsMadeForAllAndOneBrowserTooManyIsRefused() throws Exception {
        Browser one = new Browser();
        Browser two = new Browser();
        one.next();
        two.next();
        number.set(10);
        streams.makeAll();

        assertEquals("event: page\ndata: {\"number\":11}\n\n", one.next());
        assertEquals("event: page\ndata: {\"number\":11}\n\n", two.next());
        Problem refused = assertThrows(Problem.class, () -> streams.stream(OVERVIEW, one));
        assertEquals(Problem.Kind.OVERLOADED, refused.kind());
        assertEquals(2, streams.connected());
        assertEquals(11, number.get(), "no page is made for a stream that is refused");
    }

    /** A schedule ends in silence with what its work throws. */
    @Test
    void anErrorInOnePageDoesNotEndTheSchedule() throws Exception {
        Browser browser = new Browser();
        browser.next();
        failure = Optional.of(new AssertionError("a page that cannot be made"));
        streams.makeAll();
        failure = Optional.empty();
        streams.makeAll();

        assertEquals("event: page\ndata: {\"number\":2}\n\n", browser.next());
    }
}
