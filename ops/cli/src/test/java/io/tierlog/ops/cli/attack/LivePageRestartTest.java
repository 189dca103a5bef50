/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.cli.MainRun;
import io.tierlog.ops.dashboard.ChromeDriver;
import io.tierlog.ops.process.ChildProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The live page stays open in a browser while the broker, the controller and the page's own server are killed with {@code kill -9}, one after the
 * other, and started again: each time it says what is wrong, and goes on without being loaded again. An engine sends requests all the time.
 */
@Tag("slow")
class LivePageRestartTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    @Test
    void aKilledBrokerControllerOrServerIsANoticeAndThePageGoesOnByItself() throws Exception {
        try (ChromeDriver browser = new ChromeDriver(directory); AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.LivePage page = scene.livePage(0);
            ChildProcess engine = engine(scene);
            browser.openPage(page.url() + "#/overview");
            browser.run("""
                    window.sameDocument = true;
                    const minutes = document.querySelector("select");
                    minutes.value = "1440";
                    minutes.dispatchEvent(new Event("change", { bubbles: true }));""");
            awaitMore(browser, 0);

            outage(browser, "the broker", scene::killBroker, "The brokers do not answer", scene::restartBroker);
            outage(browser, "the controller", controller.process()::kill, "No controller has decided anything", () -> scene.controller("state"));
            outage(browser, "the server of the page", page.process()::kill, "The server does not answer", () -> scene.livePage(page.port()));

            engine.kill();
            awaitNumbersOfTheAudit(browser, scene);
            assertTrue(browser.run("return window.sameDocument === true").asBoolean(), "the page was loaded again");
            assertEquals(List.of(), browser.console().stream().filter(line -> !line.contains("net::ERR_")).toList());
        }
    }

    private interface Step {
        void take() throws InterruptedException;
    }

    private static void outage(ChromeDriver browser, String what, Step kill, String notice, Step restart) throws Exception {
        long killed = System.nanoTime();
        kill.take();
        browser.await("the notice " + notice, "return document.querySelector('.notice')?.innerText.includes(arguments[0]) ?? false", notice);
        long noticed = System.nanoTime();
        long before = requests(browser);
        restart.take();
        long restarted = System.nanoTime();
        awaitMore(browser, before);
        System.out.printf(Locale.ROOT, "%s was killed: a notice after %.1f s; started again in %.1f s, and healed %.1f s later%n", what,
                (noticed - killed) / 1e9, (restarted - noticed) / 1e9, (System.nanoTime() - restarted) / 1e9);
    }

    private static ChildProcess engine(AttackScene scene) throws InterruptedException {
        ChildProcess agent = scene.service("agent-a", "agent", "--bootstrap-servers", scene.access.bootstrapServers(), "--node", "a",
                "--store", scene.directory.resolve("store").toString(), "--host", "256blocks", "--block-tokens", "64", "--port", "0",
                "--bytes-per-block", "4096B", "--registration-timeout", "90");
        return scene.service("engine", "engine", "--agents", "a=127.0.0.1:" + AttackScene.ready(agent).path("port").asInt(),
                "--bootstrap-servers", scene.access.bootstrapServers(), "--bytes-per-block", "4096B", "--requests", "5000", "--concurrency", "8");
    }

    /** Requests that the overview shows. */
    private static final String REQUESTS = """
            const figure = [...document.querySelectorAll('.figure')].find((f) => f.firstChild.innerText === 'Requests');
            const requests = Number(figure?.lastChild.innerText.split(', ')[0].replaceAll(',', '') ?? 0);
            """;

    private static long requests(ChromeDriver browser) throws Exception {
        return browser.run(REQUESTS + "return requests").asLong();
    }

    /** Waits until the page is live without a notice, and shows requests that it has not shown before. */
    private static void awaitMore(ChromeDriver browser, long before) throws Exception {
        browser.await("more than " + before + " requests, and no notice", REQUESTS + """
                return requests > Number(arguments[0]) + 5 && document.querySelector('.link').innerText === 'live'
                    && !document.querySelector('.notice')
                """, String.valueOf(before));
    }

    /** The log is at rest once the last call of the engine is decided: until then one of the two may be ahead. */
    private void awaitNumbersOfTheAudit(ChromeDriver browser, AttackScene scene) {
        AttackScene.await("the numbers of audit stats", () -> {
            try {
                String said = MainRun.of(directory, "audit", "stats", "--bootstrap-servers", scene.access.bootstrapServers(),
                        "--format", "json").text();
                JsonNode audit = JSON.readTree(said.substring(said.indexOf('{')));
                List<String> expected = List.of(
                        String.format(Locale.ROOT, "%.1f %%", 100 * audit.path("hit_ratio").asDouble()),
                        String.format(Locale.ROOT, "%,d blocks of %,d prompts", audit.path("block_accesses").asLong(),
                                audit.at("/attempts/prefilled").asLong()),
                        String.format(Locale.ROOT, "%,d, %,d answered at once", audit.at("/attempts/submitted").asLong(),
                                audit.at("/attempts/answered_at_once").asLong()));
                assertTrue(audit.path("hit_ratio").asDouble() > 0, said);
                String shown = browser.text("main");
                return expected.stream().allMatch(shown::contains);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }
}
