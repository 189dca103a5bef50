/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.TimeAdvanced;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Controllers that must not decide a log, on a real broker: each stops before its first decision. */
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
            LogOwner late = new LogOwner(log.access, log.topics, log.codec, 1, "other");
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
            assertStops(log.controller(directory).tickMs(60_000).build(), "decisions were lost");
        }
    }

    private static void assertStops(ControllerConfig config, String why) throws Exception {
        try (ControllerApp app = ControllerApp.start(config)) {
            Optional<Throwable> end = app.ended().get(60, TimeUnit.SECONDS);
            String message = end.map(Throwable::getMessage).orElse("closed");
            assertTrue(end.orElseThrow() instanceof ControllerException.StateLost && message.contains(why), message);
        }
    }
}
