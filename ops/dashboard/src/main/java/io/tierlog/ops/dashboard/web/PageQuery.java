/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.Problem;
import java.util.List;
import java.util.Set;

/**
 * Which page a browser shows; equal queries share what is computed for them.
 *
 * @param page one of {@link #PAGES}
 * @param minutes stretch of time, from 1 to a day
 * @param node name of a node; empty for none
 * @param filter of requests
 * @param atMs the moment, milliseconds since 1970; 0 for now
 */
record PageQuery(String page, int minutes, String node, RequestFilter filter, long atMs) {
    static final List<String> PAGES = List.of("overview", "nodes", "node", "requests", "blocks", "operate", "log");
    static final Set<String> PARAMETERS = Set.of("page", "minutes", "node", "namespace", "slow", "computed", "at");
    private static final int DAY = 1_440;
    private static final int HOUR_MS = 3_600_000;

    /** @throws Problem INVALID_REQUEST when it names no page */
    static PageQuery of(HttpRequest request, String page) {
        if (!PAGES.contains(page)) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "there is no page '" + page + "'", "give page= with one of " + PAGES);
        }
        String node = request.query("node").orElse("");
        RequestFilter filter = new RequestFilter(page.equals("requests") ? node : "", request.query("namespace").orElse(""),
                request.query("slow", 0, HOUR_MS, 0), request.query("computed", 0, 1, 0) == 1);
        return new PageQuery(page, request.query("minutes", 1, DAY, 15), node, filter, request.query("at").map(PageQuery::moment).orElse(0L));
    }

    private static long moment(String text) {
        if (!text.matches("[1-9]\\d{0,14}")) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "at must be a time in milliseconds since 1970", "leave it out for now");
        }
        return Long.parseLong(text);
    }
}
