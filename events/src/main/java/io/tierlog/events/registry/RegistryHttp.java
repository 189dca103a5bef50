/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.tls.HttpCalls;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request to a registry of several instances: asks them in turn, in rounds with pauses between, until one gives an answer.
 *
 * <p>What counts as an answer is narrow on purpose. Between us and the registry stand proxies, load balancers and wrong base URLs, and all
 * of them can return "404" or "200" too; a client that takes that for the registry's reply skips records that are readable. So an answer is JSON in
 * the shape of the API, everything else is not an answer. And "no such schema" must come twice: a follower may lag behind the instance that
 * gave the id.
 *
 * <p>Safe for use by several threads; each call blocks its own. Trade-off: a missing id costs two requests, a dead registry the whole call
 * time-out. Redirects are not followed, as they would carry the credentials elsewhere.
 */
final class RegistryHttp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RegistryHttp.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CONTENT_TYPE = "application/vnd.schemaregistry.v1+json";
    private static final int SCHEMA_NOT_FOUND = 40403;
    private static final int NOT_FOUND_VOTES = 2;
    private static final int MAX_QUOTED_CHARS = 500;

    private final RegistryConfig config;
    private final RegistryLimits limits;
    private final HttpClient http;
    private volatile int preferred;

    RegistryHttp(RegistryConfig config) {
        this.config = config;
        this.limits = config.limits();
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(Duration.ofMillis(limits.connectTimeoutMs()))
                .build();
    }

    /**
     * A call of the API.
     *
     * @param path what follows the base URL, encoded
     * @param expected whether the body of a 200 is what the API promises
     */
    record Call(String method, String path, Optional<String> body, Predicate<JsonNode> expected) {}

    /** The answer of the registry: status 200, or 404, 409 and 422 with the registry's own error body. */
    record Answer(int status, JsonNode body) {
        /** The registry's words on an error, clipped. */
        String message() {
            return clip(body.path("message").asText("no reason given") + " (" + body.path("error_code").asInt() + ")");
        }
    }

    private sealed interface Attempt {
        record Answered(Answer answer) implements Attempt {}

        record Failed(String why) implements Attempt {}
    }

    /**
     * The first answer.
     *
     * @throws RegistryUnavailableException when there was none within the limits, or the thread was interrupted (its flag stays set)
     */
    Answer exchange(Call call) {
        Map<URI, String> failures = new LinkedHashMap<>();
        try {
            Optional<Answer> answer = inRounds(call, failures);
            if (answer.isPresent()) {
                return answer.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable(call, "interrupted");
        }
        throw unavailable(
                call, failures.entrySet().stream().map(e -> e.getKey() + ": " + e.getValue()).collect(Collectors.joining("; ")));
    }

    /** The error for an answer that the caller can make nothing of. */
    RegistryUnavailableException unavailable(Call call, String why) {
        return new RegistryUnavailableException(
                "no schema registry answered " + call.method() + " " + call.path() + ": " + why, limits.backoffMaxMs());
    }

    private Optional<Answer> inRounds(Call call, Map<URI, String> failures) throws InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limits.callTimeoutMs());
        int votes = 0;
        for (int round = 0; round < limits.rounds(); round++) {
            if (round > 0) {
                pause(round, deadlineNs);
            }
            int first = preferred;
            for (int i = 0; i < config.baseUrls().size(); i++) {
                int instance = (first + i) % config.baseUrls().size();
                URI base = config.baseUrls().get(instance);
                long leftNs = deadlineNs - System.nanoTime();
                if (leftNs <= 0) {
                    return Optional.empty();
                }
                switch (attempt(base, call, leftNs)) {
                    case Attempt.Answered(Answer answer) -> {
                        if (answer.status() != 404 || ++votes == NOT_FOUND_VOTES) {
                            preferred = instance;
                            return Optional.of(answer);
                        }
                        failures.put(base, answer.message());
                    }
                    case Attempt.Failed(String why) -> {
                        LOG.debug("{} {} at {}: {}", call.method(), call.path(), base, why);
                        failures.put(base, why);
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** Half of the pause by chance, so that agents which lost the registry together do not come back together. */
    private void pause(int round, long deadlineNs) throws InterruptedException {
        long fullMs = Math.min(limits.backoffMaxMs(), (long) limits.backoffMs() << (round - 1));
        long pauseMs = fullMs / 2 + ThreadLocalRandom.current().nextLong(fullMs / 2 + 1);
        long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
        Thread.sleep(Math.max(0, Math.min(pauseMs, leftMs)));
    }

    private Attempt attempt(URI base, Call call, long leftNs) throws InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + call.path()))
                .header("Accept", CONTENT_TYPE)
                .header("Content-Type", CONTENT_TYPE)
                .method(call.method(), call.body().map(HttpRequest.BodyPublishers::ofString)
                        .orElseGet(HttpRequest.BodyPublishers::noBody));
        try {
            config.credentials().authorization().ifPresent(value -> request.setHeader("Authorization", value));
        } catch (RuntimeException e) {
            // The message may quote the secret.
            return new Attempt.Failed("no usable credentials (" + e.getClass().getSimpleName() + ")");
        }
        return send(request.build(), call.expected(), leftNs);
    }

    private Attempt send(HttpRequest request, Predicate<JsonNode> expected, long leftNs) throws InterruptedException {
        long timeoutNs = Math.min(leftNs, TimeUnit.MILLISECONDS.toNanos(limits.requestTimeoutMs()));
        try {
            HttpResponse<byte[]> response = HttpCalls.send(http, request, limits.maxReplyBytes(), Duration.ofNanos(timeoutNs));
            return classify(response.statusCode(), response.body(), expected);
        } catch (HttpTimeoutException e) {
            return new Attempt.Failed(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            return new Attempt.Failed(clip(e.getMessage() == null ? e.getClass().getSimpleName() : e.toString()));
        }
    }

    private static Attempt classify(int status, byte[] bytes, Predicate<JsonNode> expected) {
        Optional<JsonNode> body = json(bytes);
        int errorCode = body.map(b -> b.path("error_code").asInt(-1)).orElse(-1);
        boolean answered =
                switch (status) {
                    case 200 -> body.filter(expected).isPresent();
                    case 404 -> errorCode == SCHEMA_NOT_FOUND;
                    case 409, 422 -> errorCode >= 0;
                    default -> false;
                };
        if (answered) {
            return new Attempt.Answered(new Answer(status, body.orElseThrow()));
        }
        return new Attempt.Failed(
                switch (status) {
                    case 200, 404, 409, 422 -> "answered " + status + " with a body that is not of the registry API";
                    case 401, 403 -> "refused the credentials (" + status + ")";
                    default -> clip("answered " + status + body.map(b -> ": " + b.path("message").asText("")).orElse(""));
                });
    }

    private static Optional<JsonNode> json(byte[] bytes) {
        try {
            return Optional.of(JSON.readTree(bytes)).filter(JsonNode::isObject);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String clip(String text) {
        return text.length() <= MAX_QUOTED_CHARS ? text : text.substring(0, MAX_QUOTED_CHARS) + "...";
    }

    /** Ends requests under way; their callers get {@link RegistryUnavailableException}. */
    @Override
    public void close() {
        http.shutdownNow();
        http.close();
    }
}
