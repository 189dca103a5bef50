/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

/**
 * The bounds of one server. Each server has its own: nothing is process-wide.
 *
 * @param bodyBytes longest body of a request, and longest gRPC message
 * @param jsonDepth deepest nesting of a body
 * @param requests HTTP requests in progress at once; one more gets 503. The directory allows as many gRPC queries besides
 * @param clients bounds on connections and on slow clients of HTTP
 */
public record ServerLimits(int bodyBytes, int jsonDepth, int requests, Clients clients) {
    /**
     * Bounds on HTTP clients.
     *
     * @param connections open at once; one more closes the one that has been without a request for longest, and waits while all are in requests
     * @param headerBytes longest request line with all headers
     * @param requestMs time for a client to send a whole request, and longest idle time of a connection, in milliseconds
     * @param responseMs time from the end of the headers to the end of the response, in milliseconds; more than the longest deadline of a request
     */
    public record Clients(int connections, int headerBytes, int requestMs, int responseMs) {
        /** 512 connections, 16 KiB of headers, 30 s for a request and 150 s for a response. */
        public static final Clients DEFAULTS = new Clients(512, 16 << 10, 30_000, 150_000);

        /** Refuses bounds that let nothing through. */
        public Clients {
            if (connections < 1 || headerBytes < 1_024 || requestMs < 1 || responseMs < requestMs) {
                throw new IllegalArgumentException("Invalid client limits: " + connections + " connections, " + headerBytes + " header bytes, "
                        + requestMs + " ms a request, " + responseMs + " ms a response");
            }
        }
    }

    /** Refuses bounds that let nothing through. */
    public ServerLimits {
        if (bodyBytes < 1_024 || jsonDepth < 4 || requests < 1) {
            throw new IllegalArgumentException("Invalid server limits: " + bodyBytes + " body bytes must be >= 1024, " + jsonDepth
                    + " levels of JSON >= 4, " + requests + " requests >= 1");
        }
    }

    /** Limits with the default bounds on clients. */
    public ServerLimits(int bodyBytes, int jsonDepth, int requests) {
        this(bodyBytes, jsonDepth, requests, Clients.DEFAULTS);
    }
}
