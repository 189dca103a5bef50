/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Route;
import io.tierlog.tls.HttpCalls;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFault;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Passes what a person does on the page to the operator API of a controller: these calls and no others, with the operator's own token, which is
 * kept nowhere. The browser calls this server alone, so the API needs no rule for calls from other sites, and its answer comes back as it is.
 *
 * <p>At most {@value #AT_ONCE} calls at once, each for at most {@value #SECONDS} s and {@value #ANSWER_BYTES} bytes of answer. It follows no
 * redirect, which could take a token elsewhere. Safe for use by several threads.
 */
public final class ControllerCalls implements AutoCloseable {
    static final int AT_ONCE = 8;
    private static final int SECONDS = 75;
    private static final int ANSWER_BYTES = 8 << 20;
    private static final String HERE = "/api/operator";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Optional<URI> api;
    private final Duration atMost;
    private final HttpClient client;
    private final Semaphore places = new Semaphore(AT_ONCE);

    /**
     * @param api address of the operator API, http or https; empty refuses every call
     * @param tls of the process
     */
    public ControllerCalls(Optional<URI> api, Tls tls) {
        this(api, tls, Duration.ofSeconds(SECONDS));
    }

    /** @param atMost time for a call, its whole answer included */
    ControllerCalls(Optional<URI> api, Tls tls, Duration atMost) {
        this.api = api;
        client = tls.client(HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)).build();
        this.atMost = atMost;
    }

    /** The calls, at the paths of the operator API with {@value #HERE} in place of its version. */
    List<Route> routes() {
        return List.of(route("POST", "/migrations"), route("DELETE", "/migrations/{id}"), route("POST", "/nodes/{id}/drain"),
                route("DELETE", "/nodes/{id}/drain"), route("POST", "/policy"));
    }

    private Route route(String method, String template) {
        return Route.operate(method, HERE + template, ask -> call(method, template, ask));
    }

    private HttpResponse call(String method, String template, HttpRequest ask) {
        URI to = api.orElseThrow(() -> new Problem(Problem.Kind.NOT_OFFERED, "this page does not know the address of a controller",
                "start it with --operator-api http://HOST:PORT"));
        String token = ask.authorization().orElseThrow(() -> new Problem(Problem.Kind.UNAUTHENTICATED, "the request has no token",
                "enter the token of an operator"));
        String path = template.contains("{id}") ? template.replace("{id}", segment(ask.path("id"))) : template;
        if (!places.tryAcquire()) {
            throw new Problem(Problem.Kind.OVERLOADED, AT_ONCE + " calls are in progress", "retry in a moment");
        }
        try {
            return sent(to, java.net.http.HttpRequest.newBuilder(to.resolve("/v1" + path))
                    .header("Authorization", token).header("Content-Type", "application/json")
                    .method(method, BodyPublishers.ofString(ask.body().passedOn().toString())).build());
        } finally {
            places.release();
        }
    }

    private static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private HttpResponse sent(URI to, java.net.http.HttpRequest request) {
        try {
            java.net.http.HttpResponse<byte[]> answer = HttpCalls.send(client, request, ANSWER_BYTES, atMost);
            if (JSON.readTree(answer.body()) instanceof ObjectNode json) {
                return new HttpResponse(answer.statusCode(), json, Map.of());
            }
            throw foreign(to);
        } catch (JsonProcessingException e) {
            throw foreign(to);
        } catch (HttpTimeoutException e) {
            throw unanswered(to, e instanceof HttpConnectTimeoutException ? "a connection" : "within " + atMost.toSeconds() + " s");
        } catch (IOException e) {
            throw TlsFault.of(e).map(fault -> untrusted(to, fault))
                    .orElseGet(() -> unanswered(to, "as a controller does: the connection failed or broke off"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(Problem.Kind.NOT_READY, "the page is stopping", "retry in a moment");
        }
    }

    private static Problem untrusted(URI to, TlsFault fault) {
        return new Problem(Problem.Kind.NOT_READY, "the controller at " + to + " cannot be called", fault.advice());
    }

    private static Problem foreign(URI to) {
        return new Problem(Problem.Kind.NOT_READY, "what answers at " + to + " is no operator API", "correct --operator-api");
    }

    private static Problem unanswered(URI to, String how) {
        return new Problem(Problem.Kind.NOT_READY, "the controller at " + to + " did not answer " + how,
                "look whether it runs; a change may have been made: look at the page before you repeat it");
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
