/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.OutputFormat;
import io.tierlog.tls.HttpCalls;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFault;
import io.tierlog.tls.TlsFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Calls the HTTP API of a controller or a directory; a refusal becomes an error with a hint. One call at a time. */
public abstract class HttpOptions {
    private static final Duration CONNECT = Duration.ofSeconds(5);
    /** Longer than the server lets a request wait. */
    private static final Duration ANSWER = Duration.ofSeconds(90);
    private static final int ANSWER_BYTES = 64 << 20;
    private static final int SERVER_FAULT = 500;

    @Option(names = "--token-file", paramLabel = "FILE", description = "File with the token, when the server needs one.")
    @Nullable Path tokenFile;

    @Option(names = "--tls-ca", paramLabel = "FILE", description = "PEM file of the authorities of the server (default: those of Java).")
    @Nullable Path authorities;

    @Option(names = "--tls-certificates", paramLabel = "FILE", description = "PEM file with a certificate to show, when the server asks for one.")
    @Nullable Path certificates;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "PEM file with its key (default: that of --tls-certificates).")
    @Nullable Path key;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    /** Made by picocli. */
    HttpOptions() {}

    /** URL of the API. */
    abstract String url();

    /** Name of the server, for errors. */
    abstract String who();

    /** The flag with the URL here, and the flag of the server, for hints. */
    abstract String flags();

    /**
     * Sends a request and returns the answer.
     *
     * @param path from /v1 on, encoded
     * @param body null for none
     * @throws CliError when the server cannot be reached, or refuses
     */
    JsonNode ask(String method, String path, @Nullable ObjectNode body) throws InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path));
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.method(method, HttpRequest.BodyPublishers.ofString(body.toString())).header("Content-Type", "application/json");
        }
        Path file = tokenFile;
        if (file != null) {
            request.header("Authorization", "Bearer " + token(file));
        }
        try (HttpClient client = tls().client(HttpClient.newBuilder().connectTimeout(CONNECT).version(HttpClient.Version.HTTP_1_1)).build()) {
            HttpResponse<byte[]> response = HttpCalls.send(client, request.build(), ANSWER_BYTES, ANSWER);
            JsonNode json = json(response);
            if (response.statusCode() >= 300) {
                throw refused(response.statusCode(), json);
            }
            return json;
        } catch (IOException e) {
            Optional<TlsFault> fault = TlsFault.of(e);
            if (fault.isPresent()) {
                throw new CliError("the " + who() + " at " + url() + " cannot be called", fault.get().advice(), CliError.FAILURE, e);
            }
            throw new CliError("the " + who() + " does not answer at " + url() + ": " + Causes.of(e),
                    "check that it runs, and whether it speaks TLS (https://); look at " + flags(), CliError.FAILURE, e);
        }
    }

    private Tls tls() {
        try {
            return Tls.of(TlsFiles.ofClient(Optional.ofNullable(authorities), Optional.ofNullable(certificates), Optional.ofNullable(key)));
        } catch (IllegalArgumentException e) {
            throw new CliError(String.valueOf(e.getMessage()), "correct the file", CliError.BAD_INPUT, e);
        }
    }

    /** Rows of a list, page after page; at most {@code most}. */
    List<JsonNode> pages(String path, String list, int most) throws InterruptedException {
        List<JsonNode> rows = new ArrayList<>();
        String separator = path.contains("?") ? "&" : "?";
        String next = path + separator + "limit=" + Math.min(most, 1_000);
        String first = next;
        while (rows.size() < most) {
            JsonNode page = ask("GET", next, null);
            page.path(list).forEach(rows::add);
            if (page.path("next").isNull()) {
                break;
            }
            next = first + "&after=" + encoded(page.path("next").asText());
        }
        return rows.subList(0, Math.min(most, rows.size()));
    }

    /** Prints text with {@code people}, or the received JSON on one line. */
    void print(PrintWriter out, JsonNode json, Consumer<PrintWriter> people) {
        switch (format) {
            case text -> people.accept(out);
            case json -> out.println(json);
        }
        out.flush();
    }

    /** A part of a path or query, escaped. */
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private URI uri(String path) {
        String base = url().endsWith("/") ? url().substring(0, url().length() - 1) : url();
        try {
            URI uri = URI.create(base + path);
            if (uri.getHost() != null && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            throw notUrl(e);
        }
        throw notUrl(null);
    }

    private CliError notUrl(@Nullable Throwable cause) {
        CliError error = new CliError("'" + url() + "' is not a URL", "give http://HOST:PORT; look at " + flags(), CliError.BAD_INPUT);
        if (cause != null) {
            error.initCause(cause);
        }
        return error;
    }

    private static String token(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new CliError("cannot read the token: " + Causes.of(e), "look at --token-file", CliError.BAD_INPUT, e);
        }
    }

    private JsonNode json(HttpResponse<byte[]> response) {
        try {
            // Not static: help would load Jackson, which takes a fifth of its time.
            JsonNode json = new ObjectMapper().readTree(new String(response.body(), StandardCharsets.UTF_8));
            if (json.isObject()) {
                return json;
            }
        } catch (JsonProcessingException e) {
            throw notOurs(response.statusCode());
        }
        throw notOurs(response.statusCode());
    }

    private CliError notOurs(int status) {
        return new CliError("what answers at " + url() + " (status " + status + ") is not a " + who(),
                "look at " + flags() + ": it is not the port of /metrics",
                CliError.BAD_INPUT);
    }

    private static CliError refused(int status, JsonNode problem) {
        StringBuilder message = new StringBuilder(problem.path("detail").asText("status " + status));
        if (problem.path("errors").size() > 1) {
            message.setLength(0);
            for (JsonNode error : problem.path("errors")) {
                message.append(message.isEmpty() ? "" : "; ").append((error.path("field").asText() + " " + error.path("detail").asText()).strip());
            }
        }
        return new CliError(message.toString(), problem.path("action").asText("look at its log"),
                status >= SERVER_FAULT ? CliError.FAILURE : CliError.BAD_INPUT);
    }
}
