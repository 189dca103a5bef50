/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.bridge.decode.CacheBatch;
import io.tierlog.agent.bridge.decode.CacheEventDecoder;
import io.tierlog.agent.bridge.decode.CacheRequest;
import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.HttpServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Route;
import io.tierlog.controller.http.ServerLimits;
import io.tierlog.controller.http.Tokens;
import io.tierlog.tls.Tls;
import java.util.Arrays;
import java.util.List;

/**
 * {@code POST /events}, as LMCache's HTTP sink calls it. A request is answered with 2xx once all its batches are in the queue; LMCache sends one
 * again that got 503, and gives one up that got 400. Safe for use by several threads.
 */
public final class CacheEndpoint implements AutoCloseable {
    private static final String PATH = "/events";
    private static final int ACCEPTED = 202;
    /** As many bodies at once, each as large as a payload may be. */
    private static final ServerLimits LIMITS = new ServerLimits(CacheEventDecoder.LARGEST_PAYLOAD, 64, 8);

    private final CacheParts parts;
    private final HttpServer server;

    /**
     * Listens at once.
     *
     * @throws io.tierlog.controller.http.ServerException when the address or the tokens cannot be used
     */
    public CacheEndpoint(CacheFeeds.Http config, Tls tls, CacheParts parts) {
        this.parts = parts;
        Listener where = new Listener("--lmcache-listen", config.listen(), LIMITS, tls);
        server = new HttpServer(where, Tokens.of(config.tokens()), List.of(Route.receive(PATH, this::receive)));
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    private HttpResponse receive(HttpRequest request) {
        byte[] body = request.sent();
        return switch (CacheEventDecoder.decode(body)) {
            case CacheRequest.Malformed bad -> {
                parts.malformed("POST " + PATH, body, bad.reason());
                throw new Problem(Problem.Kind.INVALID_REQUEST, bad.reason(), "send {\"batches\": [...]} as LMCache does");
            }
            case CacheRequest.Batches(List<CacheBatch> batches) -> accept(body, batches);
        };
    }

    private HttpResponse accept(byte[] body, List<CacheBatch> batches) {
        List<CacheArrival> arrivals = batches.stream().<CacheArrival>map(batch -> new CacheArrival.Batch(batch, 0, "POST " + PATH, false)).toList();
        if (!parts.queue().offer(arrivals, body.length)) {
            parts.counts().add(BridgeCounter.REFUSED_REQUESTS, 1);
            throw new Problem(Problem.Kind.OVERLOADED, "batches wait to be written to the log, and there is no space for more now",
                    "send this request again in a moment");
        }
        int malformed = 0;
        for (CacheBatch batch : batches) {
            if (batch.content() instanceof Decoded.Malformed bad) {
                malformed++;
                parts.malformed("POST " + PATH, Arrays.copyOfRange(body, batch.from(), batch.to()), bad.reason());
            }
        }
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        answer.put("accepted", batches.size()).put("malformed", malformed);
        return HttpResponse.of(ACCEPTED, answer);
    }

    @Override
    public void close() {
        server.close();
    }
}
