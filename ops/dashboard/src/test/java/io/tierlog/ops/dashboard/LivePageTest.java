/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The live page in a real browser, over a log on an embedded broker. */
@Tag("slow")
class LivePageTest {
    private static final String EVIL = "<script>alert(1)</script>";
    private static final List<ProducerRecord<byte[], byte[]>> EPISODE = LogScene.episode(5);

    @TempDir
    static Path directory;

    private static ChromeDriver browser;
    private static LogScene log;
    private static DashboardApp page;
    private static int appended;

    @BeforeAll
    static void start() throws Exception {
        browser = new ChromeDriver(directory);
        log = new LogScene(directory.resolve("kafka"));
        page = log.page(directory.resolve("state"), 0);
    }

    @AfterAll
    static void stop() throws Exception {
        for (AutoCloseable part : new AutoCloseable[] {page, log, browser}) {
            if (part != null) {
                part.close();
            }
        }
    }

    @BeforeEach
    void leaveThePage() throws Exception {
        browser.leave();
    }

    /** Appends the episode up to a share of it. */
    private static void append(double share) {
        int to = (int) (share * EPISODE.size());
        if (to > appended) {
            log.append(EPISODE.subList(appended, to));
            appended = to;
        }
    }

    /** Opens one of the pages, and waits until it shows something of the log. */
    private static void open(String hash) throws IOException, InterruptedException {
        browser.openPage(page.url() + "#/" + hash);
    }

    private static String figure(String name) throws IOException, InterruptedException {
        return browser.run("return [...document.querySelectorAll('.figure')].find((f) => f.firstChild.innerText === arguments[0]).innerText", name)
                .asText();
    }

    private static void awaitFigure(String name, String part) throws IOException, InterruptedException {
        browser.await(name + " has " + part, "return [...document.querySelectorAll('.figure')].some((f) => f.firstChild.innerText === arguments[0]"
                + " && f.innerText.includes(arguments[1]))", name, part);
    }

    private static void awaitNumbersOf(LogSummary audit) throws IOException, InterruptedException {
        awaitFigure("Requests", String.format(Locale.ROOT, "%,d, ", audit.requests().submitted()));
        awaitFigure("Hit ratio", String.format(Locale.ROOT, "%.1f %%", 100 * audit.requests().hits().ratio()));
        awaitFigure("Waits expired", String.format(Locale.ROOT, "%,d", audit.requests().waitsExpired()));
    }

    @Test
    void numbersMoveAndAreThoseOfTheAudit() throws Exception {
        append(0.4);
        open("overview");
        browser.run("""
                window.sameDocument = true;
                const minutes = document.querySelector("select");
                minutes.value = "1440";
                minutes.dispatchEvent(new Event("change", { bubbles: true }));""");
        LogSummary first = log.audit();
        awaitNumbersOf(first);
        String before = figure("Requests");
        append(1);
        log.append(IntStream.range(0, 5).mapToObj(i -> LogScene.record(0, submitted("node/c", "late-" + i, "model", List.of()))).toList());
        log.append(List.of(LogScene.record(0, accepted("late")))); // the time of the page is that of the latest decision
        LogSummary second = log.audit();
        assertTrue(second.requests().submitted() > first.requests().submitted());
        awaitNumbersOf(second);
        assertTrue(!figure("Requests").equals(before));
        assertTrue(browser.run("return window.sameDocument === true").asBoolean(), "the page was loaded again");
        browser.await("a line is drawn", "return document.querySelectorAll('.uplot canvas').length >= 3");
        assertEquals(List.of(), browser.console());
    }

