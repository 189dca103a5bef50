/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.HttpServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.Page;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Route;
import io.tierlog.controller.http.ServerLimits;
import io.tierlog.controller.http.Tokens;
import io.tierlog.tls.Tls;
import java.util.ArrayList;
import java.util.List;

/**
 * Serves the pages: {@code /} for browsers, {@code /api/PAGE} for each page as JSON,
 * {@code /api/live?page=PAGE} for its changes as they come,
 * {@code /api/explore} for one block or request, {@code /api/contents} for dead letters and snapshots,
 * {@code /api/operator/...} for what a person does. Safe
 * for use by several threads.
 */
public final class PageServer implements AutoCloseable {
    /** The option that names its address. */
    public static final String LISTEN_FLAG = "--dashboard-listen";

    private static final int BODY_BYTES = 1 << 20;
    private static final int REQUESTS = 64;
    private static final int PERIOD_MS = 1_000;
    private static final ServerLimits LIMITS =
            new ServerLimits(BODY_BYTES, 32, REQUESTS, new ServerLimits.Clients(256, 16 << 10, 30_000, 60_000));

    /**
     * Where it listens, and who may call it.
     *
     * @param tls of the process
     */
    public record Access(Endpoint where, Tls tls, Tokens tokens) {}

    private final LiveStreams streams;
    private final HttpServer server;

    /**
     * Listens at once.
     *
     * @param asked runs before each page that is made from the log; it returns soon
     * @throws io.tierlog.controller.http.ServerException when the address is taken
     */
    public PageServer(Access access, Pages pages, TimeTravel past, Explorer explorer, LogContents contents,
            ControllerCalls calls, Runnable asked) {
        streams = new LiveStreams(LiveStreams.Limits.DEFAULTS, pages::json);
        List<Route> routes = new ArrayList<>();
        for (String page : PageQuery.PAGES) {
            routes.add(Route.get("/api/" + page, PageQuery.PARAMETERS,
                    request -> {
                        asked.run();
                        return HttpResponse.of(200, page(pages, past, PageQuery.of(request, page)));
                    }));
        }
        routes.add(Route.ask("/api/explore", request -> HttpResponse.of(200, explorer.json(request.body()))));
        routes.add(Route.get("/api/contents", PageQuery.PARAMETERS,
                request -> HttpResponse.of(200, contents.json(PageQuery.of(request, "log").atMs()))));
        routes.addAll(calls.routes());
        List<Page> files = new ArrayList<>(Assets.all());
        files.add(new Page("/api/live", false, PageQuery.PARAMETERS,
                (request, out) -> {
                    asked.run();
                    streams.stream(live(PageQuery.of(request, request.query("page").orElse("overview"))), out);
                }));
        server = new HttpServer(new Listener(LISTEN_FLAG, access.where(), LIMITS, access.tls()), access.tokens(), routes, files);
        streams.everyMs(PERIOD_MS);
    }

    private static ObjectNode page(Pages pages, TimeTravel past, PageQuery query) {
        return query.atMs() > 0 ? past.json(query) : pages.json(query);
    }

    private static PageQuery live(PageQuery query) {
        if (query.atMs() > 0) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "a past moment does not change, so there is no stream of it",
                    "read /api/" + query.page());
        }
        return query;
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    /** Browsers that follow a page. */
    public int browsers() {
        return streams.connected();
    }

    @Override
    public void close() {
        streams.close();
        server.close();
    }
}
