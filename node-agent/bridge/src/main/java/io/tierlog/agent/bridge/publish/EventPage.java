/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.agent.bridge.publish.BatchLog.Numbered;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.Page;
import io.tierlog.controller.http.Problem;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;

/**
 * The batches of one partition as server-sent events, read from the log for each client: a slow one delays no other and loses nothing. Safe for use
 * by several threads, one for each client.
 */
final class EventPage implements Page.Answer {
    static final String PATH = "/v1/kv-events";
    private static final int MOST_CLIENTS = 32;
    private static final Duration WAIT = Duration.ofMillis(200);
    private static final long KEEP_ALIVE_NS = TimeUnit.SECONDS.toNanos(10);

    private final BatchLog log;
    private final List<BatchIndex> indexes;
    private final PublishCounts counts;
    private final Semaphore clients = new Semaphore(MOST_CLIENTS);
    private final AtomicBoolean closing = new AtomicBoolean();

    EventPage(BatchLog log, List<BatchIndex> indexes, PublishCounts counts) {
        this.log = log;
        this.indexes = indexes;
        this.counts = counts;
    }

    Page page() {
        return new Page(PATH, false, Set.of("stream", "from"), this);
    }

    @Override
    public void to(HttpRequest request, Page.Out out) throws IOException {
        int stream = request.query("stream", 0, indexes.size() - 1, 0);
        BatchIndex index = indexes.get(stream);
        long from = request.query("from").map(EventPage::number).orElseGet(index::next);
        if (!clients.tryAcquire()) {
            throw new Problem(Problem.Kind.OVERLOADED, MOST_CLIENTS + " clients read events", "read one stream once, and share what it brings");
        }
        try (LogCursor cursor = new LogCursor(log, index, stream, () -> !closing.get())) {
            cursor.seek(Math.min(from, index.next()));
            send(cursor, out.events());
        } finally {
            clients.release();
        }
    }

    private void send(LogCursor cursor, Page.Events events) throws IOException {
        // The headers, at once.
        events.send(":\n\n");
        long sentNs = System.nanoTime();
        while (!closing.get()) {
            Optional<Numbered> next;
            try {
                next = cursor.next(WAIT);
            } catch (OffsetOutOfRangeException e) {
                // The log has lost its end: the publisher ends, too.
                return;
            }
            if (next.isPresent() && !next.get().batch().changes().isEmpty()) {
                events.send("id: " + next.get().seq() + "\ndata: " + BatchJson.of(next.get()) + "\n\n");
                counts.add(PublishCounter.STREAMED, 1);
                sentNs = System.nanoTime();
            } else if (System.nanoTime() - sentNs > KEEP_ALIVE_NS) {
                events.send(":\n\n");
                sentNs = System.nanoTime();
            }
        }
    }

    private static long number(String text) {
        try {
            return Math.max(0, Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "from is '" + text + "'", "give the number of a batch, 0 for the first");
        }
    }

    /** Ends all streams soon. */
    void stop() {
        closing.set(true);
    }
}