    /** What agents and engines write is text: also where the page uses it as a tooltip or as part of an address. */
    @Test
    void textOfTheLogIsShownAsText() throws Exception {
        log.append(List.of(
                LogScene.record(0, accepted(EVIL)),
                LogScene.record(0, submitted("node/" + EVIL, "r" + EVIL, EVIL, List.of()))));
        open("requests");
        browser.await("its namespace and its node",
                "return [...document.querySelectorAll('td')].filter((cell) => cell.textContent === arguments[0]).length === 2", EVIL);
        open("nodes");
        browser.await("its name", "return document.body.textContent.includes(arguments[0])", EVIL);
        open("node/" + "%3Cscript%3Ealert(1)%3C%2Fscript%3E");
        assertEquals("Node " + EVIL, browser.text("h1"));
        assertEquals(1, browser.run("return document.scripts.length").asInt());
        assertEquals(List.of(), browser.console());
    }

    /** Two prompts share two blocks and then part; the second block serves on a host. */
    @Test
    void aBlockIsFoundWithItsPrefixTreeAndItsRecords() throws Exception {
        List<Bytes> keys = Stream.of("a1", "b2", "c3", "d4").map(each -> Bytes.ofHex(each.repeat(8))).toList();
        log.append(List.of(
                LogScene.record(0, submitted("node/tree", "tree-1", "forest", keys.subList(0, 3))),
                LogScene.record(0, submitted("node/tree", "tree-2", "forest", List.of(keys.get(0), keys.get(1), keys.get(3)))),
                LogScene.record("b", new Placement(about("node/tree"), "forest", new Block(1, keys.get(1), keys.get(0)), "node/tree", Tier.HOST, 1,
                        7, 1, 0)),
                LogScene.record("c", new Placement(about("node/tree"), "other", new Block(2, keys.get(2), keys.get(1)), "node/tree", Tier.DISK, 1,
                        8, 1, 0))));
        open("blocks");
        find("a1a1a1a1a1a1a1a1 " + keys.get(1).hex(), "forest");
        browser.await("the tree", "return document.querySelectorAll('.found .fork').length === 4");
        List<String> rows = new ArrayList<>();
        browser.run("return [...document.querySelectorAll('.found tr')].filter((row) => row.querySelector('.fork')).map((row) => row.innerText)")
                .forEach(row -> rows.add(row.asText()));
        assertEquals(List.of("0 a1a1a1a1a1a1a1a1 2 nowhere", "1 b2b2b2b2b2b2b2b2 (this block) 2 host of node/tree", "2 c3c3c3c3c3c3c3c3 1 nowhere",
                "2 d4d4d4d4d4d4d4d4 1 nowhere"),
                rows.stream().map(row -> row.replaceAll("\\s+", " ").replaceAll(" \\d\\d:\\d\\d:\\d\\d", "")).toList());
        String events = "return [...document.querySelectorAll('.found td')].filter((cell) => cell.innerText === 'RequestSubmitted').length";
        assertEquals(2, browser.run(events).asInt());
        find("tree-2", "");
        browser.await("the request", "return document.querySelector('.found')?.innerText.includes('request=tree-2') ?? false");
        find("no-such-request", "");
        browser.await("nothing", "return document.body.innerText.includes('The log has no record of request no-such-request')");
        find("a1a1a1a1a1a1a1a1", "");
        browser.await("a refusal", "return document.querySelector('.notice.error')?.innerText.includes('namespace must be given') ?? false");
    }

    private static void find(String what, String namespace) throws IOException, InterruptedException {
        browser.run("""
                for (const [name, value] of [["what", arguments[0]], ["namespace", arguments[1]]]) {
                  const input = document.querySelector(`.search input[name=${name}]`);
                  input.value = value;
                  input.dispatchEvent(new Event("input", { bubbles: true }));
                }""", what, namespace);
        browser.run("return new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"); // until the page has the values
        browser.run("document.querySelector('.search button').click()");
    }

    private static Envelope about(String aggregate) {
        return new Envelope(aggregate, "sender", 1, 1, 0, 0, null, null, null, null);
    }

    private static AgentAccepted accepted(String node) {
        return new AgentAccepted(about("node/" + node), node, "p", 1, List.of(), Bytes.EMPTY, Bytes.EMPTY, 0, Policies.INITIAL, null, false);
    }

