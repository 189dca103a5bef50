/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.bridge.publish.BatchLog.Numbered;
import io.tierlog.events.Causes;
import io.tierlog.events.config.Bounds;
import io.tierlog.threads.RareWarning;
import io.tierlog.threads.Supervised;
import io.tierlog.tls.HttpCalls;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFault;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Posts the batches of one partition to a URL, in their order, from its start on. What is not answered with 2xx is posted again, so a batch may come
 * twice. A receiver that falls too far behind loses its place: the next number that it gets is that of a new batch, and that is on record. One thread
 * of its own, so that a slow receiver delays no other one.
 */
final class Webhook implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Webhook.class);
    private static final int AT_ONCE = 100;
    private static final Duration WAIT = Duration.ofMillis(200);
    private static final Duration ANSWER = Duration.ofSeconds(10);
    /** Of an answer, which is read to its end and not looked at. */
    private static final int ANSWER_BYTES = 16 << 20;
    private static final long FIRST_PAUSE_MS = 50;
    private static final long LONGEST_PAUSE_MS = 10_000;
    private static final int SUCCESS = 2;
    private static final int HUNDRED = 100;
    private static final long CLOSE_MS = 12_000;

    private final URI url;
    private final BatchIndex index;
    private final LogCursor cursor;
    private final PublishCounts counts;
    private final long mostBehind;
    private final HttpClient client;
    private final RareWarning warning = new RareWarning(LOG);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    /** Number of the batch that shall come next. */
    private long due;
    /** Number of the first batch that the receiver has not taken. */
    private long taken;

    /**
     * Begins with the next batch.
     *
     * @param cursors makes its cursor, which reads as long as the given is true
     * @param mostBehind batches after which the receiver loses its place
     */
    Webhook(URI url, Tls tls, Function<BooleanSupplier, LogCursor> cursors, BatchIndex index, PublishCounts counts, long mostBehind) {
        this.url = url;
        this.index = index;
        cursor = cursors.apply(() -> closing.getCount() > 0);
        this.counts = counts;
        this.mostBehind = mostBehind;
        client = tls.client(HttpClient.newBuilder().connectTimeout(ANSWER)).build();
        taken = index.next();
        thread = Supervised.start("publish-webhook-" + cursor.partition(), this::run);
    }

    /** Runs again after a fault, from the first batch that the receiver has not taken. */
    private void run() {
        try {
            due = taken;
            if (closing.getCount() > 0) {
                cursor.seek(due);
                // A batch that meets a fault each time is left out once too many wait behind it.
                if (index.next() - due > mostBehind) {
                    loseItsPlace();
                }
            }
            while (closing.getCount() > 0) {
                post(some());
                taken = due;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        cursor.close();
        client.close();
    }

    /** The batches that are there, at most {@value #AT_ONCE}. */
    private ArrayNode some() {
        ArrayNode batches = JsonNodeFactory.instance.arrayNode();
        Optional<Numbered> next = cursor.next(WAIT);
        while (next.isPresent()) {
            long seq = next.get().seq();
            if (seq > due) {
                counts.add(PublishCounter.PLACES_LOST, 1);
                LOG.warn("the log has lost batches {} to {} of partition {} before {} got them", due, seq - 1, cursor.partition(),
                        Bounds.shown(url.toString()));
            }
            due = seq + 1;
            if (!next.get().batch().changes().isEmpty()) {
                batches.add(BatchJson.of(next.get()));
            }
            next = batches.size() < AT_ONCE ? cursor.next(Duration.ZERO) : Optional.empty();
        }
        return batches;
    }

    private void post(ArrayNode batches) throws InterruptedException {
        if (batches.isEmpty()) {
            return;
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.set("batches", batches);
        HttpRequest request = HttpRequest.newBuilder(url)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
                .build();
        for (long pauseMs = FIRST_PAUSE_MS; closing.getCount() > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
            if (taken(request)) {
                counts.add(PublishCounter.POSTED, batches.size());
                return;
            }
            counts.add(PublishCounter.POST_FAILURES, 1);
            if (index.next() - cursor.position() > mostBehind) {
                loseItsPlace();
                return;
            }
            if (closing.await(pauseMs, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    private boolean taken(HttpRequest request) throws InterruptedException {
        try {
            int status = HttpCalls.send(client, request, ANSWER_BYTES, ANSWER).statusCode();
            if (status / HUNDRED != SUCCESS) {
                warning.warn("{} answers {}: its events are posted again", Bounds.shown(url.toString()), status);
            }
            return status / HUNDRED == SUCCESS;
        } catch (IOException e) {
            warning.warn("{} does not take its events, they are posted again: {}", Bounds.shown(url.toString()),
                    TlsFault.of(e).map(TlsFault::advice).orElse(Causes.of(e)));
            return false;
        }
    }

    private void loseItsPlace() {
        counts.add(PublishCounter.PLACES_LOST, 1);
        LOG.warn("{} is too far behind in partition {}: batches {} to {} are left out; ask for them at {}", Bounds.shown(url.toString()),
                cursor.partition(), cursor.position(), index.next() - 1, EventPage.PATH);
        due = index.next();
        cursor.seek(due);
    }

    /** Ends it soon. */
    void stop() {
        closing.countDown();
    }

    @Override
    public void close() {
        stop();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
