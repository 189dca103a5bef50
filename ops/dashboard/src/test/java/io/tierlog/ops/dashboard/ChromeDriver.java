/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;

/**
 * A headless Chromium, by the W3C WebDriver protocol of chromedriver. Seven calls of plain JSON: Selenium would bring some twenty jars, and would
 * download a driver where it finds none. For one thread.
 */
public final class ChromeDriver implements AutoCloseable {
    private static final Path BROWSER = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final long WAIT_NS = 60_000_000_000L;
    private static final int MOST_TRIES = 5;
    private static final Pattern PORT = Pattern.compile("started successfully on port (\\d+)");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process driver;
    private final String session;

    /** Starts it with a profile of its own; skips the test where there is none. */
    public ChromeDriver(Path directory) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(BROWSER) && Files.isExecutable(DRIVER),
                "NOT RUN: no browser; apt-get install chromium chromium-driver");
        Started started = started();
        driver = started.process();
        try {
            String base = "http://127.0.0.1:" + started.port() + "/session";
            ObjectNode chrome = NODES.objectNode().put("binary", BROWSER.toString());
            List<String> flags = List.of("--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
                    "--user-data-dir=" + directory.resolve("profile"), "--window-size=1366,900");
            flags.forEach(chrome.withArrayProperty("args")::add);
            if (System.getProperty("user.name").equals("root")) {
                chrome.withArrayProperty("args").add("--no-sandbox"); // Chromium refuses to sandbox root
            }
            ObjectNode wanted = NODES.objectNode();
            wanted.set("goog:chromeOptions", chrome);
            wanted.putObject("goog:loggingPrefs").put("browser", "ALL");
            ObjectNode body = NODES.objectNode();
            body.putObject("capabilities").set("alwaysMatch", wanted);
            session = base + "/" + call("POST", base, body).path("sessionId").asText();
        } catch (IOException | InterruptedException | RuntimeException e) {
            driver.destroyForcibly();
            throw e;
        }
    }

    private record Started(Process process, int port) {}

    /** It takes a port that is free for IPv6, and ends where that of IPv4 is not. */
    private static Started started() throws IOException {
        for (int tries = 1; ; tries++) {
            Process process = new ProcessBuilder(DRIVER.toString(), "--port=0").redirectErrorStream(true).start();
            try {
                return new Started(process, port(process));
            } catch (IOException e) {
                process.destroyForcibly();
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    private static int port(Process process) throws IOException {
        StringBuilder printed = new StringBuilder();
        BufferedReader lines = process.inputReader(); // closed with the process
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher started = PORT.matcher(line);
            if (started.find()) {
                return Integer.parseInt(started.group(1));
            }
            printed.append(line).append('\n');
        }
        throw new IOException("chromedriver ended: " + printed);
    }

    private JsonNode call(String method, String url, ObjectNode body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(PATIENCE)
                .method(method, method.equals("POST") ? HttpRequest.BodyPublishers.ofString(body.toString()) : HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        JsonNode value = JSON.readTree(answer.body()).path("value");
        if (answer.statusCode() != 200) {
            throw new IOException(value.path("error").asText() + ": " + value.path("message").asText());
        }
        return value;
    }

    /** Goes to an address, and returns when the document is loaded. */
    void open(String url) throws IOException, InterruptedException {
        call("POST", session + "/url", NODES.objectNode().put("url", url));
    }

    /** Runs a script in the page; what it returns, or the promise that it returns. */
    public JsonNode run(String script, String... arguments) throws IOException, InterruptedException {
        ObjectNode body = NODES.objectNode().put("script", script);
        List.of(arguments).forEach(body.putArray("args")::add);
        return call("POST", session + "/execute/sync", body);
    }

    /** What an element shows; empty text when there is none. */
    public String text(String selector) throws IOException, InterruptedException {
        return run("return document.querySelector(arguments[0])?.innerText ?? ''", selector).asText();
    }

    /** Waits until a script returns true. */
    public void await(String what, String script, String... arguments) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + WAIT_NS;
        while (!run(script, arguments).asBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within the time: " + what + "; the page shows: " + text("body"));
            }
            LockSupport.parkNanos(100_000_000);
        }
    }

    /** Leaves the page, and forgets what its console has shown. */
    public void leave() throws IOException, InterruptedException {
        open("about:blank");
        console();
    }

    /** Opens one of the pages, and waits until it shows something of the log. */
    public void openPage(String url) throws IOException, InterruptedException {
        open("about:blank"); // another hash alone loads nothing
        open(url);
        await(url + " is shown", "return document.querySelector('.link')?.innerText === 'live' && !document.querySelector('main > .empty')");
    }

    /** Fails when axe-core finds something serious or critical on the page in one of the themes. */
    void requireAccessible(String what) throws IOException, InterruptedException {
        for (String theme : List.of("light", "dark")) {
            run("if (document.documentElement.dataset.theme !== arguments[0]) document.querySelector('.tools .theme').click()", theme);
            await(theme, "return document.documentElement.dataset.theme === arguments[0]", theme);
            JsonNode serious = run(axe() + """
                    ;return axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations
                        .filter((v) => v.impact === "serious" || v.impact === "critical")
                        .map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")))""");
            if (!serious.isEmpty()) {
                throw new AssertionError(what + " in " + theme + ": " + serious.toPrettyString());
            }
        }
    }

    private static String axe() throws IOException {
        try (InputStream in = Objects.requireNonNull(ChromeDriver.class.getResourceAsStream("/axe.min.js.gz"))) {
            return new String(new GZIPInputStream(in).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The size of the window. */
    void resize(int width, int height) throws IOException, InterruptedException {
        call("POST", session + "/window/rect", NODES.objectNode().put("width", width).put("height", height));
    }

    /** The window as PNG. */
    byte[] screenshot() throws IOException, InterruptedException {
        return Base64.getDecoder().decode(call("GET", session + "/screenshot", NODES.objectNode()).asText());
    }

    /** What the console got since the last call. */
    public List<String> console() throws IOException, InterruptedException {
        JsonNode entries = call("POST", session + "/se/log", NODES.objectNode().put("type", "browser"));
        return StreamSupport.stream(entries.spliterator(), false).map(entry -> entry.path("message").asText()).toList();
    }

    @Override
    public void close() throws IOException {
        try {
            call("DELETE", session, NODES.objectNode());
            driver.destroy();
            driver.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            driver.descendants().forEach(ProcessHandle::destroyForcibly);
            driver.destroyForcibly();
        }
    }
}
