/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.tls;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls of HTTP servers that end. Without state. */
public final class HttpCalls {
    private HttpCalls() {}

    /**
     * Sends a request and waits for all of its answer. The JDK's own time-out of a request ends with the headers: a server that sends them and
     * no body would keep the caller for ever.
     *
     * @param mostBytes length of the longest body that is taken, in bytes
     * @param atMost time for the whole call
     * @throws HttpTimeoutException when that time is over; the call is cancelled
     * @throws IOException when the connection fails or breaks off, or the body is longer
     */
    public static HttpResponse<byte[]> send(HttpClient client, HttpRequest request, int mostBytes, Duration atMost)
            throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<byte[]>> reply = client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), mostBytes));
        try {
            return reply.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new HttpTimeoutException("no reply within " + atMost.toMillis() + " ms");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException failed ? failed : new IOException(e.getCause());
        } finally {
            reply.cancel(true);
        }
    }
}
