/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.http.Problem;
import io.tierlog.tls.HttpCalls;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

/**
 * Asks an engine for the tokens of a text: {@code POST /tokenize} with model and prompt, as vLLM and SGLang answer it. Safe for use by several
 * threads; a call waits for the engine, at most {@link #PATIENCE}. Trade-off: one more call for a text prompt; callers with token ids have none.
 */
public final class EngineTokenizer implements Tokenizer {
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    /** Of an answer: a million tokens in decimals take less. */
    private static final int MOST_BYTES = 16 << 20;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final HttpClient client;
    private final URI tokenize;

    private EngineTokenizer(URI tokenize, Tls tls) {
        this.tokenize = tokenize;
        client = tls.client(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE)).build();
    }

    /**
     * Reads the address of an engine's HTTP server, http://HOST:PORT.
     *
     * @param tls of the process
     * @throws IllegalArgumentException when it is none
     */
    public static EngineTokenizer parse(String text, Tls tls) {
        URI base = URI.create(text);
        if (base.getHost() == null || !("http".equals(base.getScheme()) || "https".equals(base.getScheme()))) {
            throw new IllegalArgumentException("'" + text + "' is no address of an engine: give http://HOST:PORT");
        }
        return new EngineTokenizer(URI.create(text.replaceFirst("/+$", "") + "/tokenize"), tls);
    }

    @Override
    public long[] tokens(String model, String prompt) {
        try {
            HttpRequest request = HttpRequest.newBuilder(tokenize)
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(MAPPER.writeValueAsBytes(Map.of("model", model, "prompt", prompt))))
                    .build();
            HttpResponse<byte[]> answer = HttpCalls.send(client, request, MOST_BYTES, PATIENCE);
            if (answer.statusCode() != 200) {
                throw unavailable("status " + answer.statusCode());
            }
            JsonNode tokens = MAPPER.readTree(answer.body()).path("tokens");
            if (!tokens.isArray()) {
                throw unavailable("an answer without tokens");
            }
            return tokens.valueStream().mapToLong(JsonNode::asLong).toArray();
        } catch (JsonProcessingException e) {
            throw unavailable("an answer that is no JSON");
        } catch (IOException e) {
            throw unavailable(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable("interrupted");
        }
    }

    private Problem unavailable(String why) {
        return new Problem(Problem.Kind.NOT_READY, "the tokenizer at " + tokenize + " does not answer: " + why, "retry, or give token ids");
    }
}
