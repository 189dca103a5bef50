/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.TopicAdmin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A topic that is deleted and made again, as health shows it. */
class LogWatchTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @Test
    void aMissingTopicIsNamedAtHealthUntilItIsThereAgain() throws Exception {
        Health health = new Health();
        health.streams(KafkaStreams.State.RUNNING);
        List<Throwable> failures = new ArrayList<>();
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                TopicAdmin topics = new TopicAdmin(log.access);
                Admin admin = Admin.create(log.access.client(Map.of()))) {
            LogOwner owner = new LogOwner(log.access, log.topics, log.codec, 2, "c");
            try (LogWatch watch = new LogWatch(log.access, log.topics, owner, health, failures::add, 50)) {
                admin.deleteTopics(List.of(log.topics.commands())).all().get(30, TimeUnit.SECONDS);
                watch.start();
                TestLog.await("the finding", () -> health.state() == Health.State.LOG_INCOMPLETE);
                assertTrue(health.detail().contains(log.topics.commands()), health.detail());
                assertFalse(health.report("i").working());
                topics.create(log.topics, 2, 1);
                TestLog.await("its end", () -> health.state() == Health.State.RUNNING);
            }
        }
        assertEquals(List.of(), failures);
    }
}