    private static RequestSubmitted submitted(String aggregate, String request, String namespace, List<Bytes> keys) {
        return new RequestSubmitted(about(aggregate), request, 1, namespace,
                keys, 0, 16, 0, List.of(), List.of(), 0, 0, true, true, false, List.of(), null, null);
    }

    @Test
    void aRestartOfTheServerIsANoticeAndHeals() throws Exception {
        append(0.1);
        open("overview");
        int port = page.port();
        page.close();
        browser.await("a notice", "return document.querySelector('.notice')?.innerText.includes('does not answer') ?? false");
        assertEquals("connection lost", browser.text(".link"));
        page = log.page(directory.resolve("state"), port);
        browser.await("live again", "return document.querySelector('.link').innerText === 'live' && !document.querySelector('.notice')");
    }

    /** The nodes of a past moment are those of the controller's tables then, and the page goes on live afterwards. */
    @Test
    void aPastMomentIsShownAsTheLogHasItAndThePageReturnsToLive() throws Exception {
        append(1);
        LogState all = log.state(Long.MAX_VALUE / 2);
        long endMs = all.partitions().stream().mapToLong(each -> each.at().timeMs()).max().orElseThrow();
        ProducerRecord<byte[], byte[]> later = LogScene.record(0, accepted("later"));
        log.append(List.of(new ProducerRecord<>(later.topic(), later.partition(), endMs + 5_000, later.key(), later.value())));
        open("nodes");
        browser.await("the node that came later", "return document.body.innerText.includes('later')");
        browser.run("[...document.querySelectorAll('.tools button')].find((b) => b.innerText === 'Go back in time').click()");
        browser.await("the slider", "return document.querySelector('.travel input') !== null");
        long momentMs = travelTo(endMs + 2_000);
        assertTrue(endMs < momentMs && momentMs < endMs + 5_000, "the slider has steps of a second");
        List<String> names = new ArrayList<>();
        browser.run("return [...document.querySelectorAll('.card a, .heat a')].map((a) => decodeURIComponent(a.hash.slice('#/node/'.length)))")
                .forEach(name -> names.add(name.asText()));
        List<String> then = all.partitions().stream().flatMap(each -> each.tables().rows(Rows.NODES).keySet().stream())
                .map(key -> key.aggregate().substring("node/".length())).sorted().toList();
        assertTrue(!then.isEmpty() && !then.contains("later"), then.toString());
        assertEquals(then, names.stream().sorted().toList());
        browser.requireAccessible("nodes of a past moment");
        requireBlocksOf(all, momentMs);
        browser.run("location.hash = '#/log'");
        browser.await("its rates and no lag", "return document.querySelector('h1').innerText === 'Log' && document.querySelector('.link').innerText"
                + " === 'past' && [...document.querySelectorAll('h2')].some((title) => title.innerText === 'Kept records')");
        assertFalse(browser.text("main").contains("Not read yet"), "how far the reader is belongs to the present");
        browser.requireAccessible("the log of a past moment");
        browser.run("location.hash = '#/nodes'");
        browser.run("[...document.querySelectorAll('.travel button')].find((b) => b.innerText === 'Back to live').click()");
        browser.await("live again", "return document.querySelector('.link').innerText === 'live' && document.querySelector('.travel.past') === null");
        assertTrue(browser.text("main").contains("later"));
        assertEquals(List.of(), browser.console());
    }

