/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.tierlog.controller.http.Problem;
import io.tierlog.tls.Tls;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a server that answers as vLLM's /tokenize does: each letter is a token. */
class EngineTokenizerTest {
    private final CompletableFuture<Void> hang = new CompletableFuture<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private HttpServer engine;

    @BeforeEach
    void start() throws Exception {
        engine = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        engine.setExecutor(threads);
        engine.createContext("/tokenize", exchange -> {
            JsonNode asked = new ObjectMapper().readTree(exchange.getRequestBody());
            String prompt = asked.path("prompt").asText();
            switch (asked.path("model").asText()) {
                case "slow" -> hang.join();
                case "half" -> {
                    exchange.sendResponseHeaders(200, 100);
                    exchange.getResponseBody().write('{');
                    exchange.getResponseBody().flush();
                    hang.join();
                }
                case "strange" -> prompt = "";
                default -> { }
            }
            List<Integer> tokens = prompt.chars().boxed().toList();
            byte[] answer = (prompt.isEmpty() ? "{}" : "{\"count\":" + tokens.size() + ",\"max_model_len\":4096,\"tokens\":" + tokens + "}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(asked.path("model").asText().equals("unknown") ? 404 : 200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        engine.start();
    }

    @AfterEach
    void stop() {
        hang.complete(null);
        engine.stop(0);
        threads.close();
    }

    private EngineTokenizer tokenizer() {
        return EngineTokenizer.parse("http://127.0.0.1:" + engine.getAddress().getPort() + "/", Tls.NONE);
    }

    @Test
    void theTokensAreTheEngines() {
        assertArrayEquals(new long[] {'a', '"', 'z'}, tokenizer().tokens("m", "a\"z"));
    }

    /** A call does not wait longer than a second for an engine that hangs, also in the middle of its answer. */
    @Test
    void anEngineThatDoesNotAnswerIsNamed() {
        EngineTokenizer tokenizer = tokenizer();
        for (String model : List.of("unknown", "strange", "slow", "half")) {
            Problem problem = assertThrows(Problem.class, () -> tokenizer.tokens(model, "ab"), model);
            assertEquals(Problem.Kind.NOT_READY, problem.kind(), model);
            assertTrue(String.valueOf(problem.getMessage()).contains("/tokenize"), problem.toString());
        }
        hang.complete(null);
        engine.stop(0);
        assertThrows(Problem.class, () -> tokenizer.tokens("m", "ab"));
    }

    @Test
    void anAddressIsOfHttp() {
        for (String text : List.of("", "127.0.0.1:8000", "ftp://host", "http://")) {
            assertThrows(IllegalArgumentException.class, () -> EngineTokenizer.parse(text, Tls.NONE), text);
        }
    }
}
