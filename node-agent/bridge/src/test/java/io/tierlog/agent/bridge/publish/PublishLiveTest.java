/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import static io.tierlog.agent.bridge.DirectoryAnswers.answers;
import static io.tierlog.agent.bridge.DirectoryAnswers.difference;
import static io.tierlog.agent.bridge.DirectoryAnswers.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.agent.bridge.BridgeApp;
import io.tierlog.agent.bridge.BridgeConfig;
import io.tierlog.agent.bridge.BridgeOptions;
import io.tierlog.agent.bridge.LiveLog;
import io.tierlog.agent.bridge.Python;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** From the placements of one Tierlog over real sockets to the directory of another one, and to a subscriber in Python. */
@Tag("slow")
class PublishLiveTest {
    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static LiveLog log;

    @SuppressWarnings("NullAway.Init")
    private static KafkaAccess access;

    @BeforeAll
    static void start() throws Exception {
        log = LiveLog.start(directory);
        access = KafkaAccess.of(log.broker().bootstrapServers());
    }

    @AfterAll
    static void stop() {
        log.close();
    }

    private static PublishApp publisher(PlacedFacts facts, Map<String, Object> options) {
        Map<String, Object> all = new HashMap<>(Map.of(PublishOptions.EVENTS, ANY_PORT, PublishOptions.REPLAY, ANY_PORT));
        all.putAll(options);
        all.put(LogOptions.BOOTSTRAP_SERVERS, log.broker().bootstrapServers());
        all.put(LogOptions.TOPIC_PREFIX, facts.topics.prefix());
        return PublishApp.start(PublishConfig.of(OptionValues.parse(PublishOptions.options(), all)));
    }

    private static BridgeApp bridge(PublishApp publisher) {
        List<String> sources = new ArrayList<>();
        for (int partition = 0; partition < publisher.events().size(); partition++) {
            sources.add(publisher.events().get(partition) + " replay=" + publisher.replays().get(partition) + " blocks=set");
        }
        return BridgeApp.start(BridgeConfig.of(OptionValues.parse(BridgeOptions.options(), Map.of(BridgeOptions.SOURCE, sources,
                LogOptions.BOOTSTRAP_SERVERS, log.broker().bootstrapServers(), BridgeOptions.SILENCE, 1))));
    }

    private static void directorySaysTheTruth(PlacedFacts facts) {
        eventually(() -> difference(facts.truth(), answers(log.where(), PlacedFacts.NAMESPACE, facts.ever())));
    }

    @ParameterizedTest
    @ValueSource(strings = {"MAPS", "ARRAYS"})
    void anotherTierlogKnowsTheSamePlacements(String form) {
        try (PlacedFacts facts = new PlacedFacts(access, "out-" + form, 3, 11)) {
            facts.write(80);
            try (PublishApp publisher = publisher(facts, Map.of(PublishOptions.FORM, form)); BridgeApp bridge = bridge(publisher)) {
                facts.write(80);
                directorySaysTheTruth(facts);
                facts.write(50);
                directorySaysTheTruth(facts);
                assertEquals(0, bridge.counts().of(BridgeCounter.MALFORMED));
                assertEquals(0, bridge.counts().of(BridgeCounter.GAPS));
                assertTrue(publisher.counts().of(PublishCounter.REPLAYED) > 0);
            }
            eventually(() -> difference(Set.of(), answers(log.where(), PlacedFacts.NAMESPACE, facts.ever())));
        }
    }

    @Test
    void aPublisherThatStartsAgainGoesOnWithItsNumbers() {
        try (PlacedFacts facts = new PlacedFacts(access, "again", 1, 12)) {
            facts.write(50);
            PublishApp first = publisher(facts, Map.of());
            Map<String, Object> ports = Map.of(PublishOptions.EVENTS, first.events().getFirst(), PublishOptions.REPLAY, first.replays().getFirst());
            try (BridgeApp bridge = bridge(first)) {
                try {
                    facts.write(50);
                    directorySaysTheTruth(facts);
                } finally {
                    first.close();
                }
                facts.write(50);
                try (PublishApp _ = publisher(facts, ports)) {
                    facts.write(50);
                    directorySaysTheTruth(facts);
                    assertEquals(0, bridge.counts().of(BridgeCounter.RESTARTS), "the numbers go on");
                    assertEquals(0, bridge.counts().of(BridgeCounter.GAPS), "the log has all batches");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"MAPS", "ARRAYS"})
    void aSubscriberInPythonKnowsThePlacements(String form) throws Exception {
        Assumptions.assumeTrue(Python.has("zmq", "msgpack"), "NOT RUN: the subscriber needs python3-zmq and python3-msgpack");
        try (PlacedFacts facts = new PlacedFacts(access, "python-" + form, 1, 13)) {
            facts.write(50);
            try (PublishApp publisher = publisher(facts, Map.of(PublishOptions.FORM, form))) {
                Process subscriber = Python.start("subscriber.py", publisher.events().getFirst(), publisher.replays().getFirst(), form);
                try (BufferedReader lines = subscriber.inputReader()) {
                    for (int i = 0; subscriber.isAlive() && !lines.ready(); i++) {
                        // A subscription takes effect some time after it is made.
                        facts.place(1_000_000 + i);
                        LockSupport.parkNanos(50_000_000);
                    }
                    assertEquals("subscribed", lines.readLine());
                    facts.write(50);
                    facts.place(0x7fff_0000_0000_0001L);
                    Set<String> said = new TreeSet<>();
                    for (JsonNode each : new ObjectMapper().readTree(String.valueOf(lines.readLine()))) {
                        said.add(each.asText());
                    }
                    assertEquals("", difference(facts.truth(), said));
                    assertTrue(subscriber.waitFor(60, TimeUnit.SECONDS));
                } finally {
                    subscriber.destroyForcibly();
                }
            }
        }
    }

    @Test
    void anAnswerHasTheFramesThatTheSubscriberReads() {
        try (PlacedFacts facts = new PlacedFacts(access, "frames", 1, 14); ZContext context = new ZContext()) {
            facts.place(1);
            facts.place(2);
            for (boolean topics : List.of(true, false)) {
                try (PublishApp publisher = publisher(facts, Map.of(PublishOptions.REPLAY_TOPICS, topics))) {
                    ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
                    dealer.setReceiveTimeOut(60_000);
                    dealer.connect(publisher.replays().getFirst());
                    dealer.sendMore("no question");
                    dealer.send("at all");
                    dealer.sendMore("");
                    dealer.send(ReplayAnswer.number(1));
                    assertEquals(topics ? List.of("", "6b764061406c6c616d61", "0000000000000001") : List.of("", "0000000000000001"),
                            message(dealer).subList(0, topics ? 3 : 2));
                    assertEquals(topics ? List.of("", "", "ffffffffffffffff", "") : List.of("", "ffffffffffffffff", ""), message(dealer));
                    assertEquals(1, publisher.counts().of(PublishCounter.REFUSED), "what is no question is counted");
                    // What is not published yet: an end without data.
                    dealer.sendMore("");
                    dealer.send(ReplayAnswer.number(99));
                    assertEquals(topics ? 4 : 3, message(dealer).size());
                    dealer.close();
                }
            }
        }
    }

    private static List<String> message(ZMQ.Socket socket) {
        List<String> frames = new ArrayList<>();
        do {
            frames.add(HexFormat.of().formatHex(socket.recv()));
        } while (socket.hasReceiveMore());
        return frames;
    }
}