    /** A block of the moment is on the tiers that the tables then have it on, and what came later is not there. */
    private static void requireBlocksOf(LogState then, long momentMs) throws IOException, InterruptedException {
        LogState.Partition partition = then.partitions().getFirst();
        Map<Bytes, String> namespaces = new HashMap<>();
        partition.tables().rows(Rows.NAMESPACES).forEach((key, row) -> namespaces.put(Namespaces.digest(row.namespace()), row.namespace()));
        RowKey.Placement held = partition.tables().rows(Rows.PLACEMENTS).entrySet().stream()
                .filter(each -> each.getValue().state() == PlacementState.SERVING && each.getKey().tier() == Tier.HOST)
                .map(Map.Entry::getKey).filter(key -> NodeRows.isCurrent(Objects.requireNonNull(
                        partition.tables().get(Rows.NODES, new RowKey.Aggregate(key.aggregate()))), key.tier(),
                        Objects.requireNonNull(partition.tables().get(Rows.PLACEMENTS, key))))
                .findFirst().orElseThrow();
        String namespace = namespaces.get(held.namespace());
        ProducerRecord<byte[], byte[]> later = LogScene.record(0, submitted("node/a", "after-the-moment", namespace, List.of(held.block())));
        PlacementRow row = Objects.requireNonNull(partition.tables().get(Rows.PLACEMENTS, held));
        ProducerRecord<byte[], byte[]> leaves = LogScene.record(0, new BlocksRemoved(about(held.aggregate()), Tier.HOST, namespace,
                RemovalReason.PRESSURE, List.of(new Block(row.index(), held.block(), row.parent())), 0));
        log.append(Stream.of(later, leaves).map(record ->
                new ProducerRecord<>(record.topic(), record.partition(), momentMs + 2_000, record.key(), record.value())).toList());
        browser.run("location.hash = '#/blocks'");
        browser.await("the search", "return document.querySelector('.search input[name=what]') !== null");
        assertFalse(browser.text("main").contains("Prefixes that saved the most"));
        find(held.block().hex(), namespace);
        browser.await("its records", "return [...document.querySelectorAll('h2')].some((title) => title.innerText === 'Records')");
        String found = browser.text(".found");
        assertTrue(browser.text(".found p:not(.note)").contains("Serving at that moment: "), found);
        assertTrue(browser.text(".found p:not(.note)").contains("host of " + held.aggregate()), found);
        assertFalse(found.contains("after-the-moment"), found);
        browser.run("[...document.querySelectorAll('.travel button')].find((b) => b.innerText === 'Back to live').click()");
        browser.await("live again", "return document.querySelector('.link').innerText === 'live'");
        browser.await("the same search, and what came later",
                "return document.querySelector('.found')?.innerText.includes('after-the-moment') ?? false");
        assertFalse(browser.text(".found p:not(.note)").contains("host of " + held.aggregate()), "it has left since");
        browser.run("[...document.querySelectorAll('.tools button')].find((b) => b.innerText === 'Go back in time').click()");
        browser.await("the slider", "return document.querySelector('.travel input') !== null");
        travelTo(momentMs);
        browser.await("the same search at that moment",
                "return document.querySelector('.found')?.innerText.includes('Serving at that moment: ') ?? false");
    }

    private static long travelTo(long atMs) throws IOException, InterruptedException {
        long momentMs = browser.run("""
                const slider = document.querySelector(".travel input");
                slider.value = arguments[0];
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                slider.dispatchEvent(new Event("change", { bubbles: true }));
                return Number(slider.value);""", String.valueOf(atMs)).asLong();
        browser.await("the moment", "return document.querySelector('.link').innerText === 'past'"
                + " && document.querySelector('.travel.past b') !== null");
        return momentMs;
    }

    /** axe-core finds nothing serious or critical on any page, in both themes, and the policy for contents blocks nothing. */
    @Test
    void everyPageIsAccessibleAndKeepsThePolicyForContents() throws Exception {
        append(1);
        String node = node();
        for (String hash : List.of("overview", "nodes", "node/" + node, "requests", "blocks", "operate", "log")) {
            open(hash);
            assertEquals(List.of(), browser.console(), hash);
            browser.requireAccessible(hash);
        }
    }

    private static String node() throws IOException, InterruptedException {
        open("nodes");
        return browser.run("return [...document.querySelectorAll('.card a')].map((a) => a.innerText).find((name) => !name.includes('<'))").asText();
    }
}
