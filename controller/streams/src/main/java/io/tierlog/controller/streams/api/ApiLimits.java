/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.http.ServerLimits;

/**
 * The limits of the operator API. A request over a limit gets a problem that names it.
 *
 * @param bodyBytes longest body of a request, and longest message of gRPC
 * @param jsonDepth deepest nesting of a body
 * @param requests requests in progress at once; one more is answered 503
 * @param waiting of these, requests that wait for a decision
 * @param blocks most blocks that one migration, or one clearing of marks, may name
 * @param nodes most nodes that one migration may name
 * @param pageRows most rows of one page
 * @param namespaces most namespaces shown of a node or a group; the response has the number of the others
 * @param viewRows most rows of one kind that are held for answers; beyond, answers about that kind are refused
 * @param factsPerRequest most facts about its aggregate that a waiting request keeps
 * @param deadlineMs how long a request waits for its decision by default, in milliseconds
 * @param longestDeadlineMs the longest deadline of a request, in milliseconds
 */
public record ApiLimits(
        int bodyBytes,
        int jsonDepth,
        int requests,
        int waiting,
        int blocks,
        int nodes,
        int pageRows,
        int namespaces,
        int viewRows,
        int factsPerRequest,
        int deadlineMs,
        int longestDeadlineMs) {
    /**
     * 1 MiB of body, 8 levels of JSON, 128 requests of which 64 may wait, 4,096 blocks, 256 nodes, 1,000 rows a page, 1,000 namespaces,
     * 500,000 rows held, 10,000 facts, 10 s to wait and at most 60 s.
     */
    public static final ApiLimits DEFAULTS = new ApiLimits(1 << 20, 8, 128, 64, 4_096, 256, 1_000, 1_000, 500_000, 10_000, 10_000, 60_000);

    /** Refuses bounds that bound nothing or let nothing through. */
    public ApiLimits {
        if (bodyBytes < 1_024 || jsonDepth < 4 || waiting < 1 || requests < waiting || blocks < 1 || nodes < 1) {
            throw new IllegalArgumentException("Invalid API limits: " + bodyBytes + " bytes, " + jsonDepth + " levels, "
                    + requests + " requests, " + waiting + " waiting, " + blocks + " blocks, " + nodes + " nodes");
        }
        if (pageRows < 1 || namespaces < 1 || viewRows < 1 || factsPerRequest < 1 || deadlineMs < 0 || longestDeadlineMs < deadlineMs) {
            throw new IllegalArgumentException("Invalid API limits: " + pageRows + " rows a page, " + namespaces
                    + " namespaces, " + viewRows + " rows, " + factsPerRequest + " facts, " + deadlineMs + " of " + longestDeadlineMs + " ms");
        }
    }

    /** The limits of its servers. */
    ServerLimits server() {
        return new ServerLimits(bodyBytes, jsonDepth, requests);
    }

    /** The same with fewer or more requests at once, and as many that may wait. */
    public ApiLimits withRequests(int atOnce) {
        return new ApiLimits(bodyBytes, jsonDepth, atOnce, atOnce, blocks, nodes, pageRows, namespaces, viewRows, factsPerRequest, deadlineMs,
                longestDeadlineMs);
    }

    /** The same with another number of rows held for answers. */
    public ApiLimits withViewRows(int rows) {
        return new ApiLimits(bodyBytes, jsonDepth, requests, waiting, blocks, nodes, pageRows, namespaces, rows, factsPerRequest, deadlineMs,
                longestDeadlineMs);
    }
}
