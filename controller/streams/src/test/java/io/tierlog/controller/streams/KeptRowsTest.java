/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.NodeSeen;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rows that a task keeps between inputs go with its transaction. A row that outlived an abort would show: the heartbeats that are decided again would
 * be refused as repeats, and the numbers of the decisions would have a gap.
 */
@Tag("slow")
class KeptRowsTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    /** Long transactions, so that most of what is aborted is kept only; short sessions, so that another instance takes over soon. */
    private static final StreamsTuning TUNING = new StreamsTuning(2_000, 10_000, 6_000, 300_000, 0, 0, 64L << 20, 1, 5, 200);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path state;

    /** Another producer takes the transactional id: the open transaction is aborted, the instance is a zombie until it comes back with new tasks. */
    @Test
    void anAbortedTransactionLeavesNothingInTheSameProcess() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                ControllerApp app = ControllerApp.start(config(log, "1"))) {
            Decisions decisions = new Decisions(reader);
            FakeAgent agent = registered(log, decisions);
            int beats = 0;
            for (int fenced = 1; fenced <= 3; fenced++) {
                int before = beats;
                TestLog.await("heartbeats " + fenced, () -> decisions.of(NodeSeen.class).size() >= before);
                // What was decided and aborted counts too.
                double start = seen(app);
                for (int i = 0; i < 200; i++, beats++) {
                    log.append(agent.heartbeat());
                }
                // Behind the heartbeats in the same transaction, and not committed yet.
                TestLog.await("the decisions " + fenced, () -> seen(app) >= start + 200);
                fence(log);
                for (int i = 0; i < 50; i++, beats++) {
                    log.append(agent.heartbeat());
                }
            }
            requireEachOnce(decisions, beats);
            assertEquals("RUNNING", app.state());
        }
    }

    /** A second instance takes a partition and gives it back: what the first one kept of it is not used again. */
    @Test
    void aTaskThatWentAndCameBackReadsTheStore() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                ControllerApp first = ControllerApp.start(config(log, "1"))) {
            Decisions decisions = new Decisions(reader);
            Beats beats = new Beats(log, List.of(registered(log, decisions, "a"), registered(log, decisions, "b"), registered(log, decisions, "c"),
                    registered(log, decisions, "d")));
            beats.send(100);
            try (ControllerApp second = ControllerApp.start(config(log, "2"))) {
                TestLog.await("the second instance to decide", Duration.ofMinutes(2), () -> {
                    beats.send(1);
                    return seen(second) > 100;
                });
            }
            double before = seen(first);
            int from = beats.sent;
            TestLog.await("the first instance to decide all", Duration.ofMinutes(2), () -> {
                beats.send(1);
                return seen(first) - before > (beats.sent - from) * 0.9 && beats.sent - from > 400;
            });
            requireEachOnce(decisions, beats.sent);
        }
    }

    private ControllerConfig config(TestLog log, String instance) {
        return log.controller(state.resolve(instance)).instanceId(instance).streams(TUNING).build();
    }

    /** Heartbeats of some agents in turn. */
    private static final class Beats {
        private final TestLog log;
        private final List<FakeAgent> agents;
        private int sent;

        Beats(TestLog log, List<FakeAgent> agents) {
            this.log = log;
            this.agents = agents;
        }

        void send(int rounds) {
            for (int i = 0; i < rounds; i++) {
                for (FakeAgent agent : agents) {
                    log.append(agent.heartbeat());
                    sent++;
                }
            }
        }
    }

    private static void requireEachOnce(Decisions decisions, int beats) {
        TestLog.await("every heartbeat", Duration.ofMinutes(2), () -> decisions.of(NodeSeen.class).size() >= beats);
        assertEquals(List.of(), decisions.of(InputRefused.class).stream().filter(fact -> !fact.input().equals("Tick")).toList());
        assertEquals(beats, decisions.of(NodeSeen.class).size());
        decisions.assertChained();
    }

    /** Heartbeats that an instance has decided, committed or not. */
    private static double seen(ControllerApp app) {
        return ControllerProcess.metric(app.httpPort(), "tierlog_facts_total{type=\"NodeSeen\"}");
    }

    private static void fence(TestLog log) throws Exception {
        try (Admin admin = Admin.create(log.access.client(Map.of()))) {
            List<String> ids = admin.listTransactions().all().get().stream().map(TransactionListing::transactionalId)
                    .filter(id -> id.startsWith(log.topics.prefix() + "-controller-")).toList();
            assertEquals(1, ids.size(), ids.toString());
            try (Producer<byte[], byte[]> other = new KafkaProducer<>(log.access.client(Map.of("transactional.id", ids.getFirst())),
                    new ByteArraySerializer(), new ByteArraySerializer())) {
                other.initTransactions();
            }
        }
    }

    private static FakeAgent registered(TestLog log, Decisions decisions) {
        return registered(log, decisions, "a");
    }

    private static FakeAgent registered(TestLog log, Decisions decisions, String node) {
        FakeAgent agent = new FakeAgent(node, "p1");
        log.append(agent.registering());
        TestLog.await("the registration of " + node,
                () -> decisions.of(AgentAccepted.class).stream().anyMatch(accepted -> accepted.node().equals(node)));
        agent.accepted(1);
        return agent;
    }
}
