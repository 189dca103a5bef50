/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** What an agent answers at {@code /health} and {@code /metrics}. */
final class StatusReader {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private StatusReader() {}

    static HttpResponse<String> get(AgentApp agent, String path) {
        try {
            return HTTP.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + agent.statusPort() + path)).build(), BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until {@code /health} has the part at that level, and its metric is the same. */
    static void awaitPart(AgentApp agent, String part, String level) {
        Eventually.await(part + " is " + level,
                () -> get(agent, "/health").body().contains("{\"part\":\"" + part + "\",\"level\":\"" + level + "\""));
        double number = level.equals("FAILED") ? 2 : level.equals("DEGRADED") ? 1 : 0;
        awaitMetric(agent, "tierlog_health_level{part=\"" + part + "\"} " + number);
    }

    /** Waits until {@code /metrics} has that line. */
    static void awaitMetric(AgentApp agent, String line) {
        Eventually.await(line, () -> get(agent, "/metrics").body().lines().anyMatch(line::equals));
    }
}
