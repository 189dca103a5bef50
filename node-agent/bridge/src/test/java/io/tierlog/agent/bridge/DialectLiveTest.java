/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import static io.tierlog.agent.bridge.DirectoryAnswers.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Publishers in Python, written from the descriptions of the dialects: the directory's answers are what they hold, or UNKNOWN. */
@Tag("slow")
class DialectLiveTest {
    private static final String UNKNOWN = " UNKNOWN";
    private static final int ATTEMPTS = 5;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static LiveLog log;

    @BeforeAll
    static void start() throws Exception {
        Assumptions.assumeTrue(Python.has("zmq", "msgpack"), "NOT RUN: the publishers need python3-zmq and python3-msgpack");
        log = LiveLog.start(directory);
    }

    @AfterAll
    static void stop() {
        if (log != null) {
            log.close();
        }
    }

    /** The process of the publishers, and its input. */
    private static final class Engines implements AutoCloseable {
        private final Process process;
        private final BufferedReader said;
        private final Writer input;
        private final List<String> sources = new ArrayList<>();

        Engines(String mode) throws Exception {
            int central = Ports.free();
            process = Python.start("engines.py", mode, String.valueOf(central));
            said = process.inputReader();
            input = process.outputWriter();
            read().forEach(each -> sources.add(each.asText()));
            sources.add("tcp://127.0.0.1:" + central + " bind=yes");
        }

        private JsonNode read() throws IOException {
            return new ObjectMapper().readTree(String.valueOf(said.readLine()));
        }

        JsonNode step(String name) throws IOException {
            input.write(name + "\n");
            input.flush();
            return read();
        }

        @Override
        public void close() throws IOException {
            try {
                input.close();
                process.waitFor(5, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private static BridgeApp bridge(List<String> sources) {
        Map<String, Object> options = new HashMap<>(Map.of(BridgeOptions.SOURCE, sources, BridgeOptions.SILENCE, 1,
                LogOptions.BOOTSTRAP_SERVERS, log.broker().bootstrapServers()));
        return BridgeApp.start(BridgeConfig.of(OptionValues.parse(BridgeOptions.options(), options)));
    }

    private static Set<String> truth(JsonNode dialect) {
        Set<String> truth = new TreeSet<>();
        dialect.get("truth").forEach(each -> truth.add(each.get(0).asText() + " " + each.get(1).asText() + " " + each.get(2).asText() + " "
                + each.get(3).asText()));
        return truth;
    }

    private static Set<String> answers(JsonNode dialect) {
        Map<String, Set<String>> ever = new HashMap<>();
        dialect.get("ever").forEach(each -> ever.computeIfAbsent(each.get(0).asText(), _ -> new TreeSet<>()).add(each.get(1).asText()));
        Set<String> said = new TreeSet<>();
        ever.forEach((namespace, keys) -> DirectoryAnswers.answersByName(log.where(), namespace, keys)
                .forEach(each -> said.add(namespace + " " + each)));
        return said;
    }

    /** What is wrong: a block of which the directory does not say where it is, or says where it is not; UNKNOWN is not wrong if it may be. */
    private static String wrong(JsonNode all, boolean mayBeUnknown) {
        StringBuilder wrong = new StringBuilder();
        for (JsonNode dialect : all) {
            Set<String> truth = truth(dialect);
            Set<String> said = answers(dialect);
            if (mayBeUnknown) {
                Set<String> unknown = new TreeSet<>(said);
                unknown.removeIf(each -> !each.endsWith(UNKNOWN));
                said.removeAll(unknown);
                // A block that is found elsewhere is FOUND: that more may be there, another block of its namespace shows.
                truth.removeIf(each -> !said.contains(each) && (unknown.contains(block(each) + UNKNOWN) || isUnknown(each)));
            }
            String difference = DirectoryAnswers.difference(truth, said);
            if (!difference.isEmpty()) {
                wrong.append(dialect.get("dialect").asText()).append(": ").append(difference).append('\n');
            }
        }
        return wrong.toString();
    }

    /** Whether the directory does not know a block that was never stored, of the same namespace. */
    private static boolean isUnknown(String placement) {
        String[] parts = placement.split(" ", -1);
        String never = "f".repeat(parts[1].length());
        return DirectoryAnswers.answersByName(log.where(), parts[0], List.of(never)).equals(Set.of(never + UNKNOWN));
    }

    /** Namespace and key. */
    private static String block(String placement) {
        String[] parts = placement.split(" ", -1);
        return parts[0] + " " + parts[1];
    }

    @Test
    void withReplaysTheDirectorySaysWhatTheyHold() throws Exception {
        try (Engines engines = new Engines("REPLAYS"); BridgeApp bridge = bridge(engines.sources)) {
            JsonNode end = engines.step("run");
            assertEquals(16, end.size());
            end.forEach(dialect -> assertTrue(dialect.get("truth").size() > 60, () -> dialect.get("dialect") + " holds too little"));
            eventually(() -> wrong(only(end, each -> each.get("replays").asBoolean()), false));
            eventually(() -> wrong(end, true));
            assertEquals(0, bridge.counts().of(BridgeCounter.MALFORMED));
            assertEquals(0, bridge.counts().of(BridgeCounter.UNKNOWN_MEDIA));
            assertEquals(0, bridge.counts().of(BridgeCounter.UNKNOWN_EVENTS));
            // Each of two ranks has begun again; a busy bridge may see nothing of a process.
            assertTrue(bridge.counts().of(BridgeCounter.RESTARTS) >= end.size(), () -> "restarts: " + bridge.counts().of(BridgeCounter.RESTARTS));
            assertTrue(bridge.counts().of(BridgeCounter.REPLAYED) > 0);
            untilSettled(engines);
        }
    }

    @Test
    void withoutReplaysWhatMayBeLostIsUnknownUntilTheyBeginAgain() throws Exception {
        try (Engines engines = new Engines("NONE"); BridgeApp bridge = bridge(engines.sources)) {
            JsonNode end = engines.step("run");
            eventually(() -> wrong(end, true));
            assertTrue(bridge.counts().of(BridgeCounter.GAPS) > 0, "batches were lost");
            untilSettled(engines);
        }
    }

    /** Without replays, a busy bridge that learns of a connection after its first batch says UNKNOWN: they begin once more. */
    private static void untilSettled(Engines engines) throws IOException {
        for (int attempt = 1; !settled(engines, attempt == ATTEMPTS); attempt++) {
            assertTrue(attempt < ATTEMPTS);
        }
    }

    private static boolean settled(Engines engines, boolean last) throws IOException {
        JsonNode again = engines.step("settle");
        eventually(() -> wrong(again, true));
        if (last) {
            eventually(() -> wrong(counted(again), false));
        }
        return wrong(counted(again), false).isEmpty();
    }

    /** Without the publisher that does not count its batches: nothing shows that its new process is whole. */
    private static JsonNode counted(JsonNode all) {
        return only(all, each -> !each.get("dialect").asText().equals("atom"));
    }

    private static JsonNode only(JsonNode all, Predicate<JsonNode> which) {
        ArrayNode some = new ObjectMapper().createArrayNode();
        all.forEach(each -> {
            if (which.test(each)) {
                some.add(each);
            }
        });
        return some;
    }
}
