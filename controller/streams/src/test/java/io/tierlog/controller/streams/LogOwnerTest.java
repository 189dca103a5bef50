/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.AppliedInput;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.threads.LoggedLines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Controllers that must not decide a log, on a real broker: each stops before its first decision. */
@Tag("slow")
class LogOwnerTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @Test
    void anotherApplicationIdIsRefusedAtStart() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            String owner = log.topics.prefix() + "-controller";
            try (ControllerApp _ = ControllerApp.start(log.controller(directory.resolve("first")).tickMs(50).build())) {
                TestLog.await("both partitions", () -> decisions.of(PartitionOpened.class).size() == 2);
                decisions.of(PartitionOpened.class).forEach(opened -> assertEquals(owner, opened.applicationId()));
                ControllerConfig other = log.controller(directory.resolve("second")).applicationId("other").tickMs(50).build();
                String message = String.valueOf(
                        assertThrows(ControllerException.DecidedByAnother.class, () -> ControllerApp.start(other).close()).getMessage());
                assertTrue(message.contains(owner) && message.contains("other") && message.contains("--topic-prefix"), message);
            }
            decisions.of(TimeAdvanced.class);
            decisions.assertChained();
        }
    }

    /** Both find a new log. The second one opens nothing that the first has opened. */
    @Test
    void aControllerThatFindsAnotherLaterStops() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1)) {
            LogOwner late = new LogOwner(log.access, log.topics, log.codec, 1, "other", (_, _) -> {});
            assertFalse(late.isOurs(), "nothing is decided yet");
            try (ControllerApp app = ControllerApp.start(log.controller(directory).tickMs(50).build());
                    LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
                assertTrue(app.awaitRunning(TestLog.PATIENCE));
                Decisions decisions = new Decisions(reader);
                TestLog.await("a decision", () -> !decisions.of(TimeAdvanced.class).isEmpty());
                assertThrows(ControllerException.DecidedByAnother.class, late::isOurs);
            }
        }
    }

    @Test
    void lostOffsetsAndChangelogAreNoticedAndNothingIsDecidedTwice() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Admin admin = Admin.create(log.access.client(Map.of()));
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(Script.tick(0, 1, 5_000));
            try (ControllerApp _ = ControllerApp.start(log.controller(directory.resolve("first")).tickMs(60_000).build())) {
                TestLog.await("a decision", () -> decisions.of(TimeAdvanced.class).size() == 1);
            }
            String group = log.topics.prefix() + "-controller";
            admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions()).all().get(30, TimeUnit.SECONDS);
            admin.deleteConsumerGroups(List.of(group)).all().get(30, TimeUnit.SECONDS);
            admin.deleteTopics(List.of(group + "-" + ControllerTopology.STORE + "-changelog")).all().get(30, TimeUnit.SECONDS);
            assertStops(log.controller(directory.resolve("second")).tickMs(60_000).build(), "offsets, the changelog or the state were lost");
            log.append(Script.tick(0, 2, 6_000));
            assertEquals(1, decisions.of(TimeAdvanced.class).size());
        }
    }

    /** Trimmed to its end, a log has no decision that the state could be compared with, and is not a new one. */
    @Test
    void aTrimmedLogIsNotDecidedFromTheMiddle() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Admin admin = Admin.create(log.access.client(Map.of()));
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            log.append(Script.tick(0, 1, 5_000));
            TopicPartition events = new TopicPartition(log.topics.events(), 0);
            admin.deleteRecords(Map.of(events, RecordsToDelete.beforeOffset(1))).all().get(30, TimeUnit.SECONDS);
            log.append(Script.tick(0, 2, 6_000));
            String message = end(log.controller(directory).tickMs(60_000).build(), ControllerException.LogTrimmed.class);
            assertTrue(message.contains("offset 1") && message.contains("snapshot restore"), message);
            assertEquals(List.of(), new Decisions(reader).all());
        }
    }

    /** A state directory from before its changelog was written from a snapshot: only the end of the new rows was read into it. */
    @Test
    void rowsOfTwoLoadsAreRefused() {
        HeapBytes rows = new HeapBytes();
        rows.put(SequenceStamper.LAST, new byte[] {1});
        KafkaAccess nowhere = new KafkaAccess("localhost:1", Map.of(), Duration.ofMillis(200));
        LogOwner owner = new LogOwner(nowhere, Topics.DEFAULT, new Codec(Schemas.bundled()), 1, "c", (_, _) -> {});
        String message = String.valueOf(
                assertThrows(ControllerException.StateMixed.class, () -> owner.check(0, new SequenceStamper(rows))).getMessage());
        assertTrue(message.contains("Delete the state directory"), message);
    }

    /** Kafka forgets the offsets of a group without members after a week. */
    @Test
    void lostOffsetsAlonePassOverWhatWasDecided() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Admin admin = Admin.create(log.access.client(Map.of()));
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(Script.tick(0, 1, 5_000));
            log.append(new FakeAgent("a", "1").registering());
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("the agent is accepted", () -> decisions.of(AgentAccepted.class).size() == 1);
            }
            int before = decisions.all().size();
            String group = log.topics.prefix() + "-controller";
            admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions()).all().get(30, TimeUnit.SECONDS);
            admin.deleteConsumerGroups(List.of(group)).all().get(30, TimeUnit.SECONDS);
            log.append(Script.tick(0, 2, 6_000));
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("the next tick", () -> decisions.of(TimeAdvanced.class).size() == 2);
            }
            decisions.assertChained();
            decisions.all().stream().skip(before).forEach(fact -> assertEquals("clock/0@2", fact.envelope().cause()));
        }
    }

    @Test
    void lostDecisionsAreNoticed() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Admin admin = Admin.create(log.access.client(Map.of()));
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(Script.tick(0, 1, 5_000));
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("a decision", () -> decisions.of(TimeAdvanced.class).size() == 1);
            }
            TopicPartition place = new TopicPartition(log.topics.decisions(), 0);
            admin.deleteRecords(Map.of(place, RecordsToDelete.beforeOffset(-1))).all().get(30, TimeUnit.SECONDS);
            KafkaAccess hasty = new KafkaAccess(log.access.bootstrapServers(), Map.of(), Duration.ofSeconds(4));
            assertStops(log.controller(directory).kafka(hasty).tickMs(60_000).build(), "decisions were lost");
        }
    }

    /** A decision is forged while no controller runs: the next one passes over it, names it and goes on with its own numbers. */
    @Test
    void aForgedDecisionIsNamedAndNothingIsBuiltOnIt() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(Script.tick(0, 1, 5_000));
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("a decision", () -> decisions.of(TimeAdvanced.class).size() == 1);
            }
            TimeAdvanced last = decisions.of(TimeAdvanced.class).getLast();
            Envelope far = new Envelope("clock/0", "controller/0", 0, 900, 7, 5_000, "clock/0@0", null, new AppliedInput(1, 1, 0, 77), null);
            long forged = log.append(log.topics.decisions(), new TimeAdvanced(far, 9_000_000, 900, null));
            log.append(Script.tick(0, 2, 6_000));
            try (ControllerApp app = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("the next tick", () -> decisions.of(TimeAdvanced.class).size() == 3);
                TimeAdvanced next = decisions.of(TimeAdvanced.class).getLast();
                assertEquals(last.envelope().sequence() + 1, next.envelope().sequence(), "the forged one is no part of the chain");
                String health = health(app);
                assertTrue(health.contains("DEGRADED") || health.contains("degraded"), health);
                assertTrue(health.contains("from offset " + forged + " to " + forged) && health.contains("audit verify"), health);
            }
        }
    }

    /**
     * While no controller runs, others append: a far number and far more copies of what was decided than are read at once, among them of an agent
     * that says nothing any more, and bytes that are no record at all. The controller goes on with its own numbers, now and after each restart.
     */
    @Test
    void whateverComesAfterTheLastDecisionTheControllerGoesOn() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(new FakeAgent("a", "1").registering());
            log.append(Script.tick(0, 1, 5_000));
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("a decision", () -> decisions.of(TimeAdvanced.class).size() == 1);
            }
            AgentAccepted silent = decisions.of(AgentAccepted.class).getFirst();
            TimeAdvanced last = decisions.of(TimeAdvanced.class).getLast();
            Envelope far = new Envelope("clock/0", "controller/0", 0, 900, 7, 5_000, "clock/0@0", null, new AppliedInput(1, 1, 0, 77), null);
            long forged = log.append(log.topics.decisions(), new TimeAdvanced(far, 9_000_000, 900, null));
            for (int i = 0; i < 100; i++) {
                log.append(log.topics.decisions(), silent);
            }
            for (int tick = 2; tick <= 200; tick++) {
                log.appendLater(Script.tick(0, tick, 5_000 + tick));
            }
            try (ControllerApp app = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("all is decided", () -> decisions.of(TimeAdvanced.class).size() == 201);
                assertTrue(health(app).contains("101 records of " + log.topics.decisions() + "-0"), health(app));
                assertTrue(health(app).contains("from offset " + forged + " to " + (forged + 100)), health(app));
            }
            List<Long> own = decisions.of(TimeAdvanced.class).stream()
                    .map(time -> time.envelope().sequence()).filter(number -> number < 900).toList();
            assertEquals(own.stream().sorted().distinct().toList(), own, "each number once");
            assertTrue(own.getLast() > last.envelope().sequence(), own.toString());
            log.append(log.topics.decisions(), silent); // and at the very end, after its chain is long out of sight
            log.append(log.topics.decisions(), 0, new byte[] {1}, new byte[] {9, 9, 9});
            log.append(Script.tick(0, 201, 6_000));
            try (ControllerApp app = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("the next tick", () -> health(app).contains("2 records of ") && app.state().equals("RUNNING"));
            }
        }
    }

    /** A record with the next number after the last decision of the state may be of a controller, and the state may have lost it. */
    @Test
    void theNextDecisionOfAnotherIsNotPassedOver() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(Script.tick(0, 1, 5_000));
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("a decision", () -> decisions.of(TimeAdvanced.class).size() == 1);
            }
            Envelope first = new Envelope("node/z", "controller/0", 0, 1, 0, 5_000, "clock/0@0", null, null, null);
            long at = log.append(log.topics.decisions(), new TimeAdvanced(first, 5_000, 1, null));
            String message = end(log.controller(directory).tickMs(60_000).build(), ControllerException.StateLost.class);
            assertTrue(message.contains("-0@" + at + " is decision 1"), message);
        }
    }

    @Test
    void foreignDecisionsAreNotNamedOnceThePartitionIsDecidedElsewhere() {
        Map<Integer, String> named = new TreeMap<>(Map.of(0, "forged"));
        KafkaAccess nowhere = new KafkaAccess("localhost:1", Map.of(), Duration.ofMillis(200));
        try (LogOwner owner = new LogOwner(nowhere, Topics.DEFAULT, new Codec(Schemas.bundled()), 1, "c", named::put)) {
            owner.ended(0);
        }
        assertEquals(Map.of(0, ""), named);
    }

    private static String health(ControllerApp app) {
        try (HttpClient http = HttpClient.newHttpClient()) {
            URI health = URI.create("http://127.0.0.1:" + app.httpPort() + "/health");
            return http.send(HttpRequest.newBuilder(health).build(), HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The topic of events is deleted and made again: empty, and with as many other events. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void lostEventsAreNoticed(boolean others) throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Admin admin = Admin.create(log.access.client(Map.of()));
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            log.append(new FakeAgent("a", "1").registering());
            // More decisions without a checksum than are looked at in the first step.
            for (int tick = 1; tick <= 80; tick++) {
                log.appendLater(Script.tick(0, tick, 5_000 + tick));
            }
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(60_000).build())) {
                TestLog.await("all is decided", () -> decisions.of(TimeAdvanced.class).size() == 80);
            }
            admin.deleteTopics(List.of(log.topics.events())).all().get(30, TimeUnit.SECONDS);
            TestLog.await("the topic is gone", () -> !topics(admin).contains(log.topics.events()));
            try (TopicAdmin topics = new TopicAdmin(log.access)) {
                topics.create(log.topics, 1, 1);
            }
            for (int i = 0; others && i <= 80; i++) {
                log.append(new FakeAgent("a", "2").registering());
            }
            String message = end(log.controller(directory).tickMs(60_000).build(), ControllerException.EventsLost.class);
            assertTrue(message.contains(others ? "another record" : "ends at 0") && message.contains("--topic-prefix"), message);
            assertEquals(1, decisions.of(AgentAccepted.class).size());
        }
    }

    private static Set<String> topics(Admin admin) {
        try {
            return admin.listTopics().names().get(30, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Streams gives a failure of an initialisation no second try: the check waits by itself. */
    @Test
    void theCheckWaitsForABrokerUntilItIsClosed() throws Exception {
        KafkaAccess nowhere = new KafkaAccess("localhost:1", Map.of(), Duration.ofMillis(200));
        SequenceStamper state = new SequenceStamper(new StoreBytes(Stores.inMemoryKeyValueStore("rows").get()));
        LogOwner owner = new LogOwner(nowhere, Topics.DEFAULT, new Codec(Schemas.bundled()), 1, "c", (_, _) -> {});
        CompletableFuture<Void> check = CompletableFuture.runAsync(() -> owner.check(0, state), Thread.ofVirtual()::start);
        assertThrows(TimeoutException.class, () -> check.get(2, TimeUnit.SECONDS));
        owner.close();
        Throwable end = assertThrows(ExecutionException.class, () -> check.get(60, TimeUnit.SECONDS)).getCause();
        assertInstanceOf(ControllerException.Closing.class, end);
    }

    @Test
    void aRegistryThatDoesNotAnswerIsNamed() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                RegistryClient silent = new RegistryClient(RegistryConfig.of("http://127.0.0.1:1"))) {
            Decisions decisions = new Decisions(reader);
            try (ControllerApp _ = ControllerApp.start(log.controller(directory).tickMs(50).build())) {
                TestLog.await("the first decision", () -> !decisions.of(PartitionOpened.class).isEmpty());
            }
            LogOwner owner = new LogOwner(log.access, log.topics, new Codec(silent), 1, log.topics.prefix() + "-controller", (_, _) -> {});
            String message = String.valueOf(assertThrows(ControllerException.RegistryUnreachable.class, owner::isOurs).getMessage());
            assertTrue(message.contains("--registry-url"), message);
        }
    }

    private static void assertStops(ControllerConfig config, String why) throws Exception {
        String message = end(config, ControllerException.StateLost.class);
        assertTrue(message.contains(why), message);
    }

    /** How a controller ends by itself. */
    private static String end(ControllerConfig config, Class<? extends ControllerException> how) throws Exception {
        try (LoggedLines lines = new LoggedLines(ControllerApp.class);
                ControllerApp app = ControllerApp.start(config)) {
            Throwable end = app.ended().get(60, TimeUnit.SECONDS).orElseThrow();
            TestLog.await("/health names it until the process ends", () -> health(app).contains("\"part\":\"streams\",\"level\":\"FAILED\""));
            String message = String.valueOf(assertInstanceOf(how, end).getMessage());
            assertEquals(1, lines.with("the controller stops: " + message), lines::toString);
            return message;
        }
    }
}
