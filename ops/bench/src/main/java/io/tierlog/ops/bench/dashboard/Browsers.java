/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.bench.report.BenchException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Browsers that follow pages by server-sent events, a thread each: every page of the menu in turn, each node page of a node of its own, and some with
 * other times and filters. The first shows the overview, whose counts say how far the page is. Safe for use by several threads.
 */
final class Browsers implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> PAGES = List.of(
            "overview", "nodes", "node", "requests", "log", "overview&minutes=60", "blocks", "operate", "requests&computed=1",
            "overview&minutes=1440");

    private final HttpClient http;
    private final List<Browser> all = new ArrayList<>();

    /** Receives what the overview says, as it comes. */
    interface Watcher {
        /** @param madeMs when the page was made, milliseconds since 1970; {@code read} records that it had read */
        void shown(long madeMs, long read);
    }

    /** One browser. */
    static final class Browser {
        private final String page;
        private final InputStream body;
        private final AtomicLong bytes = new AtomicLong();
        private final AtomicLong updates = new AtomicLong();
        private final AtomicLong missed = new AtomicLong();
        private volatile boolean ended;

        private Browser(String page, InputStream body) {
            this.page = page;
            this.body = body;
        }

        /** What it shows. */
        String page() {
            return page;
        }

        Counts counts() {
            return new Counts(bytes.get(), updates.get(), missed.get(), ended);
        }
    }

    /**
     * What a browser has received.
     *
     * @param bytes of its stream
     * @param updates pages
     * @param missed pages that it was too slow for
     * @param ended whether its stream ended
     */
    record Counts(long bytes, long updates, long missed, boolean ended) {
        Counts minus(Counts before) {
            return new Counts(bytes - before.bytes, updates - before.updates, missed - before.missed, ended);
        }
    }

    private Browsers(HttpClient http) {
        this.http = http;
    }

    /** Opens so many. */
    static Browsers open(int port, List<String> nodes, int count, Watcher watcher) throws IOException, InterruptedException {
        Browsers browsers = new Browsers(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build());
        try {
            for (int i = 0; i < count; i++) {
                String page = PAGES.get(i % PAGES.size());
                browsers.open(port, page.equals("node") ? "node&node=" + nodes.get(i * 7 % nodes.size()) : page, i == 0 ? watcher : (_, _) -> {});
            }
            return browsers;
        } catch (IOException | InterruptedException | RuntimeException e) {
            browsers.close();
            throw e;
        }
    }

    private void open(int port, String page, Watcher watcher) throws IOException, InterruptedException {
        HttpResponse<InputStream> response = http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/live?page=" + page))
                        .header("Accept", "text/event-stream").build(),
                HttpResponse.BodyHandlers.ofInputStream());
        if (response.statusCode() != 200) {
            String refusal = new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
            throw BenchException.failed("the live page refused a stream of " + page + ": " + refusal, "open fewer --browsers");
        }
        Browser browser = new Browser(page, response.body());
        all.add(browser);
        boolean watches = all.size() == 1;
        Thread.ofPlatform().name("bench-browser-" + all.size()).daemon().start(() -> follow(browser, watches, watcher));
    }

    private static void follow(Browser browser, boolean watches, Watcher watcher) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(browser.body, StandardCharsets.UTF_8), 1 << 16)) {
            String event = "";
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                browser.bytes.addAndGet(line.length() + 1L);
                if (line.startsWith("event: ")) {
                    event = line.substring("event: ".length());
                } else if (line.startsWith("data: ")) {
                    data(browser, event, line.substring("data: ".length()), watches, watcher);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // Ended by the page or by close: what counts is whether that was before the end.
        } finally {
            browser.ended = true;
        }
    }

    private static void data(Browser browser, String event, String data, boolean watches, Watcher watcher) throws IOException {
        if (event.equals("gap")) {
            browser.missed.addAndGet(JSON.readTree(data).path("missed").asLong());
            return;
        }
        browser.updates.incrementAndGet();
        if (watches) {
            JsonNode page = JSON.readTree(data);
            watcher.shown(page.path("nowMs").asLong(), DashboardBench.read(page));
        }
    }

    /** All of them. */
    List<Browser> all() {
        return List.copyOf(all);
    }

    @Override
    public void close() {
        http.shutdownNow();
        for (Browser browser : all) {
            try {
                browser.body.close();
            } catch (IOException e) {
                // Its connection is gone.
            }
        }
    }
}
