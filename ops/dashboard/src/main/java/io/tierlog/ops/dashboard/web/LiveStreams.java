/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.Page;
import io.tierlog.controller.http.Problem;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The streams of the browsers. Once a second each page that is shown somewhere is made once, and goes to every browser that shows it. A browser that
 * does not take what it gets misses pages, which an event {@code gap} reports: every page is whole, so the next one makes up for it.
 * At most {@link Limits#browsers} of them; a further one is refused. Safe for use by several threads.
 *
 * <pre>
 *   event: page   data: JSON of the page
 *   event: gap    data: {"missed":N}
 *   : alive       every ten seconds without an event
 * </pre>
 */
final class LiveStreams implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LiveStreams.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Limits limits;
    private final Function<PageQuery, ObjectNode> pages;
    private final List<Browser> browsers = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService maker =
            Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("tierlog-live-page").daemon().factory());
    private volatile boolean closed;

    /**
     * Bounds.
     *
     * @param browsers streams at once
     * @param queue pages that wait for a browser
     * @param aliveMs longest time without a sign that the server is there
     */
    record Limits(int browsers, int queue, long aliveMs) {
        static final Limits DEFAULTS = new Limits(50, 4, 10_000);
    }

    LiveStreams(Limits limits, Function<PageQuery, ObjectNode> pages) {
        this.limits = limits;
        this.pages = pages;
    }

    /** Makes the pages each period. */
    LiveStreams everyMs(long periodMs) {
        Future<?> _ = maker.scheduleWithFixedDelay(this::makeAll, periodMs, periodMs, TimeUnit.MILLISECONDS);
        return this;
    }

    /** One browser's stream, for the thread of its request. */
    private final class Browser {
        private final PageQuery query;
        private final Deque<String> waiting = new ArrayDeque<>();
        private long missed;

        Browser(PageQuery query) {
            this.query = query;
        }

        synchronized void offer(String page) {
            if (waiting.size() == limits.queue()) {
                waiting.removeFirst();
                missed++;
            }
            waiting.addLast(page);
            notifyAll();
        }

        /** The next text to send; a sign of presence when there is nothing for a while. */
        synchronized String next() throws InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limits.aliveMs());
            while (waiting.isEmpty() && !closed) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (leftMs <= 0) {
                    return ": alive\n\n";
                }
                wait(leftMs);
            }
            if (missed > 0) {
                String gap = "event: gap\ndata: {\"missed\":" + missed + "}\n\n";
                missed = 0;
                return gap;
            }
            String page = waiting.pollFirst();
            return page == null ? ": closing\n\n" : "event: page\ndata: " + page + "\n\n";
        }

        synchronized void end() {
            notifyAll();
        }
    }

    /**
     * Streams a page until the browser goes or this closes.
     *
     * @throws Problem OVERLOADED when there are as many streams as there may be; also what the page itself refuses
     */
    void stream(PageQuery query, Page.Out out) throws IOException {
        Browser browser = new Browser(query);
        String first = text(pages.apply(query));
        synchronized (browsers) {
            if (browsers.size() >= limits.browsers()) {
                throw new Problem(Problem.Kind.OVERLOADED, limits.browsers() + " browsers are connected, which is the most",
                        "close one, or read /api/" + query.page() + " now and then");
            }
            browsers.add(browser);
        }
        try {
            browser.offer(first);
            Page.Events events = out.events();
            while (!closed) {
                events.send(browser.next());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            browsers.remove(browser);
        }
    }

    /** Browsers that are connected. */
    int connected() {
        return browsers.size();
    }

    /** Makes each page that is shown, once, and offers it. */
    void makeAll() {
        Map<PageQuery, String> made = new HashMap<>();
        for (Browser browser : browsers) {
            try {
                browser.offer(made.computeIfAbsent(browser.query, query -> text(pages.apply(query))));
            } catch (RuntimeException e) {
                LOG.debug("the page {} cannot be made now: {}", browser.query, e.toString());
            }
        }
    }

    private static String text(ObjectNode page) {
        try {
            // One line: a line feed would end the event's data. JSON has none outside of its texts, where it is escaped.
            return JSON.writeValueAsString(page);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a page cannot be written", e);
        }
    }

    @Override
    public void close() {
        closed = true;
        maker.shutdownNow();
        browsers.forEach(Browser::end);
    }
}
