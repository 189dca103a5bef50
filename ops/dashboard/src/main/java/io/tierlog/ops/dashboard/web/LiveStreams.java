/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.Page;
import io.tierlog.controller.http.Problem;
import io.tierlog.threads.Supervised;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
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
    private static final long WARN_NS = TimeUnit.MINUTES.toNanos(1);

    private final Limits limits;
    private final Function<PageQuery, ObjectNode> pages;
    private final List<Browser> browsers = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService maker = Supervised.scheduler("tierlog-live-page");
    private final Semaphore places;
    /** Only for the thread that makes the pages. */
    private long warnedNs = System.nanoTime() - WARN_NS;
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
        places = new Semaphore(limits.browsers());
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
        // Before the page is made: a stream that is refused costs nothing.
        if (!places.tryAcquire()) {
            throw new Problem(Problem.Kind.OVERLOADED, limits.browsers() + " browsers are connected, which is the most",
                    "close one, or read /api/" + query.page() + " now and then");
        }
        Browser browser = new Browser(query);
        try {
            browser.offer(text(pages.apply(query)));
            browsers.add(browser);
            Page.Events events = out.events();
            while (!closed) {
                events.send(browser.next());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            browsers.remove(browser);
            places.release();
        }
    }

    /** Browsers that are connected. */
    int connected() {
        return browsers.size();
    }

    /** Makes each page that is shown, once, and offers it. Throws nothing: an exception or error would end the schedule, and every page with it. */
    void makeAll() {
        Map<PageQuery, Optional<String>> made = new HashMap<>();
        for (Browser browser : browsers) {
            made.computeIfAbsent(browser.query, this::made).ifPresent(browser::offer);
        }
    }

    private Optional<String> made(PageQuery query) {
        try {
            return Optional.of(text(pages.apply(query)));
        } catch (Problem e) {
            LOG.debug("the page {} is not there now: {}", query, e.detail());
        } catch (RuntimeException | Error e) {
            long nowNs = System.nanoTime();
            if (nowNs - warnedNs >= WARN_NS) {
                warnedNs = nowNs;
                LOG.warn("the page {} cannot be made; it is tried again each second, and failures of the next minute are not logged", query, e);
            }
        }
        return Optional.empty();
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
